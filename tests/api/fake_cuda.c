/* A libcuda.so.1 and a libnvrtc.so without a card, for tests/cli/test_device_arrays.py: memory of the
 * device is the host's, copies are done at once, and of all kernels only `gather` does its work.
 * Calls that a test asks for are written to the file FAKE_CUDA_LOG.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t pointer;

static void say(const char *format, ...) {
  const char *const path = getenv("FAKE_CUDA_LOG");
  FILE *const file = path != NULL ? fopen(path, "a") : NULL;
  if (file == NULL) return;
  va_list arguments;
  va_start(arguments, format);
  vfprintf(file, format, arguments);
  va_end(arguments);
  fclose(file);
}

/* What has nothing to do. */
#define NOTHING(name) \
  int name(void) { return 0; }
NOTHING(cuInit)
NOTHING(cuDevicePrimaryCtxRelease_v2)
NOTHING(cuModuleUnload)
NOTHING(cuFuncSetAttribute)
NOTHING(cuMemHostRegister_v2)
NOTHING(cuMemHostUnregister)
NOTHING(cuStreamDestroy_v2)
NOTHING(cuEventDestroy_v2)
NOTHING(cuEventSynchronize)
NOTHING(cuEventQuery)
NOTHING(cuStreamBeginCapture_v2)
NOTHING(cuStreamEndCapture)
NOTHING(cuGraphInstantiateWithFlags)
NOTHING(cuGraphUpload)
NOTHING(cuGraphLaunch)
NOTHING(cuGraphExecDestroy)
NOTHING(cuGraphDestroy)
NOTHING(nvrtcGetNumSupportedArchs)
NOTHING(nvrtcGetSupportedArchs)
NOTHING(nvrtcCreateProgram)
NOTHING(nvrtcDestroyProgram)
NOTHING(nvrtcCompileProgram)
NOTHING(nvrtcGetProgramLogSize)
NOTHING(nvrtcGetProgramLog)

int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0, 0; }
int nvrtcGetCUBINSize(void *program, size_t *bytes) { return (void)program, *bytes = 8, 0; }
int nvrtcGetCUBIN(void *program, char *to) { return (void)program, memset(to, 1, 8), 0; }
int nvrtcGetPTXSize(void *program, size_t *bytes) { return nvrtcGetCUBINSize(program, bytes); }
int nvrtcGetPTX(void *program, char *to) { return nvrtcGetCUBIN(program, to); }
int cuGetErrorString(int code, const char **text) { return (void)code, *text = "an error", 0; }
int cuDeviceGetCount(int *count) { return *count = 2, 0; }
int cuDeviceGet(int *device, int index) { return *device = index, 0; }
int cuDeviceGetName(char *to, int bytes, int device) {
  snprintf(to, (size_t)bytes, "fake card %d", device);
  return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) { return (void)device, *bytes = 1u << 30, 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 10 ? 32 : attribute == 16 ? 132 : 49152;
  return 0;
}

/* Contexts, of which a thread has one. */
static _Thread_local void *current = NULL;
int cuDevicePrimaryCtxRetain(void **context, int device) {
  static char contexts[2];
  return *context = &contexts[device], 0;
}
int cuCtxSetCurrent(void *context) { return current = context, 0; }
int cuCtxGetCurrent(void **context) { return *context = current, 0; }
int cuStreamSynchronize(void) { return say("work is waited for\n"), 0; }
int cuCtxSynchronize(void) { return say("context is waited for\n"), 0; }

/* What is allocated; blocks of no bytes are free. */
static struct {
  pointer memory;
  size_t bytes;
} blocks[1 << 16];
static pthread_mutex_t of_blocks = PTHREAD_MUTEX_INITIALIZER;
enum { block_count = sizeof blocks / sizeof blocks[0] };

/* For on_fake_card.py: whether it is memory of the card. */
int fake_owns(pointer memory) {
  int owns = 0;
  pthread_mutex_lock(&of_blocks);
  for (int i = 0; i < block_count; ++i) owns |= memory - blocks[i].memory < blocks[i].bytes;
  pthread_mutex_unlock(&of_blocks);
  return owns;
}
int cuMemAlloc_v2(pointer *memory, size_t bytes) {
  void *made = NULL;
  int place = 0;
  if (posix_memalign(&made, 512, bytes)) return 2;
  memset(made, 0, bytes); /* the host reads results that no kernel has made */
  pthread_mutex_lock(&of_blocks);
  while (place < block_count - 1 && blocks[place].bytes > 0) ++place;
  blocks[place].memory = *memory = (pointer)made;
  blocks[place].bytes = bytes;
  pthread_mutex_unlock(&of_blocks);
  return 0;
}
int cuMemFree_v2(pointer memory) {
  pthread_mutex_lock(&of_blocks);
  for (int i = 0; i < block_count; ++i) {
    if (blocks[i].memory == memory) blocks[i].bytes = 0;
  }
  pthread_mutex_unlock(&of_blocks);
  return free((void *)memory), 0;
}
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  return (void)flags, *memory = malloc(bytes), 0;
}
int cuMemFreeHost(void *memory) { return free(memory), 0; }
int cuMemcpyHtoDAsync_v2(pointer to, const void *from, size_t bytes, void *stream) {
  return (void)stream, memcpy((void *)to, from, bytes), 0;
}
int cuMemcpyDtoHAsync_v2(void *to, pointer from, size_t bytes, void *stream) {
  return (void)stream, memcpy(to, (void *)from, bytes), 0;
}
int cuMemcpyDtoDAsync_v2(pointer to, pointer from, size_t bytes, void *stream) {
  return (void)stream, memcpy((void *)to, (void *)from, bytes), 0;
}
int cuMemsetD8Async(pointer to, unsigned char value, size_t bytes, void *stream) {
  return (void)stream, memset((void *)to, value, bytes), 0;
}
struct end {
  size_t x, y;
  unsigned kind;
  const char *host;
  pointer device;
  void *array;
  size_t pitch;
};
struct copy {
  struct end from, to;
  size_t width, height;
};
static char *start_of(const struct end *end) {
  return end->kind == 1 ? (char *)end->host : (char *)end->device;
}
int cuMemcpy2DAsync_v2(const struct copy *copy, void *stream) {
  if (copy->from.kind == 2 && copy->to.kind == 2) {
    say("copied from %#lx\n", (unsigned long)copy->from.device);
  }
  (void)stream;
  for (size_t y = 0; y < copy->height; ++y) {
    memcpy(start_of(&copy->to) + y * copy->to.pitch, start_of(&copy->from) + y * copy->from.pitch,
           copy->width);
  }
  return 0;
}

int cuStreamCreate(void **stream, unsigned flags) { return (void)flags, *stream = malloc(1), 0; }
int cuEventCreate(void **event, unsigned flags) { return (void)flags, *event = malloc(1), 0; }
int cuEventRecord(void *event, void *stream) {
  if ((pointer)stream < 4096) say("stream %lu is waited for\n", (unsigned long)stream);
  return (void)event, 0;
}
enum { not_ready = 600 };
int cuStreamQuery(void *stream) { return (pointer)stream == 8 ? 0 : not_ready; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  return (void)stream, (void)event, (void)flags, 0;
}
int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  return (void)start, (void)end, *milliseconds = 0.001f, 0;
}

/* A function is its name. */
int cuModuleLoadData(void **module, const void *image) { return (void)image, *module = malloc(1), 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  return (void)module, *function = strdup(name), 0;
}
/* As the comment of gather.cl says. */
struct gather {
  int64_t offset, step_x, step_y, step_channel, stride;
  int32_t width, height, groups_a_row, bytes;
};
int cuLaunchKernel(void *function, unsigned groups, unsigned y, unsigned z, unsigned items, unsigned v,
                   unsigned w, unsigned shared, void *stream, void **parameters, void **extra) {
  (void)y, (void)z, (void)v, (void)w, (void)shared, (void)stream, (void)extra;
  if (strcmp(function, "gather") != 0) return say("launched\n"), 0;
  const char *const from = (const char *)*(pointer *)parameters[0];
  char *const to = (char *)*(pointer *)parameters[1];
  const struct gather *const the = parameters[2];
  for (unsigned group = 0; group < groups; ++group) {
    const int row = (int)group / the->groups_a_row, first = (int)group % the->groups_a_row * (int)items;
    for (int x = first; x < first + (int)items && x < the->width; ++x) {
      memcpy(to + row * the->stride + x * the->bytes,
             from + the->offset + x * the->step_x + row % the->height * the->step_y +
                 row / the->height * the->step_channel,
             (size_t)the->bytes);
    }
  }
  say("gathered from %#lx\n", (unsigned long)from);
  return 0;
}
