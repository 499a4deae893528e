// Exact order statistics as text: a radix selection over ordered keys.
#include "backends/jit/measure/grid_stride.hpp"
#include "backends/jit/measure/measure.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

std::string number(std::int64_t i) { return std::to_string(i); }

class SelectWriter {
 public:
  SelectWriter(Builder& builder, const Selection& selection, int n)
      : builder_(builder),
        scalars_(selection.scalars),
        in_memory_(selection.in_memory),
        n_(n),
        name_(Builder::name({false, n})),
        image_(builder.node(n).images[0]),
        single_(builder.cls(image_) == PixelClass::single),
        places_(std::get<Select>(builder.node(n).primitive).places),
        items_(builder.tuning().histogram_items),
        one_launch_(builder.context().ends_in_last_group()) {
    if (!single_ && builder.cls(image_) != PixelClass::uint16) {
      builder.fail("select is for single and uint16 images");
    }
  }

  void run() {
    write_group_words(builder_, true);
    const std::vector<int> rounds = bits_of_rounds();
    int left = single_ ? 32 : 16;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      left -= rounds[i];
      write_round({rounds[i], left, i == 0, left == 0});
    }
  }

 private:
  struct Round {
    int bits, below;  // of a key in this round, and in those that follow
    bool first, last;
    int digits() const { return 1 << bits; }
  };

  // Local memory that the counters of a group may take, beside that of the group's words.
  std::int64_t bytes_of_counters() const {
    return builder_.tuning().local_bytes - std::int64_t{8} * items_ - 64;
  }

  // Few bits first, when all pixels are counted: more copies of fewer counters.
  std::vector<int> bits_of_rounds() const {
    if (!single_) return {8, 8};
    if (std::int64_t{4} * places_ << 11 <= bytes_of_counters()) return {10, 11, 11};
    return {8, 8, 8, 8};
  }

  int counters(const Round& round) const { return (round.first ? 1 : places_) * round.digits(); }

  int copies(const Round& round) const {
    int copies = 32;
    while (copies > 1 && std::int64_t{4} * counters(round) * copies > bytes_of_counters()) {
      copies /= 2;
    }
    return copies;
  }

  std::string state(const std::string& suffix, const std::string& type, int bytes) {
    return builder_.scratch(name_ + suffix, type,
                            [all = bytes * places_](const LaunchContext&) { return all; });
  }
  std::string begun() { return state("_begun", "uint", 4); }
  std::string rests() { return state("_rests", "double", 8); }

  // Zeros before and after every round: of one image they lie behind its ticket.
  std::string totals() {
    if (one_launch_ && !builder_.tuning().stacked) {
      return "(" + builder_.ticket() + " + " + number(ticket_words) + ")";
    }
    return builder_.scratch(
        name_ + "_totals", "uint",
        [bytes = std::int64_t{4} * places_ << 11](const LaunchContext&) { return bytes; }, true);
  }

  // Counts a key.
  std::string counted(const Round& round, const std::string& key) const {
    const auto count = [&](const std::string& digit) {
      return statement("ADD_LOCAL(&counts[(" + digit + ") * " + number(copies(round)) +
                       " + copy], 1u)");
    };
    const std::string below = number(round.below);
    if (round.first) return count(key + " >> " + below);
    std::string text = declared("const uint", "key", key) +
                       declared("const uint", "digit",
                                "key >> " + below + " & " + number(round.digits() - 1) + "u");
    for (int k = 0; k < places_; ++k) {
      text += "if (key >> " + number(round.below + round.bits) + " == begin_" + number(k) + ") " +
              count(number(k * round.digits()) + "u + digit");
    }
    return braced(text);
  }

  // Of 16 bytes.
  std::string chunk(const Round& round) const {
    std::string text;
    for (const std::string word : {"v.x", "v.y", "v.z", "v.w"}) {
      if (single_) {
        text += counted(round, "key_of_single(" + word + ")");
      } else {
        text += counted(round, "(" + word + " & 0xffffu)") + counted(round, "(" + word + " >> 16)");
      }
    }
    return text;
  }

  std::string begins(const Round& round) {
    std::string text;
    for (int k = 0; !round.first && k < places_; ++k) {
      text += declared("const uint", "begin_" + number(k), begun() + "[" + number(k) + "]");
    }
    return text;
  }

  // The places, clamped; they may be measured.
  std::string first_places() {
    std::string text;
    for (int k = 0; k < places_; ++k) {
      text += declared("const double", "place_" + number(k),
                       "floor(clamp_double(" +
                           builder_.argument(n_, k, "place_" + number(k), "double") +
                           ", 0.0, (double)" + builder_.width(image_) + " * (double)" +
                           builder_.height(image_) + " - 1.0))");
    }
    return text;
  }

  std::string choice(const Round& round) {
    const Part& one = part(kernels::select, "choose_one");
    std::string all;
    for (int k = 0; k < places_; ++k) {
      const std::string place = number(k), key = begun() + "[" + place + "]";
      const std::string value = single_ ? "single_of_key(" + key + ")" : key;
      all += filled(
          one, {{"rest", round.first ? "place_" + place : rests() + "[" + place + "]"},
                {"run", number((round.digits() + items_ - 1) / items_)},
                {"digits", number(round.digits())},
                {"first", number(round.first ? 0 : k * round.digits())},
                {"items", number(items_)},
                {"begun", begun()},
                {"rests", rests()},
                {"place", place},
                {"before", round.first ? "0u" : "(" + key + " << " + number(round.bits) + ")"},
                {"put", round.last ? builder_.measure({false, n_}) + "[" + place + "] = (double)" +
                                         value + ";"
                                   : ""}});
    }
    return filled(part(kernels::select, "choose"),
                  {{"totals", totals()},
                   {"first_places", round.first ? first_places() : ""},
                   {"choose_one", all},
                   {"counters", number(counters(round))},
                   {"items", number(items_)}}) +
           (round.last ? scalars_at_end(builder_, scalars_, items_) : "");
  }

  void write_round(const Round& round) {
    const std::string suffix = "_" + number(round.below);
    const GridStride stream{image_, in_memory_, items_, builder_.tuning().groups_at_once(), 64};
    const int load = values_a_load(builder_, stream);
    const std::string pixel = single_ ? "key_of_single(p)" : "(uint)p";
    std::string text =
        filled(part(kernels::select, "count"),
               {{"counters", number(counters(round))},
                {"copies", number(copies(round))},
                {"begins", begins(round)},
                {"items", number(items_)},
                {"rows", grid_stride_rows(builder_, stream, chunk(round), counted(round, pixel))},
                {"totals", totals()}});
    const std::string memory = group_memory(items_);
    if (one_launch_) {
      text = memory + text +
             filled(part(kernels::select, "last_group"),
                    {{"ticket", builder_.ticket()}, {"choose", choice(round)}});
    }
    builder_.kernel(name_ + "_count" + suffix, items_, text,
                    [stream, load, items = items_](const LaunchContext& at) {
                      return LaunchShape{{stream.groups_for(at, load), 1, 1}, {items, 1, 1}};
                    });
    if (one_launch_) return;
    builder_.kernel(name_ + "_choose" + suffix, items_, memory + choice(round),
                    [items = items_](const LaunchContext&) {
                      return LaunchShape{{1, 1, 1}, {items, 1, 1}};
                    });
  }

  Builder& builder_;
  const std::vector<int>& scalars_;
  bool in_memory_;
  int n_;
  std::string name_;
  Operand image_;
  bool single_;
  int places_, items_;
  bool one_launch_;
};

}  // namespace

void write_select(Builder& builder, const Selection& selection, int n) {
  SelectWriter(builder, selection, n).run();
}

}  // namespace impipe::jit
