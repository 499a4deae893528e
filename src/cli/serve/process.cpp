#include "cli/serve/process.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <set>

#include "cli/command.hpp"
#include "core/process_limits.hpp"

namespace impipe::cli::serve {
namespace {

// A file as the file system numbers it, and if it is none that changes, its last change.
std::string identity_of(const char* path) {
  struct stat status = {};
  if (stat(path, &status) != 0) return "unknown";
  if (S_ISDIR(status.st_mode)) return fmt::format("{}:{}", status.st_dev, status.st_ino);
  return fmt::format("{}:{}:{}:{}.{}", status.st_dev, status.st_ino, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

std::string link_of(const char* path) {
  char text[PATH_MAX];
  const ssize_t size = readlink(path, text, sizeof text);
  return size < 0 ? "" : std::string(text, static_cast<size_t>(size));
}

std::string groups() {
  std::string text = std::to_string(getegid());
  std::vector<gid_t> all(static_cast<size_t>(std::max(0, getgroups(0, nullptr))));
  all.resize(static_cast<size_t>(std::max(0, getgroups(static_cast<int>(all.size()), all.data()))));
  std::ranges::sort(all);
  for (const gid_t group : all) text += " " + std::to_string(group);
  return text;
}

std::string processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::string text;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) text += std::to_string(i) + " ";
  }
  return text + "of " + std::to_string(process_limits().threads);
}

std::string limits() {
  std::string text;
  for (const int kind : {RLIMIT_AS, RLIMIT_CPU, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_MEMLOCK,
                         RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_STACK}) {
    rlimit limit = {};
    getrlimit(static_cast<__rlimit_resource>(kind), &limit);
    text += std::to_string(limit.rlim_cur) + " ";
  }
  return text;
}

// Of these, by the beginnings of their names, drivers and libraries make what they are in a
// process.
constexpr std::string_view read_once[] = {
    "CUDA",   "NVIDIA", "OCL_", "OPENCL",  "OPENCV",  "POCL",  "LD_",
    "GLIBC_", "MALLOC", "OMP_", "LIBHEIF", "TMPDIR=", "HOME=", "XDG_CACHE_HOME="};

const std::set<std::string>& flags_variables() {
  static const std::set<std::string> all = [] {
    std::set<std::string> names;
    CommandSet commands;
    add_commands(commands);
    for (const auto& command : commands.all()) {
      for (const CLI::Option* option : command->app->get_options()) {
        names.insert(option->get_envname());
      }
    }
    return names;
  }();
  return all;
}

}  // namespace

std::vector<std::string> process_facts() {
  return {
      "build of impipe=" IMPIPE_VERSION " " + identity_of("/proc/self/exe"),
      "view of the files=" + identity_of("/") + link_of("/proc/self/ns/mnt"),
      "set of rights=" + groups() + link_of("/proc/self/ns/user"),
      "set of processors=" + processors(),
      "memory limit=" + std::to_string(process_limits().memory),
      "set of limits (ulimit)=" + limits(),
  };
}

std::vector<std::string> variables() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  std::ranges::sort(all);
  return all;
}

bool is_read_once(std::string_view variable) {
  const auto begins = [&](std::string_view name) { return variable.starts_with(name); };
  if (!begins("IMPIPE_")) return std::ranges::any_of(read_once, begins);
  return !flags_variables().contains(std::string(variable.substr(0, variable.find('='))));
}

std::string difference(const std::vector<std::string>& facts,
                       const std::vector<std::string>& other) {
  const auto [one, another] = std::mismatch(facts.begin(), facts.end(), other.begin(), other.end());
  if (one == facts.end() && another == other.end()) return "";
  const std::string& differs =
      another == other.end() || (one != facts.end() && *one < *another) ? *one : *another;
  return "the server has another " + differs.substr(0, differs.find('='));
}

}  // namespace impipe::cli::serve
