// A preloaded library that lets a chosen allocation, or a chosen start of a thread, fail; for the
// tests of what impipe does when memory is out (tests/cli/test_memory.py).
//
//   FAILING_ALLOC_AT=N      the N-th allocation since main began fails, counted from 1
//   FAILING_ALLOC_ON=1      and so do all after it
//   FAILING_ALLOC_MIN=B     only allocations of at least B bytes are counted
//   FAILING_ALLOC_MAX=B     only allocations of at most B bytes are counted
//   FAILING_ALLOC_COUNT=F   how many there were is written to the file F when the process ends
//   FAILING_ALLOC_TRACE=1   the call stack of the first that fails goes to stderr
//   FAILING_THREADS_FROM=N  starting a thread fails with EAGAIN when N have been started
//
// operator new, strdup and their like come here by way of malloc. What runs before main (the
// loader, constructors of static objects) is left alone: no program could answer there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

typedef int Main(int, char**, char**);
typedef int StartMain(Main*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
typedef int CreateThread(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

static atomic_bool active;
static atomic_long allocations;
static atomic_long threads;
static long fail_at;
static long threads_allowed = -1;  // -1: all
static int keeps_failing;
static int traces;
static size_t min_bytes;
static size_t max_bytes = SIZE_MAX;
static const char* count_file;
static Main* real_main;
static CreateThread* real_pthread_create;

static void trace(void) {
  void* frames[40];
  const int count = backtrace(frames, 40);
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
}

// Whether the allocation of so many bytes is to fail; errno says so then, as malloc's does.
static int fails(size_t bytes) {
  if (!atomic_load(&active) || bytes < min_bytes || bytes > max_bytes) return 0;
  const long number = atomic_fetch_add(&allocations, 1) + 1;
  if (fail_at == 0 || number < fail_at || (number > fail_at && !keeps_failing)) return 0;
  if (traces && number == fail_at) {
    atomic_store(&active, 0);
    trace();
    atomic_store(&active, 1);
  }
  errno = ENOMEM;
  return 1;
}

void* malloc(size_t bytes) { return fails(bytes) ? NULL : __libc_malloc(bytes); }

void* calloc(size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) all = SIZE_MAX;
  return fails(all) ? NULL : __libc_calloc(count, bytes);
}

void* realloc(void* old, size_t bytes) {
  return bytes > 0 && fails(bytes) ? NULL : __libc_realloc(old, bytes);
}

void* reallocarray(void* old, size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(old, all);
}

void* memalign(size_t alignment, size_t bytes) {
  return fails(bytes) ? NULL : __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** to, size_t alignment, size_t bytes) {
  if (fails(bytes)) return ENOMEM;
  void* made = __libc_memalign(alignment, bytes);
  if (made == NULL) return ENOMEM;
  *to = made;
  return 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  if (threads_allowed >= 0 && atomic_fetch_add(&threads, 1) >= threads_allowed) return EAGAIN;
  if (real_pthread_create == NULL) {
    real_pthread_create = (CreateThread*)dlsym(RTLD_NEXT, "pthread_create");
  }
  return real_pthread_create(thread, attributes, run, argument);
}

static long number_of(const char* variable, long otherwise) {
  const char* text = getenv(variable);
  return text == NULL ? otherwise : strtol(text, NULL, 10);
}

static void write_count(void) {
  const long counted = atomic_load(&allocations);
  atomic_store(&active, 0);
  const int file = open(count_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file >= 0) {
    dprintf(file, "%ld\n", counted);
    close(file);
  }
}

static int counted_main(int argc, char** argv, char** environment) {
  if (traces) {
    void* frames[1];
    backtrace(frames, 1);  // its first call loads a library
  }
  atomic_store(&active, 1);
  return real_main(argc, argv, environment);
}

int __libc_start_main(Main* main, int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end) {
  real_main = main;
  fail_at = number_of("FAILING_ALLOC_AT", 0);
  keeps_failing = number_of("FAILING_ALLOC_ON", 0) != 0;
  min_bytes = (size_t)number_of("FAILING_ALLOC_MIN", 0);
  max_bytes = (size_t)number_of("FAILING_ALLOC_MAX", -1);
  traces = number_of("FAILING_ALLOC_TRACE", 0) != 0;
  threads_allowed = number_of("FAILING_THREADS_FROM", -1);
  count_file = getenv("FAILING_ALLOC_COUNT");
  if (count_file != NULL) atexit(write_count);
  StartMain* next = (StartMain*)dlsym(RTLD_NEXT, "__libc_start_main");
  return next(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
