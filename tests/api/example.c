/* How a C program runs a pipeline; and a test: it exits with 1 where a result is not the one that
 * follows from the operators' definitions.
 *
 *   cc example.c $(pkg-config --cflags --libs impipe) -o example
 */
#include <stdio.h>
#include <string.h>

#include "impipe.h"

static int failures = 0;

static void expect(int is_true, const char *what) {
  if (is_true) return;
  printf("not so: %s\n", what);
  failures++;
}

/* Says what went wrong; the text is the library's. */
static void say(int status, char *message) {
  printf("%d: %s\n", status, message != NULL ? message : "");
  impipe_text_free(message);
  failures++;
}

/* Three gray pixels in every second place of a row, backwards. */
static void complement(impipe_session *session) {
  impipe_pipeline *pipeline;
  impipe_result *result;
  char *message;
  unsigned char pixels[6] = {30, 0, 20, 0, 10, 0}, copy[3] = {0, 0, 0};
  impipe_image image = {&pixels[4], IMPIPE_UINT8, 0, 3, 1, 1, 1, -2, 0, 0, 0, 0, NULL, 0, 0}, out;
  int status = impipe_pipeline_new(session, "mean2 as m | imcomplement", &pipeline, &message);
  if (status != IMPIPE_OK) {
    say(status, message);
    return;
  }
  status = impipe_run(pipeline, &image, NULL, 0, NULL, &result, &message);
  if (status != IMPIPE_OK) {
    say(status, message);
  } else {
    impipe_measurement mean;
    int64_t step;
    expect(impipe_result_image_count(result) == 1, "one image");
    expect(impipe_result_image(result, 0, &out) == IMPIPE_OK, "it is described");
    expect(out.type == IMPIPE_UINT8 && out.width == 3 && out.height == 1 && out.channels == 1 &&
               out.white == 255 && out.step_x == 1,
           "its type and size are those of the input");
    out.data = copy;
    expect(impipe_result_copy(result, 0, &out, &message) == IMPIPE_OK, "it is copied");
    expect(copy[0] == 245 && copy[1] == 235 && copy[2] == 225, "255 - 10, 20, 30");
    expect(memcmp(impipe_result_plane(result, 0, 0, &step), copy, 3) == 0, "so is its plane");
    out.width = 2;
    expect(impipe_result_copy(result, 0, &out, NULL) == IMPIPE_USAGE, "another size is refused");
    expect(impipe_result_measurement(result, 0, &mean) == IMPIPE_OK, "there is a measurement");
    expect(strcmp(mean.name, "m") == 0 && mean.numbers[0] == 20 && !mean.is_table, "m is 20");
    expect(impipe_result_measurement(result, 1, &mean) != IMPIPE_OK, "and no other");
    impipe_result_free(result);
  }
  impipe_pipeline_free(pipeline);
}

/* A result for other libraries, which may outlive all else. The beginning of DLPack's structure: */
struct tensor {
  const unsigned char *data;
  int32_t device[2], axes;
  uint8_t kind, bits;
  uint16_t lanes;
  const int64_t *shape, *steps;
  uint64_t offset;
  void *context;
  void (*deleter)(struct tensor *);
};

static void hand_over(impipe_session *session) {
  impipe_pipeline *pipeline;
  impipe_result *result;
  impipe_array *array;
  void *made;
  unsigned char pixels[6] = {1, 2, 3, 4, 5, 6};
  const int64_t index = 0, shape[2] = {2, 3};
  int64_t steps[2];
  impipe_image image = {pixels, IMPIPE_UINT8, 0, 3, 2, 1, 1, 1, 3, 0, 0, 0, NULL, 0, 0}, out;
  struct tensor *tensor;
  if (impipe_pipeline_new(session, "imcomplement", &pipeline, NULL) != IMPIPE_OK) return;
  expect(impipe_run_on_device(pipeline, &image, NULL, 0, NULL, &result, NULL) == IMPIPE_OK, "a run");
  expect(impipe_result_array(result, &index, 1, &array, NULL) == IMPIPE_OK, "its array");
  expect(impipe_result_array(result, &shape[1], 1, (impipe_array **)&made, NULL) == IMPIPE_USAGE,
         "there is no image 3");
  impipe_result_free(result);
  impipe_pipeline_free(pipeline);
  expect(impipe_array_describe(array, &out) == IMPIPE_OK && out.width == 3 && out.on_device == 0 &&
             strcmp(impipe_array_device(array), "cpu") == 0,
         "it is in the host's memory");
  steps[0] = out.step_y;
  steps[1] = out.step_x;
  expect(impipe_array_tensor(array, 2, shape, steps, 0, &made, NULL) == IMPIPE_OK, "a tensor");
  impipe_array_free(array);
  tensor = made;
  expect(tensor->axes == 2 && tensor->device[0] == 1 && tensor->bits == 8 && tensor->kind == 1 &&
             tensor->shape[0] == 2 && tensor->data[tensor->steps[0] + 2 * tensor->steps[1]] == 249,
         "255 - 6 in its last corner");
  tensor->deleter(tensor);
}

static void expect_error(int status, int wanted, char *message, const char *text) {
  expect(status == wanted, text);
  expect(message != NULL && strcmp(message, text) == 0, message != NULL ? message : "no message");
  impipe_text_free(message);
}

static void errors(impipe_session *session) {
  impipe_pipeline *pipeline;
  impipe_result *result = NULL;
  impipe_session *other;
  impipe_session_options options = {"cuda:x", 0, 0, 0, NULL};
  impipe_cancel *cancel = impipe_cancel_new();
  float pixel = 1;
  impipe_image image = {&pixel, IMPIPE_SINGLE, 0, 1, 1, 1, 1, 4, 4, 4, 4, 0, NULL, 0, 0};
  char *message;
  int status = impipe_pipeline_new(session, "imgausfilt 2", &pipeline, &message);
  expect_error(status, IMPIPE_USAGE, message,
               "pipeline:1:1: unknown operator 'imgausfilt'; did you mean 'imgaussfilt'?\n"
               "  imgausfilt 2\n"
               "  ^^^^^^^^^^");
  expect(impipe_session_new(&options, &other, NULL) == IMPIPE_NO_DEVICE, "there is no cuda:x");
  if (impipe_pipeline_new(session, "imgaussfilt 1", &pipeline, NULL) != IMPIPE_OK) return;
  status = impipe_run(pipeline, NULL, NULL, 0, NULL, &result, &message);
  expect_error(status, IMPIPE_USAGE, message, "the pipeline needs an image");
  image.width = 0;
  status = impipe_run(pipeline, &image, NULL, 0, NULL, &result, &message);
  expect_error(status, IMPIPE_FAILED, message,
               "the image is 0x1 x 1, and has 1 pages: there is nothing in it");
  image.width = 1;
  impipe_cancel_now(cancel);
  status = impipe_run(pipeline, &image, NULL, 0, cancel, &result, &message);
  expect_error(status, IMPIPE_CANCELLED, message, "cancelled");
  expect(result == NULL, "there is no result of a run that failed");
  impipe_cancel_free(cancel);
  impipe_pipeline_free(pipeline);
}

int main(void) {
  impipe_session *session;
  char *message;
  const int status = impipe_session_new(NULL, &session, &message);
  if (status != IMPIPE_OK) {
    say(status, message);
    return 1;
  }
  expect(strcmp(impipe_session_devices(session), "cpu") == 0, "the default is the CPU");
  complement(session);
  hand_over(session);
  errors(session);
  impipe_session_free(session);
  return failures > 0;
}
