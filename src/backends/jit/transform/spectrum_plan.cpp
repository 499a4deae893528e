// The passes of lines, from the stages of core/line_fft.hpp in their order.
#include "backends/jit/transform/spectrum_plan.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <deque>
#include <mutex>
#include <optional>
#include <span>

#include "core/line_fft.hpp"

namespace impipe::jit {
namespace {

using Stage = LineFft::Stage;

// The stages of a pass: how many of them are one, and where their factors are.
struct Together {
  SpectrumStagePair radices;
  std::size_t first = 0;  // of the line's stages
  int radix() const { return radices.first * radices.second; }
};

// The radix of a line of one number, which is copied.
constexpr int no_radix = 17;

std::vector<Together> paired(std::span<const Stage> stages, std::size_t first, bool pairs_too) {
  std::vector<Together> out;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const int radix = stages[s].radix, next = s + 1 < stages.size() ? stages[s + 1].radix : 1;
    const auto is_pair = [&](const SpectrumStagePair& pair) {
      return pair.first == radix && pair.second == next;
    };
    const bool pairs = pairs_too && next > 1 && std::ranges::any_of(spectrum_stages, is_pair);
    out.push_back({{radix, pairs ? next : 1}, first + s});
    if (pairs) ++s;
  }
  if (out.empty()) out.push_back({{no_radix, 1}, first});
  return out;
}

std::int64_t length_of(std::span<const Stage> stages) {
  std::int64_t length = 1;
  for (const Stage& stage : stages) length *= stage.radix;
  return length;
}

// A pass of a line: its own stages, and the product of the radices of those before it.
struct Part {
  std::span<const Stage> stages;
  std::int64_t inner = 1, before = 1;
  bool convolution = false;  // a pass of the whole line does both transforms
  std::int64_t length() const { return length_of(stages); }
  std::int64_t apart() const { return inner / length(); }
  bool by_lines(const SpectrumAxis& lines) const { return lines.by_columns || apart() == 1; }
  // Transforms side by side.
  std::int64_t side(const SpectrumAxis& lines) const {
    return by_lines(lines) ? lines.lines : apart();
  }
};

// How a group shares the butterflies of a stage: where a work-item has several, they are as far
// apart as can be, within a transform or in several.
struct Shares {
  std::int64_t step = 1, many = 1;
  std::int64_t butterflies = 1, transforms = 1;  // of which work-items have the first
  bool within = true;
  Shares(int radix, std::int64_t length, std::int64_t each)
      : step(std::max<std::int64_t>(length / radix, 1)),
        many(std::max(spectrum_butterflies(radix), 1)) {
    while (step % many != 0 && each % many != 0) many /= 2;
    within = step % many == 0;
    butterflies = within ? step / many : step;
    transforms = within ? each : each / many;
  }
};

// Transforms of a group, so many that groups are two a processor: neighbours, so that what is read
// is as long as a line of a cache. 0: the pass is too long for a group.
std::int64_t transforms_of_group(const Part& pass, const SpectrumAxis& lines,
                                 const SpectrumGroups& by) {
  const std::int64_t all = lines.lines * pass.apart(), groups = 2 * by.processors;
  const std::int64_t least = lines.by_columns || pass.apart() > 1 ? 8 : 1;
  const std::int64_t wanted = std::max(least, (all + groups - 1) / groups);
  const std::vector<Together> stages = paired(pass.stages, 0, by.pairs);
  std::int64_t each = std::min({wanted, 16 * by.items / pass.length(), pass.side(lines)});
  const auto fits = [&](const Together& stage) {
    const Shares shares(stage.radix(), pass.length(), each);
    return shares.butterflies * shares.transforms <= by.items;
  };
  if (each > 8) each = each / 8 * 8;
  while (each > 0 && !std::ranges::all_of(stages, fits)) each -= each > 8 ? 8 : 1;
  return each;
}

// How many times as long as contiguous numbers are those that lie in runs of such a length.
double scattered(std::int64_t run) {
  constexpr double of_cache_line = 8;
  return std::max(1.0, of_cache_line / static_cast<double>(run));
}

// What a pass takes: a launch, the cache lines of its numbers and, as an estimate, 50 operations of
// a number a stage and 120 of each butterfly.
double microseconds(const Part& pass, const SpectrumAxis& lines, const SpectrumGroups& by) {
  const std::int64_t each = transforms_of_group(pass, lines, by);
  const std::vector<Together> together = paired(pass.stages, 0, by.pairs);
  const bool rows = !lines.by_columns, turns = together.size() > 1 || pass.apart() == 1;
  const std::int64_t loaded = !rows              ? std::min(each, lines.lines)
                              : pass.apart() > 1 ? std::min(each, pass.apart())
                                                 : pass.length();
  const std::int64_t stored = !rows             ? std::min(each, lines.lines)
                              : pass.before > 1 ? std::min(each, pass.before)
                                                : (turns ? pass.length() : 1);
  double operations = 0;
  for (const Together& stage : together) operations += 50 + 120.0 / stage.radix();
  // The last pass of columns leaves pixels: half of the bytes.
  const bool pixels = !rows && pass.before * pass.length() == pass.inner;
  const double stores = pixels ? scattered(stored) / 2 : scattered(stored);
  const double numbers = static_cast<double>(lines.lines) * static_cast<double>(pass.inner);
  const double times = pass.convolution && pass.apart() > 1 ? 2 : 1;
  return times * (by.launch_microseconds +
                  numbers * ((scattered(loaded) + stores) * by.number_microseconds +
                             operations * by.operation_microseconds));
}

// How many stages each pass has, so that all passes together take the least time.
struct Passes {
  double microseconds = 0;
  std::vector<std::size_t> counts;
};
std::optional<Passes> cheapest(const Part& rest, const SpectrumAxis& lines,
                               const SpectrumGroups& by, int most) {
  std::optional<Passes> best;
  for (std::size_t count = std::min<std::size_t>(rest.stages.size(), 1);
       count <= rest.stages.size(); ++count) {
    const Part own{rest.stages.first(count), rest.inner, rest.before, rest.convolution};
    if (transforms_of_group(own, lines, by) == 0) continue;
    Passes passes{microseconds(own, lines, by), {count}};
    if (count < rest.stages.size()) {
      const Part others{rest.stages.subspan(count), rest.inner, rest.before * own.length(),
                        rest.convolution};
      const auto behind = most > 1 ? cheapest(others, lines, by, most - 1) : std::nullopt;
      if (!behind) continue;
      passes.microseconds += behind->microseconds;
      passes.counts.insert(passes.counts.end(), behind->counts.begin(), behind->counts.end());
    }
    // Of equal ones that with the shortest last pass, which stores the longest runs of pixels.
    if (!best || passes.microseconds < 1.001 * best->microseconds) best = std::move(passes);
  }
  return best;
}

// Of quotients by it of numbers below 2^16; 0: by 1.
double magic(std::int64_t divisor) {
  if (divisor <= 1) return 0;
  const auto word = static_cast<std::uint32_t>((std::int64_t{0xffffffff} + divisor) / divisor);
  return static_cast<std::int32_t>(word);
}

class Planner {
 public:
  explicit Planner(const SpectrumGroups& by) : by_(by) {}

  void add(std::size_t axis, const SpectrumAxis& lines) {
    const LineFft fft(lines.length);
    const LineFft& inner = fft.padded() != nullptr ? *fft.padded() : fft;
    const std::vector<Stage>& stages = inner.stages();
    std::vector<std::int64_t> factors;
    for (const Stage& stage : stages) factors.push_back(add_factors(stage.factors));
    const std::int64_t chirp = fft.padded() != nullptr ? add_factors(fft.chirp()) : -1;
    const std::int64_t filter = fft.padded() != nullptr ? add_factors(fft.filter()) : -1;
    const Part line{stages, inner.length(), 1, fft.padded() != nullptr};
    const std::vector<std::size_t> counts =
        cheapest(line, lines, by_, max_spectrum_passes / 2).value().counts;
    const std::int64_t count = std::ssize(counts);
    const bool in_one = count == 1;
    plan_.padded[axis] = in_one ? 0 : inner.length();
    const std::int64_t transforms = fft.padded() != nullptr && !in_one ? 2 : 1;
    for (std::int64_t t = 0; t < transforms; ++t) {
      std::size_t from = 0;
      std::int64_t before = 1;
      for (std::int64_t p = 0; p < count; ++p) {
        const Part own{std::span(stages).subspan(from, counts[static_cast<std::size_t>(p)]),
                       inner.length(), before};
        const bool begins = t == 0 && p == 0, ends = p + 1 == count, last = t + 1 == transforms;
        const std::int64_t number = t * count + p;
        Words words{.lines = lines};
        words.rounds = in_one && chirp >= 0 ? 2 : 1;
        words.start = begins ? chirp : -1;
        words.middle = filter;
        words.swapped_end = chirp >= 0 && ends && last;
        if (chirp >= 0 && ends) words.end = last ? chirp : filter;
        words.loaded = begins ? lines.length : inner.length();
        words.stored = ends && last ? lines.length : inner.length();
        words.from = begins ? 1 : 2 + (number + 1) % 2;
        words.to = ends && last ? 1 : 2 + number % 2;
        add_pass(axis, words, own, from, factors);
        before *= own.length();
        from += own.stages.size();
      }
    }
  }

  SpectrumPlan take() { return std::move(plan_); }

 private:
  struct Words {
    SpectrumAxis lines;
    std::int64_t rounds = 1, start = -1, middle = -1, end = -1;
    bool swapped_end = false;
    std::int64_t loaded = 1, stored = 1, from = 1, to = 1;
  };

  std::int64_t add_factors(const std::vector<std::complex<double>>& factors) {
    const auto place = std::ssize(plan_.factors) / 2;
    for (const std::complex<double>& f : factors) {
      plan_.factors.insert(plan_.factors.end(), {f.real(), f.imag()});
    }
    return place;
  }

  void add_pass(std::size_t axis, const Words& of, const Part& pass, std::size_t first,
                const std::vector<std::int64_t>& factors) {
    const std::int64_t length = pass.length(), apart = pass.apart();
    const std::int64_t all = of.lines.lines * apart;
    const std::int64_t each = transforms_of_group(pass, of.lines, by_);
    const std::vector<Together> together = paired(pass.stages, first, by_.pairs);
    plan_.passes[axis].push_back(
        {static_cast<int>(std::ssize(plan_.words)), (all + each - 1) / each});
    const bool columns = of.lines.by_columns;
    const auto put = [&](std::initializer_list<std::int64_t> words) {
      for (const std::int64_t word : words) plan_.words.push_back(static_cast<double>(word));
    };
    put({length, std::ssize(together), of.lines.lines, apart, pass.before, apart / pass.before,
         each, pass.side(of.lines), all});
    put({columns, pass.by_lines(of.lines), of.rounds, of.start, of.middle, of.end, of.swapped_end,
         of.lines.length, pass.inner, of.loaded, of.stored, of.from, of.to});
    std::int64_t width = 1;
    for (const Together& stage : together) {
      const bool two = stage.radices.second > 1, begins = width == 1;
      const bool across = columns || (begins ? apart > 1 : pass.before > 1);
      const Shares shares(stage.radix(), length, each);
      const std::int64_t low = across ? shares.transforms : shares.butterflies;
      const std::int64_t high = across ? shares.butterflies : shares.transforms;
      put({stage.radix(), shares.step, across, shares.many, shares.within ? shares.butterflies : 0,
           shares.within ? 0 : shares.transforms, low, high});
      plan_.words.push_back(magic(low));
      put({width});
      plan_.words.push_back(magic(width));
      put({shares.step / width, stage.first < factors.size() ? factors[stage.first] : 0,
           two ? factors[stage.first + 1] : 0});
      width *= stage.radix();
    }
  }

  SpectrumGroups by_;
  SpectrumPlan plan_;
};

}  // namespace

std::shared_ptr<const SpectrumPlan> spectrum_plan(const SpectrumAxes& axes,
                                                  const SpectrumGroups& by) {
  struct Known {
    SpectrumAxes axes;
    SpectrumGroups by;
    std::shared_ptr<const SpectrumPlan> plan;
  };
  static std::mutex mutex;
  static std::deque<Known> known;
  constexpr std::size_t most = 8;
  const std::lock_guard lock(mutex);
  for (const Known& one : known) {
    if (one.axes == axes && one.by == by) return one.plan;
  }
  Planner planner(by);
  for (std::size_t axis = 0; axis < axes.size(); ++axis) planner.add(axis, axes[axis]);
  known.push_front({axes, by, std::make_shared<const SpectrumPlan>(planner.take())});
  if (known.size() > most) known.pop_back();
  return known.front().plan;
}

}  // namespace impipe::jit
