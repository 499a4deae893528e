struct pipeline;
// Compiles the kernels, which lie in `folder`, for the device of the current context. Returns NULL
// and writes the reason to `why` on failure.
struct pipeline *pipeline_open(const char *folder, char *why, size_t why_bytes);
// inputs, outputs: device memory, one a row of the tables above. Returns the first error.
CUresult pipeline_enqueue(struct pipeline *p, CUstream stream, const CUdeviceptr *inputs,
                          const CUdeviceptr *outputs);
void pipeline_close(struct pipeline *p);
