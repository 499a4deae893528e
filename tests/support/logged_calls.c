// A preloaded library that writes down, in their order, the calls that make files last.
//
// LOGGED_CALLS  the file that gets a line a call: "fdatasync PATH", "syncfs PATH", "rename FROM TO"
// FAILING_CALL  "fdatasync" or "syncfs": fails with EIO
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void note(const char* call, const char* one, const char* two) {
  const char* name = getenv("LOGGED_CALLS");
  if (!name) return;
  char line[8300];
  const int length = snprintf(line, sizeof line, "%s\t%s\t%s\n", call, one, two);
  const int file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || write(file, line, (size_t)length) != length) abort();
  close(file);
}

static int fails(int file, const char* call) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  note(call, path, "");
  const char* failing = getenv("FAILING_CALL");
  if (!failing || strcmp(failing, call) != 0) return 0;
  errno = EIO;
  return 1;
}

int fdatasync(int file) {
  static int (*next)(int);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "fdatasync");
  return fails(file, "fdatasync") ? -1 : next(file);
}

int syncfs(int file) {
  static int (*next)(int);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "syncfs");
  return fails(file, "syncfs") ? -1 : next(file);
}

int rename(const char* from, const char* to) {
  static int (*next)(const char*, const char*);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "rename");
  note("rename", from, to);
  return next(from, to);
}
