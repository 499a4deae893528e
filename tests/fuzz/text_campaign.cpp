// Tries many random texts in one process, for a build with sanitizers; scripts/campaign/texts.py
// drives it.
//
//   text_campaign SEED COUNT LAST
//
// Each text is written to the file LAST before it is tried, so that a crash leaves it there. A text
// that takes longer than 20 seconds of the processor ends the program. The last line says how many
// texts there were.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "support/catalogue_text.hpp"
#include "support/language_laws.hpp"
#include "support/plan_laws.hpp"

namespace {

constexpr std::size_t longest = 1 << 20;
constexpr time_t seconds_a_text = 20;

// The text that is tried, in a file that outlives the process.
class LastText {
 public:
  explicit LastText(const char* path) {
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || ftruncate(file, longest) != 0) fail(path);
    void* memory = mmap(nullptr, longest, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) fail(path);
    close(file);
    text_ = static_cast<char*>(memory);
  }
  void set(const std::string& text) {
    const std::size_t size = std::min(text.size(), longest - 1);
    std::memcpy(text_, text.data(), size);
    std::memset(text_ + size, 0, std::max(size, before_) - size + 1);
    before_ = size;
  }

 private:
  [[noreturn]] static void fail(const char* path) {
    std::perror(path);
    std::exit(2);
  }
  char* text_;
  std::size_t before_ = 0;
};

long peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: text_campaign SEED COUNT LAST\n");
    return 2;
  }
  const auto seed = std::strtoull(argv[1], nullptr, 10);
  const long count = std::strtol(argv[2], nullptr, 10);
  LastText last(argv[3]);
  impipe::test::CatalogueText random(seed);
  long parsed = 0, bound = 0, planned = 0;
  double slowest = 0;
  for (long i = 0; i < count; ++i) {
    const std::string text = random.any();
    last.set(text);
    const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds_a_text}};
    setitimer(ITIMER_VIRTUAL, &limit, nullptr);
    const std::clock_t start = std::clock();
    const auto language = impipe::test::judge_pipeline(text);
    const auto plan = impipe::test::judge_plan(text);
    slowest = std::max(slowest, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    parsed += language.parsed;
    bound += plan.bound;
    planned += plan.planned > 0;
    for (const std::string& law : {language.broken_law, plan.broken_law}) {
      if (law.empty()) continue;
      std::printf("broken law at text %ld: %s\n", i, law.c_str());
      return 1;
    }
  }
  std::printf("%ld texts, %ld parsed, %ld bound, %ld planned; slowest %.2f s, peak %ld MiB\n",
              count, parsed, bound, planned, slowest, peak_mib());
  return 0;
}
