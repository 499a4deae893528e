// A preloaded library that lets calls on one file fail, as a network file system does that is out
// for a while, or never return.
//
// FAILING_FILE   a part of the file's path
// FAILING_CALL   "read" (also pread), "write" or, of no file, "inotify_init1"
// FAILING_AFTER  how many calls go well before; without it none
// FAILING_TIMES  how many of the calls after them fail; without it all
// FAILING_ERRNO  the error's number; 0: the call hangs
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int calls;

// Whether this call is to fail; errno is set then.
static int fails(int file, const char* call) {
  const char* name = getenv("FAILING_FILE");
  const char* which = getenv("FAILING_CALL");
  if (!name || !which || strcmp(which, call) != 0) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  if (!strstr(path, name)) return 0;
  const char* after = getenv("FAILING_AFTER");
  const char* times = getenv("FAILING_TIMES");
  const int before = atomic_fetch_add(&calls, 1) - (after ? atoi(after) : 0);
  if (before < 0 || (times && before >= atoi(times))) return 0;
  const int number = atoi(getenv("FAILING_ERRNO"));
  while (number == 0) pause();
  errno = number;
  return 1;
}

ssize_t read(int file, void* to, size_t count) {
  static ssize_t (*next)(int, void*, size_t);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "read");
  return fails(file, "read") ? -1 : next(file, to, count);
}

ssize_t pread(int file, void* to, size_t count, off_t at) {
  static ssize_t (*next)(int, void*, size_t, off_t);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "pread");
  return fails(file, "read") ? -1 : next(file, to, count, at);
}

ssize_t pread64(int file, void* to, size_t count, off64_t at) {
  static ssize_t (*next)(int, void*, size_t, off64_t);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "pread64");
  return fails(file, "read") ? -1 : next(file, to, count, at);
}

ssize_t write(int file, const void* from, size_t count) {
  static ssize_t (*next)(int, const void*, size_t);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "write");
  return fails(file, "write") ? -1 : next(file, from, count);
}

int inotify_init1(int flags) {
  static int (*next)(int);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "inotify_init1");
  const char* which = getenv("FAILING_CALL");
  if (!which || strcmp(which, "inotify_init1") != 0) return next(flags);
  errno = atoi(getenv("FAILING_ERRNO"));
  return -1;
}
