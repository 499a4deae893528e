struct pipeline;
// Compiles the kernels, which lie in `folder`. Returns NULL and writes the reason to `why` on
// failure.
struct pipeline *pipeline_open(cl_context context, cl_device_id device, const char *folder,
                               char *why, size_t why_bytes);
// inputs, outputs: buffers, one a row of the tables above. Returns the first error.
cl_int pipeline_enqueue(struct pipeline *p, cl_command_queue queue, const cl_mem *inputs,
                        const cl_mem *outputs);
void pipeline_close(struct pipeline *p);
