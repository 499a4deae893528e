// A pointer for each thread: it takes no memory to set or to read.
#include "engine/batch/file_at_work.hpp"

namespace impipe::engine {
namespace {

thread_local constinit const char* at_work = nullptr;

}  // namespace

FileAtWork::FileAtWork(const char* name) noexcept : outer_(at_work) { at_work = name; }

FileAtWork::~FileAtWork() { at_work = outer_; }

const char* FileAtWork::name() noexcept { return at_work; }

}  // namespace impipe::engine
