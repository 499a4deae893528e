// Launches the kernels of a pipeline on OpenCL 1.2. Copy this folder into a program, then
//
//   struct pipeline *p = pipeline_open(context, device, "FOLDER_OF_THESE_FILES", why, sizeof why);
//   pipeline_enqueue(p, queue, inputs, outputs);    as often as there are images
//   pipeline_close(p);
//
// inputs and outputs: a buffer for each row of pipeline_inputs and pipeline_outputs (pipeline.h),
// of channels * plane_bytes bytes. Work on them is enqueued in order; nothing is waited for. One
// thread at a time uses a pipeline.
#include "pipeline.h"

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
// Zeros in `bytes` bytes of a buffer (clear), or the launch of a kernel.
struct action {
  int clear, source;
  const char *kernel;
  size_t groups[3], group[3], bytes;
  const void *parameters;
  size_t parameter_bytes;
  int count;
  struct place buffers[max_buffers];
};

#include "pipeline_tables.h"

enum { action_count = sizeof actions / sizeof actions[0] };

struct pipeline {
  cl_program programs[source_count];
  cl_kernel kernels[action_count];
  cl_mem memories[memory_count + 1];
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

static cl_int build(struct pipeline *p, cl_context context, cl_device_id device, const char *folder,
                    char *why, size_t why_bytes) {
  cl_int code = CL_SUCCESS;
  for (int i = 0; i < source_count; ++i) {
    char *text = text_of(folder, sources[i]);
    if (text == NULL) {
      snprintf(why, why_bytes, "%s/%s can't be read", folder, sources[i]);
      return CL_INVALID_VALUE;
    }
    p->programs[i] =
        clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &code);
    free(text);
    if (code == CL_SUCCESS) code = clBuildProgram(p->programs[i], 1, &device, options, NULL, NULL);
    if (code != CL_SUCCESS) {
      const int begun = snprintf(why, why_bytes, "%s: error %d\n", sources[i], code);
      if (p->programs[i] != NULL && (size_t)begun < why_bytes) {
        clGetProgramBuildInfo(p->programs[i], device, CL_PROGRAM_BUILD_LOG,
                              why_bytes - (size_t)begun, why + begun, NULL);
      }
      return code;
    }
  }
  for (int i = 0; i < action_count && code == CL_SUCCESS; ++i) {
    if (actions[i].clear) continue;
    p->kernels[i] = clCreateKernel(p->programs[actions[i].source], actions[i].kernel, &code);
  }
  const cl_command_queue queue =
      code == CL_SUCCESS ? clCreateCommandQueue(context, device, 0, &code) : NULL;
  for (int i = 0; i < memory_count && code == CL_SUCCESS; ++i) {
    const struct memory *m = &memories[i];
    p->memories[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, m->bytes, NULL, &code);
    if (code == CL_SUCCESS && m->zeroed) {
      code = clEnqueueFillBuffer(queue, p->memories[i], "", 1, 0, m->bytes, 0, NULL, NULL);
    }
    if (code == CL_SUCCESS && m->contents != NULL) {
      code = clEnqueueWriteBuffer(queue, p->memories[i], CL_TRUE, 0, m->content_bytes, m->contents,
                                  0, NULL, NULL);
    }
  }
  if (queue != NULL) {
    if (code == CL_SUCCESS) code = clFinish(queue);
    clReleaseCommandQueue(queue);
  }
  if (code != CL_SUCCESS) snprintf(why, why_bytes, "OpenCL's error %d", code);
  return code;
}

struct pipeline *pipeline_open(cl_context context, cl_device_id device, const char *folder,
                               char *why, size_t why_bytes) {
  struct pipeline *p = calloc(1, sizeof *p);
  if (p == NULL) {
    snprintf(why, why_bytes, "there is not enough memory");
    return NULL;
  }
  if (build(p, context, device, folder, why, why_bytes) == CL_SUCCESS) return p;
  pipeline_close(p);
  return NULL;
}

cl_int pipeline_enqueue(struct pipeline *p, cl_command_queue queue, const cl_mem *inputs,
                        const cl_mem *outputs) {
  for (int i = 0; i < action_count; ++i) {
    const struct action *a = &actions[i];
    cl_mem buffers[max_buffers];
    cl_int code = CL_SUCCESS;
    for (int b = 0; b < a->count + a->clear; ++b) {
      const struct place at = a->buffers[b];
      buffers[b] = at.kind == of_own     ? p->memories[at.index]
                   : at.kind == of_input ? inputs[at.index]
                                         : outputs[at.index];
    }
    if (a->clear) {
      code = clEnqueueFillBuffer(queue, buffers[0], "", 1, 0, a->bytes, 0, NULL, NULL);
      if (code != CL_SUCCESS) return code;
      continue;
    }
    for (int b = 0; b < a->count && code == CL_SUCCESS; ++b) {
      code = clSetKernelArg(p->kernels[i], (cl_uint)b, sizeof(cl_mem), &buffers[b]);
    }
    if (code == CL_SUCCESS) {
      code = clSetKernelArg(p->kernels[i], (cl_uint)a->count, a->parameter_bytes, a->parameters);
    }
    const size_t global[3] = {a->groups[0] * a->group[0], a->groups[1] * a->group[1],
                              a->groups[2] * a->group[2]};
    if (code == CL_SUCCESS) {
      code = clEnqueueNDRangeKernel(queue, p->kernels[i], 3, NULL, global, a->group, 0, NULL, NULL);
    }
    if (code != CL_SUCCESS) return code;
  }
  return clFlush(queue);
}

void pipeline_close(struct pipeline *p) {
  if (p == NULL) return;
  for (int i = 0; i < action_count; ++i) {
    if (p->kernels[i] != NULL) clReleaseKernel(p->kernels[i]);
  }
  for (int i = 0; i < source_count; ++i) {
    if (p->programs[i] != NULL) clReleaseProgram(p->programs[i]);
  }
  for (int i = 0; i < memory_count; ++i) {
    if (p->memories[i] != NULL) clReleaseMemObject(p->memories[i]);
  }
  free(p);
}
