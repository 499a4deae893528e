// The text of the sliding histogram: counts of the values' first eight bits, which cells of the
// mask's edge enter and leave; the remaining bits of wider classes are found by counting the
// window. Entropies follow the same counts.
#include "backends/jit/neighbourhood/rank_histogram.hpp"

#include <algorithm>

#include "backends/jit/neighbourhood/rank_columns.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/plan/block_plan.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int max_small_count = 255;  // that fits a byte
constexpr int codes = 256;
constexpr int max_row_cells = 64;  // that a work-item holds four times over, in registers
// Rows of a strip, which starts with a whole window.
constexpr std::int64_t min_strip = 16;
// Bytes that a processor's groups share, and that each takes besides its own.
constexpr std::int64_t shared_bytes = 227 * 1024, group_bytes = 1024;

const Rank& rank_of(const Builder& builder, int n) {
  return std::get<Rank>(builder.node(n).primitive);
}

std::string undefined_counters() {
  std::string text;
  for (const char* name : {"WORD_OF", "FIELD_OF_CODE", "COUNT_UP", "COUNT_DOWN", "COUNT", "SUMS",
                           "PLACE_OF_BYTE", "FIELD_OF_BYTE", "WORD_AT"}) {
    text += undefined(name);
  }
  return text;
}

// Strips of columns: one for each work-item.
struct Strips {
  std::int64_t items, groups;  // of a group; at once
  std::int64_t start;          // rows that take as long as its first window

  // Their rows, a multiple of four: those that are done first, in turns of so many groups.
  std::int64_t rows(Size size, std::int64_t planes) const {
    const std::int64_t across = planes * ((size.width + items - 1) / items);
    std::int64_t least = 0, found = 0;
    for (std::int64_t strips = 1;; ++strips) {
      const std::int64_t each = ((size.height + strips - 1) / strips + 3) / 4 * 4;
      const std::int64_t turns = (across * strips + groups - 1) / groups;
      const std::int64_t time = turns * (each + start);
      if (found > 0 && (each < min_strip || turns > 8)) return found;
      if (found == 0 || time < least) {
        least = time;
        found = each;
      }
    }
  }
};

// The kernel's parts that depend on the node.
class RankHistogram {
 public:
  RankHistogram(Builder& builder, int n)
      : builder_(builder),
        n_(n),
        rank_(rank_of(builder, n)),
        node_(builder.node(n)),
        image_(node_.images[0]),
        name_(Builder::name({false, n}) + "_window"),
        cls_(builder.cls(image_)),
        cells_(rank_.mask.count()),
        small_(cells_ <= max_small_count) {}

  void write() {
    write_outside();
    write_key();
    if (rest_bits() > 0) write_rest();
    if (rank_.entropy) {
      table_ = builder_.table(ParameterType::float64, name_ + "_table",
                              [n = n_, cells = cells_](const auto& at) {
                                std::vector<double> out;
                                for (int k = 0; k <= cells; ++k) {
                                  out.push_back(at.argument(n, k));
                                }
                                return out;
                              });
    }
    const bool columns =
        rest_bits() == 0 && !rank_.entropy && takes_columns(builder_.context(), rank_.mask);
    const std::string loop = columns ? columns_text() : cells_text();
    // 32 KB of local memory, or half of it beside the digits of wider classes. Columns take many
    // registers: small groups fill what there is of both.
    const int items = columns ? 32 : 32 * per() / (rest_bits() > 0 ? 2 : 1);
    const Operand self{false, n_};
    const Strips strips = strips_of(items);
    const std::string strip =
        builder_.integer(name_ + "_strip", [self, strips](const LaunchContext& at) {
          return strips.rows(at.size_of(self), at.count());
        });
    const std::string kernel = text("counters") +
                               text("kernel", {{"items", number(items)},
                                               {"has_digits", rest_bits() > 0 ? "1" : "0"},
                                               {"strip", strip},
                                               {"to_height", builder_.height(self)},
                                               {"to_width", builder_.width(self)},
                                               {"loop", loop},
                                               {"output", ""}}) +
                               undefined_counters();
    builder_.kernel(
        "store_" + Builder::name(self), items, kernel,
        [self, items, strips](const LaunchContext& at) {
          const Size size = at.size_of(self);
          const std::int64_t each = strips.rows(size, at.count());
          return launch_tiles(size, items, each, items);
        },
        columns ? static_cast<int>(groups_of_processor(items)) : 0);
  }

 private:
  // As many groups as local memory has room for; of one sub-group as many in each quarter of a
  // processor, which registers are given out by.
  std::int64_t groups_of_processor(int items) const {
    const std::int64_t counters = std::int64_t{4} * items * (codes / per());
    const std::int64_t digits = rest_bits() > 0 ? std::int64_t{32} * items : 0;
    const std::int64_t fit = shared_bytes / (counters + digits + group_bytes);
    return items > 32 ? fit : fit / 4 * 4;
  }
  Strips strips_of(int items) const {
    return {.items = items,
            .groups = groups_of_processor(items) * std::max(1, builder_.tuning().processors),
            .start = rank_.mask.height / 2};
  }

  // Bits of a key beyond the first eight.
  int rest_bits() const {
    return cls_ == PixelClass::single ? 24 : cls_ == PixelClass::uint16 ? 8 : 0;
  }

  // NAME_at: the image with what is round it.
  void write_outside() {
    write_border(builder_, name_ + "_at", type_of(cls_), builder_.value(image_, "x", "y"),
                 rank_.border, outside_rank(builder_, n_), builder_.width(image_),
                 builder_.height(image_));
  }

  // NAME_key: the ordered key of a pixel.
  void write_key() {
    const std::string key = key_text(builder_.call(name_ + "_at", "x", "y"));
    builder_.function(name_ + "_key", pixel_function("uint", name_ + "_key", returned(key)));
  }

  std::string key_text(const std::string& value) const {
    return cls_ == PixelClass::single ? "key_of_single(" + value + ")" : "(uint)" + value;
  }

  void write_rest() {
    const auto step = [](const std::string& key) {
      return "const uint key = " + key +
             "; if (key >> (shift + 4) == found) DIGIT(key >> shift & 15u) += 1;";
    };
    const Mask& mask = rank_.mask;
    const std::string key = builder_.call(name_ + "_key", "x + dx", "y + dy");
    const std::string inner = key_text(builder_.value(image_, "x + dx", "y + dy"));
    builder_.function(name_ + "_rest",
                      text("rest", {{"rest_name", name_ + "_rest"},
                                    {"rest", number(rest_bits())},
                                    {"inner", for_each_cell(builder_, name_, mask, step(inner))},
                                    {"cells", for_each_cell(builder_, name_, mask, step(key))}}));
  }

  int per() const { return small_ ? 4 : 2; }
  std::string text(std::string_view name, Replacements own = {}) const {
    return words_.filled(part(kernels::rank_histogram, name), own);
  }

  std::string columns_text() {
    RankColumns columns(builder_, n_, name_, small_);
    columns.write_words();
    return columns.loop(output());
  }

  // Counts a code that enters or leaves, and what follows from it: how many are below the place, or
  // the sum of the table's entries.
  std::string counted(bool enters) const {
    const std::string count = enters ? "COUNT_UP(code); " : "COUNT_DOWN(code); ";
    if (!rank_.entropy) {
      return count + (enters ? "below += " : "below -= ") + "code < place ? 1 : 0;";
    }
    return declared("const int", "count", "COUNT(code)") + count +
           statement("sum += " + table_ + "[count " + (enters ? "+" : "-") + " 1] - " + table_ +
                     "[count]");
  }

  std::string cells_text() {
    const std::string sum = rank_.entropy ? declared("double", "sum", "0.0") : "";
    const std::string top = rest_bits() > 0 ? " >> " + number(rest_bits()) : "";
    const auto moved = [&](const char* which, const Mask& mask, const char* y, bool enters) {
      const std::string code =
          declared("const uint", "code", builder_.call(name_ + "_key", "x + dx", y) + top);
      return braced(for_each_cell(builder_, name_ + which, mask, code + counted(enters)));
    };
    return sum + text("cells",
                      {{"output", output()},
                       {"all", moved("_all", rank_.mask, "y + dy", true)},
                       {"leaving", moved("_leaving", edge_of(rank_.mask, -1), "y - 1 + dy", false)},
                       {"entering", moved("_entering", edge_of(rank_.mask, 1), "y + dy", true)}});
  }

  // Moves `place` up by single codes to the one that the rank is in.
  std::string steps(const std::string& place, const std::string& below, int rank) const {
    return text("steps", {{"code", place}, {"codes_below", below}, {"its_rank", number(rank)}});
  }

  std::string output() {
    if (rank_.entropy) {
      const std::string cells = number(cells_);
      return assigned(
          builder_.plane({false, n_}).pixel(),
          "(float)((" + table_ + "[" + cells + "] - sum) / (" + cells + ".0 * 4294967296.0))");
    }
    const std::string out =
        builder_.plane({false, n_}).pixel() + " = (" + type_of(node_.cls) + ")found";
    return text("output", {{"result", result_text()}, {"stored", out}});
  }

  // How many codes of a word's have no more than `more` up to them.
  std::string codes_up_to(const std::string& sums, const std::string& more) const {
    std::string found;
    for (int k = 0; k + 1 < per(); ++k) {
      found += " + ((" + sums + " >> " + number(small_ ? 8 * k : 16 * k) + " & " +
               (small_ ? "255u" : "65535u") + ") <= " + more + " ? 1u : 0u)";
    }
    return found;
  }

  // `found`: the value from place and below; with an average also that of the next.
  std::string result_text() {
    const bool single = node_.cls == PixelClass::single;
    const std::string type = single ? "float" : "uint";
    const auto value = [&](const char* place, const std::string& rank) {
      std::string key = place;
      if (rest_bits() > 0) {
        key = name_ + "_rest(ARGS, digits, x, y, " + place + ", " + rank + ")";
      }
      return single ? "one_zero(single_of_key(" + key + "))" : key;
    };
    if (rest_bits() == 0) {
      const std::string one =
          declared("const uint", "more", "(uint)(" + number(rank_.rank) + " - below)") +
          declared("const uint", "lower", "place" + codes_up_to("sums", "more"));
      if (!rank_.average) return one + declared("const uint", "found", "lower");
      return one + text("next", {{"codes_up_to", codes_up_to("sums_after", "wanted")}});
    }
    const std::string text =
        declared("uint", "at", "place") + declared("int", "below_at", "below") +
        steps("at", "below_at", rank_.rank) +
        declared(type, "found", value("at", number(rank_.rank) + " - below_at"));
    if (!rank_.average) return text;
    const std::string next = number(rank_.rank + 1);
    return text + declared("uint", "place_after", "at") +
           declared("int", "below_after", "below_at") +
           steps("place_after", "below_after", rank_.rank + 1) +
           declared("const " + type, "after", value("place_after", next + " - below_after")) +
           assigned("found", single ? "(found + after) / 2.0f" : "(found + after + 1u) / 2u");
  }

  Builder& builder_;
  int n_;
  const Rank& rank_;
  const Node& node_;
  Operand image_;
  std::string name_, table_;  // of entropies
  PixelClass cls_;
  int cells_;
  bool small_;
  const Substitutions words_{{
      {"left", [this] { return number(rank_.mask.footprint().left); }},
      {"right", [this] { return number(rank_.mask.footprint().right); }},
      {"up", [this] { return number(rank_.mask.footprint().up); }},
      {"down", [this] { return number(rank_.mask.footprint().down); }},
      {"width", [this] { return builder_.width(image_); }},
      {"height", [this] { return builder_.height(image_); }},
      {"rank", [this] { return number(rank_.rank); }},
      {"codes", [] { return number(codes); }},
      {"per", [this] { return number(per()); }},
      {"top", [this] { return number(32 - 32 / per()); }},
      {"words_each", [this] { return number(codes / per()); }},
      {"field_bits", [this] { return std::string(small_ ? "8u" : "16u"); }},
      {"field", [this] { return std::string(small_ ? "255u" : "65535u"); }},
      {"ones", [this] { return std::string(small_ ? "0x01010101u" : "0x10001u"); }},
      {"high_bits", [this] { return std::string(small_ ? "0xfcfcfcfcu" : "0xfefefefeu"); }},
      {"high_times", [this] { return std::string(small_ ? "32u" : "64u"); }},
      {"unroll", [this] { return builder_.unroll(); }},
  }};
};

}  // namespace

Mask edge_of(const Mask& mask, int dy) {
  Mask out = mask;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      const bool next = y + dy >= 0 && y + dy < mask.height && mask.at(x, y + dy);
      const std::int64_t cell = std::int64_t{y} * mask.width + x;
      if (next) out.cells[static_cast<std::size_t>(cell)] = 0;
    }
  }
  return out;
}

bool takes_columns(const KernelContext& of, const Mask& mask) {
  // Other compilers than NVIDIA's hold the words of all columns at once, and spill them.
  const std::size_t max_columns = of.features().limits_registers ? 96 : 48;
  return columns_of(mask).size() <= max_columns;
}

namespace {

Offer offer_rank_histogram(const FormQuestion& question) {
  const auto* rank = as<Rank>(question.node());
  if (rank == nullptr) return vetoed("no rank filter");
  if (rank->offsets) return vetoed("its cells have offsets");
  const Mask& mask = rank->mask;
  const double ends = 2.0 * edge_of(mask, -1).count();
  const int rest = 8 * (bytes_of(question.context.cls(question.node().images[0])) - 1);
  // Counters of cells that enter and leave; then the digits of wider classes, in the whole window.
  const double counted = rest == 0 && takes_columns(question.context, mask) ? 16.0 : 40.0;
  const double digits = rest == 0 ? 0 : 800 + 13.0 * rest * mask.count();
  return {.work = {.bytes = bytes_moved(question.context, question.n),
                   .operations = 95 + counted * ends + digits},
          .form = FamilyForm{&rank_histogram_form},
          .reason = "its window slides from pixel to pixel"};
}

}  // namespace

const FormRow rank_histogram_form = {"sliding histogram", offer_rank_histogram,
                                     [](Builder& builder, const KernelPlan&, int n) -> LaunchTest {
                                       RankHistogram(builder, n).write();
                                       return nullptr;
                                     }};

}  // namespace impipe::jit
