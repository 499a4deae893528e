// Raw pixels from stdin through an exported pipeline, raw pixels to stdout: one image in, one out.
#include <stdio.h>
#include <stdlib.h>

#include "pipeline.h"

static size_t bytes_of_row(const struct pipeline_port *port) {
  return (size_t)port->width * (port->type[0] == 's' ? 4 : port->type[4] == '1' ? 2 : 1);
}

int main(int argc, char **argv) {
  const struct pipeline_port *in = &pipeline_inputs[0], *out = &pipeline_outputs[0];
  cl_platform_id platform;
  cl_device_id device;
  char why[4096] = "no device";
  if (argc < 2 || clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    return fprintf(stderr, "%s\n", why), 1;
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  struct pipeline *p = pipeline_open(context, device, argv[1], why, sizeof why);
  if (p == NULL) return fprintf(stderr, "%s\n", why), 1;
  const size_t in_bytes = in->plane_bytes * (size_t)in->channels;
  const size_t out_bytes = out->plane_bytes * (size_t)out->channels;
  char *pixels = calloc(1, in_bytes > out_bytes ? in_bytes : out_bytes);
  for (int row = 0; row < in->height * in->channels; ++row) {
    if (fread(pixels + (size_t)row * in->row_bytes, 1, bytes_of_row(in), stdin) == 0) return 1;
  }
  cl_mem from = clCreateBuffer(context, CL_MEM_READ_WRITE, in_bytes, NULL, NULL);
  cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, out_bytes, NULL, NULL);
  clEnqueueWriteBuffer(queue, from, CL_TRUE, 0, in_bytes, pixels, 0, NULL, NULL);
  if (pipeline_enqueue(p, queue, &from, &to) != CL_SUCCESS) return 1;
  clEnqueueReadBuffer(queue, to, CL_TRUE, 0, out_bytes, pixels, 0, NULL, NULL);
  for (int row = 0; row < out->height * out->channels; ++row) {
    fwrite(pixels + (size_t)row * out->row_bytes, 1, bytes_of_row(out), stdout);
  }
  pipeline_close(p);
  return 0;
}
