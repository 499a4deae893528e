/* libimpipe: pipelines of image operators on images in memory.
 *
 *   impipe_session *session;
 *   impipe_pipeline *pipeline;
 *   impipe_result *result;
 *   char *message;
 *   if (impipe_session_new(NULL, &session, &message)) ...
 *   if (impipe_pipeline_new(session, "imgaussfilt 2 | edge", &pipeline, &message)) ...
 *   if (impipe_run(pipeline, &image, NULL, 0, NULL, &result, &message)) ...
 *
 * A function that can fail returns an impipe_status. When that is not IMPIPE_OK, *message is a text
 * for the user, which impipe_text_free frees; an error in a pipeline's text shows its place in the
 * text. `message` may be NULL. Results are bit for bit those of the program `impipe` on files.
 *
 * Any thread may call any function, several threads the same session or pipeline at the same time;
 * but an object may only be freed when no call uses it any more. The library never ends the process,
 * never writes to stdout or stderr and installs no signal handler. After fork() the child must make
 * sessions of its own: threads are not inherited.
 */
#ifndef IMPIPE_H
#define IMPIPE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum impipe_status {
  IMPIPE_OK = 0,
  IMPIPE_FAILED = 1,    /* this image cannot be processed: its size, its type, its values */
  IMPIPE_USAGE = 2,     /* the pipeline's text, or an argument of a function */
  IMPIPE_NO_DEVICE = 4, /* the device is not known or cannot be used */
  IMPIPE_CANCELLED = 5,
  IMPIPE_OUT_OF_MEMORY = 6,
  IMPIPE_INTERNAL = 7 /* an error of the library itself */
} impipe_status;

typedef enum impipe_type {
  /* The classes that are computed and that results have. */
  IMPIPE_LOGICAL = 0, /* a byte, 0 or 1 */
  IMPIPE_UINT8 = 1,
  IMPIPE_UINT16 = 2,
  IMPIPE_SINGLE = 3,
  /* Inputs may also have these types; they are converted to IMPIPE_SINGLE. */
  IMPIPE_HALF = 4,
  IMPIPE_DOUBLE = 5,
  IMPIPE_INT8 = 6,
  IMPIPE_INT16 = 7,
  IMPIPE_INT32 = 8,
  IMPIPE_INT64 = 9,
  IMPIPE_UINT32 = 10,
  IMPIPE_UINT64 = 11
} impipe_type;

/* Pixels in the caller's memory, in the byte order of the machine. A step is the distance in bytes
 * between neighbours; it may have any value, also negative or 0, and items need no alignment. */
typedef struct impipe_image {
  void *data; /* pixel (0, 0) of the first channel and page */
  int32_t type;
  int32_t alpha; /* 1: the last channel is an alpha, straight, not premultiplied */
  int64_t width, height, channels, pages;
  int64_t step_x, step_y, step_channel, step_page;
  double white; /* of results: the value that displays as white, 0 for numbers such as distances */
  /* The axes that pages lie along, the slowest first, each a letter and its length, as "t3z4", for
   * `project axis=z`; NULL: they have no names. Of results: those that all images of the name lie
   * along, as long as the result is there. */
  const char *page_axes;
  /* Of impipe_run_on_device: 1: `data` is memory of the session's device, an address of CUDA or a
   * buffer object of OpenCL; the type is one of the classes, and pixels are aligned. Read in place
   * where channels are planes behind each other and rows begin at multiples of 128 bytes, each at
   * the first one behind the row before; otherwise copied on the device, which a note says. */
  int32_t on_device;
  /* CUDA: work in this stream is done before the pixels are read; 0: the default stream. */
  uint64_t stream;
} impipe_image;

/* What a pipeline's text names as :NAME. */
typedef struct impipe_operand {
  const char *name;
  impipe_image image;
} impipe_operand;

typedef struct impipe_session_options {
  /* "cpu", "cuda", "cuda:1", "opencl:0", "cuda:0,cuda:1", "all" (every GPU) or "auto": a GPU that
   * computes as the CPU does, else the CPU. NULL: "cpu". */
  const char *device;
  int32_t threads; /* that compute an image; 0: one for each processor that may be used */
  int32_t strict;  /* 1: an implicit rgb2gray is an error */
  int64_t memory;  /* bytes that an image may take at once; 0: half of what the process may use */
  /* For texts that are not trusted: the folders below which @file may read, "DIR,DIR", or "on" or
   * "" for none. NULL: any. */
  const char *sandbox;
} impipe_session_options;

typedef struct impipe_session impipe_session;
typedef struct impipe_pipeline impipe_pipeline;
typedef struct impipe_cancel impipe_cancel;
typedef struct impipe_result impipe_result;

/* Major, minor and patch, as "1.2.3". */
const char *impipe_version(void);
void impipe_text_free(char *text);

/* Memory of images is kept for the next ones, at most what was in use at once; this gives it back. */
void impipe_release_memory(void);

/* Opens devices. options: NULL for the defaults. */
int impipe_session_new(const impipe_session_options *options, impipe_session **session,
                       char **message);
/* Pipelines of the session keep what they need of it. */
void impipe_session_free(impipe_session *session);
/* "cpu", or "cuda:0, cuda:1" */
const char *impipe_session_devices(const impipe_session *session);

/* Parses and checks the text; files that it names (@kernel.txt) are read now. Kernels are kept with
 * the pipeline, so one that is used again should be kept. */
int impipe_pipeline_new(impipe_session *session, const char *text, impipe_pipeline **pipeline,
                        char **message);
void impipe_pipeline_free(impipe_pipeline *pipeline);
/* The names of the operands that impipe_run has to be given; NULL beyond the last. */
const char *impipe_pipeline_operand(const impipe_pipeline *pipeline, int64_t index);
/* 1: the pipeline makes its own image, and impipe_run takes none. */
int impipe_pipeline_has_source(const impipe_pipeline *pipeline);

/* What is fused and what each step reads and writes, as `impipe plan` prints it; *text is freed by
 * impipe_text_free. Only types are read, not pixels. image: NULL for a gray IMPIPE_UINT8. */
int impipe_plan(impipe_pipeline *pipeline, const impipe_image *image,
                const impipe_operand *operands, int64_t operand_count, char **text, char **message);

/* Ends runs from another thread: they return IMPIPE_CANCELLED between two steps. */
impipe_cancel *impipe_cancel_new(void);
void impipe_cancel_now(impipe_cancel *cancel);
void impipe_cancel_free(impipe_cancel *cancel);

/* Runs the pipeline on an image, or on each of its pages, which `project` and the operators on
 * volumes take together. The caller's memory is read during the call only.
 * image: NULL if the pipeline has a source. cancel: may be NULL. */
int impipe_run(impipe_pipeline *pipeline, const impipe_image *image, const impipe_operand *operands,
               int64_t operand_count, const impipe_cancel *cancel, impipe_result **result,
               char **message);
/* As impipe_run, with images that may be in the memory of the session's device, which has to be one
 * device; images of the result stay there, and all work on the device is done when it returns. */
int impipe_run_on_device(impipe_pipeline *pipeline, const impipe_image *image,
                         const impipe_operand *operands, int64_t operand_count,
                         const impipe_cancel *cancel, impipe_result **result, char **message);
void impipe_result_free(impipe_result *result);

/* Images: the pages of the result, none where the pipeline ends in a measurement; then those that
 * `save` would write, which the library does not write. */
int64_t impipe_result_image_count(const impipe_result *result);
/* "" for the result, or the name that the text gives to `save`. */
const char *impipe_result_image_name(const impipe_result *result, int64_t index);
/* Describes an image: data is NULL, the steps are those of an array without gaps, a pixel's
 * channels adjacent. */
int impipe_result_image(const impipe_result *result, int64_t index, impipe_image *image);
/* Copies an image to the caller's memory, of which data, type, size and steps must be set; none
 * that stays on a device. */
int impipe_result_copy(const impipe_result *result, int64_t index, const impipe_image *to,
                       char **message);
/* One channel in the library's memory, as long as the result is there. step_y: bytes between rows.
 */
const void *impipe_result_plane(const impipe_result *result, int64_t index, int64_t channel,
                                int64_t *step_y);

/* Images of a result, of one type and size, as the pages of one array in the memory where they were
 * computed, for other libraries of the process. It may outlive the result and the session. */
typedef struct impipe_array impipe_array;
int impipe_result_array(const impipe_result *result, const int64_t *indices, int64_t count,
                        impipe_array **array, char **message);
/* Waits for all work on the device where the array has become a tensor or was described. */
void impipe_array_free(impipe_array *array);
/* Where its pixels are: data, steps and on_device, as long as the array is there. */
int impipe_array_describe(const impipe_array *array, impipe_image *image);
/* "cuda:0", "cpu" */
const char *impipe_array_device(const impipe_array *array);
/* Copies it to the host's memory, of which data, type, size, pages and steps must be set. */
int impipe_array_copy(const impipe_array *array, const impipe_image *to, char **message);
/* A new DLManagedTensor of DLPack, or a DLManagedTensorVersioned 1.0, whose deleter any thread may
 * call; it keeps the memory, also when the array was freed. shape, steps: of its axes, in items. */
int impipe_array_tensor(const impipe_array *array, int32_t axes, const int64_t *shape,
                        const int64_t *steps, int32_t versioned, void **tensor, char **message);

typedef struct impipe_measurement {
  const char *name;      /* "mean2", or the name that `as` gave */
  int64_t page;          /* from 0; -1: of an image that was made of several pages */
  int64_t channels;      /* numbers: [channels][rows][columns] */
  int64_t rows, columns; /* columns: 1 unless it is a matrix or a table */
  int32_t is_table;      /* a row an object; impipe_result_column names the columns */
  const double *numbers; /* as long as the result is there */
} impipe_measurement;

int64_t impipe_result_measurement_count(const impipe_result *result);
int impipe_result_measurement(const impipe_result *result, int64_t index,
                              impipe_measurement *measurement);
/* The name of a table's column; NULL beyond the last. */
const char *impipe_result_column(const impipe_result *result, int64_t index, int64_t column);

/* What the user should know: an implicit rgb2gray, values that were rounded. NULL beyond the last. */
const char *impipe_result_note(const impipe_result *result, int64_t index);

#ifdef __cplusplus
}
#endif

#endif
