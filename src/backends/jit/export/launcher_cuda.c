// Launches the kernels of a pipeline on CUDA: the driver interface and NVRTC (-lcuda -lnvrtc). Copy
// this folder into a program, make a context current, then
//
//   struct pipeline *p = pipeline_open("FOLDER_OF_THESE_FILES", why, sizeof why);
//   pipeline_enqueue(p, stream, inputs, outputs);    as often as there are images
//   pipeline_close(p);
//
// inputs and outputs: device memory for each row of pipeline_inputs and pipeline_outputs
// (pipeline.h), of channels * plane_bytes bytes, aligned as cuMemAlloc does. Work on them is
// enqueued in order; nothing is waited for. One thread and one stream at a time use a pipeline.
#include "pipeline.h"

#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { of_own, of_input, of_output, max_buffers = 24 };

struct place {
  int kind, index;
};
struct memory {
  size_t bytes;
  const void *contents;
  size_t content_bytes;
  int zeroed;
};
// Zeros in `bytes` bytes of a buffer (clear), or the launch of a kernel with `bytes` of dynamic
// shared memory.
struct action {
  int clear, source;
  const char *kernel;
  unsigned groups[3], group[3];
  size_t bytes;
  const void *parameters;
  size_t parameter_bytes;
  int count;
  struct place buffers[max_buffers];
};

#include "pipeline_tables.h"

enum { action_count = sizeof actions / sizeof actions[0], option_count = sizeof options / sizeof options[0] };

struct pipeline {
  CUmodule modules[source_count];
  CUfunction kernels[action_count];
  CUdeviceptr memories[memory_count + 1];
};

static char *text_of(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  const long bytes = ftell(file);
  rewind(file);
  char *text = calloc(1, (size_t)bytes + 1);
  if (text != NULL && fread(text, 1, (size_t)bytes, file) != (size_t)bytes) {
    free(text);
    text = NULL;
  }
  fclose(file);
  return text;
}

static int compile(CUmodule *module, const char *folder, const char *name, const char *arch,
                   char *why, size_t why_bytes) {
  char *text = text_of(folder, name);
  if (text == NULL) {
    snprintf(why, why_bytes, "%s/%s can't be read", folder, name);
    return 0;
  }
  const char *words[option_count + 1];
  memcpy(words, options, sizeof options);
  words[option_count] = arch;
  nvrtcProgram program = NULL;
  size_t bytes = 0;
  char *code = NULL;
  int good = nvrtcCreateProgram(&program, text, name, 0, NULL, NULL) == NVRTC_SUCCESS;
  if (good && nvrtcCompileProgram(program, option_count + 1, words) != NVRTC_SUCCESS) {
    char *log = nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS ? calloc(1, bytes + 1) : NULL;
    if (log != NULL) nvrtcGetProgramLog(program, log);
    snprintf(why, why_bytes, "%s does not compile\n%s", name, log == NULL ? "" : log);
    free(log);
    good = 0;
  } else if (good) {
    good = nvrtcGetCUBINSize(program, &bytes) == NVRTC_SUCCESS && (code = malloc(bytes)) != NULL &&
           nvrtcGetCUBIN(program, code) == NVRTC_SUCCESS &&
           cuModuleLoadData(module, code) == CUDA_SUCCESS;
    if (!good) snprintf(why, why_bytes, "%s can't be loaded", name);
  }
  if (program != NULL) nvrtcDestroyProgram(&program);
  free(code);
  free(text);
  return good;
}

static int build(struct pipeline *p, const char *folder, char *why, size_t why_bytes) {
  CUdevice device = 0;
  int major = 0, minor = 0;
  char arch[32];
  cuCtxGetDevice(&device);
  cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  snprintf(arch, sizeof arch, "-arch=sm_%d%d", major, minor);
  for (int i = 0; i < source_count; ++i) {
    if (!compile(&p->modules[i], folder, sources[i], arch, why, why_bytes)) return 0;
  }
  CUresult code = CUDA_SUCCESS;
  for (int i = 0; i < action_count && code == CUDA_SUCCESS; ++i) {
    const struct action *a = &actions[i];
    if (a->clear) continue;
    code = cuModuleGetFunction(&p->kernels[i], p->modules[a->source], a->kernel);
    if (code == CUDA_SUCCESS && a->bytes > 0) {
      code = cuFuncSetAttribute(p->kernels[i], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                (int)a->bytes);
    }
  }
  for (int i = 0; i < memory_count && code == CUDA_SUCCESS; ++i) {
    const struct memory *m = &memories[i];
    code = cuMemAlloc(&p->memories[i], m->bytes);
    if (code == CUDA_SUCCESS && m->zeroed) code = cuMemsetD8(p->memories[i], 0, m->bytes);
    if (code == CUDA_SUCCESS && m->contents != NULL) {
      code = cuMemcpyHtoD(p->memories[i], m->contents, m->content_bytes);
    }
  }
  if (code == CUDA_SUCCESS) code = cuCtxSynchronize();
  if (code != CUDA_SUCCESS) snprintf(why, why_bytes, "CUDA's error %d", (int)code);
  return code == CUDA_SUCCESS;
}

struct pipeline *pipeline_open(const char *folder, char *why, size_t why_bytes) {
  struct pipeline *p = calloc(1, sizeof *p);
  if (p == NULL) {
    snprintf(why, why_bytes, "there is not enough memory");
    return NULL;
  }
  if (build(p, folder, why, why_bytes)) return p;
  pipeline_close(p);
  return NULL;
}

CUresult pipeline_enqueue(struct pipeline *p, CUstream stream, const CUdeviceptr *inputs,
                          const CUdeviceptr *outputs) {
  for (int i = 0; i < action_count; ++i) {
    const struct action *a = &actions[i];
    CUdeviceptr buffers[max_buffers];
    void *arguments[max_buffers + 1];
    for (int b = 0; b < a->count + a->clear; ++b) {
      const struct place at = a->buffers[b];
      buffers[b] = at.kind == of_own     ? p->memories[at.index]
                   : at.kind == of_input ? inputs[at.index]
                                         : outputs[at.index];
      arguments[b] = &buffers[b];
    }
    arguments[a->count] = (void *)a->parameters;
    const CUresult code =
        a->clear ? cuMemsetD8Async(buffers[0], 0, a->bytes, stream)
                 : cuLaunchKernel(p->kernels[i], a->groups[0], a->groups[1], a->groups[2],
                                  a->group[0], a->group[1], a->group[2], (unsigned)a->bytes, stream,
                                  arguments, NULL);
    if (code != CUDA_SUCCESS) return code;
  }
  return CUDA_SUCCESS;
}

void pipeline_close(struct pipeline *p) {
  if (p == NULL) return;
  for (int i = 0; i < source_count; ++i) {
    if (p->modules[i] != NULL) cuModuleUnload(p->modules[i]);
  }
  for (int i = 0; i < memory_count; ++i) {
    if (p->memories[i] != 0) cuMemFree(p->memories[i]);
  }
  free(p);
}
