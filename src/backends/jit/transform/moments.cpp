// Local statistics of two images as text.
#include <algorithm>

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/transform.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 192;
constexpr std::int64_t tile_columns = 32, max_tile_rows = 48;
constexpr std::int64_t row_in_tile = 40 * 4 * sizeof(float);  // of four planes

class MomentsText : WholeImageText<Moments> {
 public:
  MomentsText(Builder& builder, int n)
      : WholeImageText(builder, n), weights_(weights(builder, n, "weights", 0, taps())) {}

  void write() {
    write_body();
    // Lower tiles would make most rows of their windows several times.
    if (tile_rows() >= std::max(taps() - 1, 4)) {
      builder_.kernel(name_ + "_tiles", items, filled("tiles", builder_.unroll()),
                      shape(tile_columns, tile_rows()));
    } else {
      builder_.kernel(name_ + "_rows", items, filled("rows", ""), shape(4 * items, 1));
      builder_.kernel(name_ + "_columns", items, filled("columns", ""), shape(items, 4));
    }
  }

 private:
  int taps() const { return what_.mask.width; }
  // Those that local memory holds beside what is read around them, by fours.
  std::int64_t tile_rows() const {
    const std::int64_t held = builder_.tuning().local_bytes / row_in_tile - (taps() - 1);
    return std::clamp<std::int64_t>(held / 4 * 4, 0, max_tile_rows);
  }
  std::string body() const { return name_ + "_" + what_.body->name; }

  void write_body() {
    std::vector<std::string> parameters = names_in(what_.body->input_names);
    made_ = body() + "(sum, apart, sum_variance, apart_variance";
    int index = taps();
    for (const std::string& label : names_in(what_.body->parameter_names)) {
      parameters.push_back(label);
      made_ += ", " + builder_.argument(n_, index++, label, "float");
    }
    made_ += ")";
    builder_.body_once(body(), body_function(body(), "float", "", parameters, what_.body->text));
  }

  // The text of an image's number at `column` and `row`: codes are the last bits of larger numbers,
  // whose differences are those of the codes.
  std::string number_of(std::size_t image) const {
    const Operand& operand = builder_.node(n_).images.at(image);
    const std::string value = builder_.value(operand, "column", "row");
    return has_codes() ? "BITS_FLOAT(0x4b000000u | (uint)" + value + ")" : value;
  }
  bool has_codes() const { return is_integer(builder_.cls(builder_.node(n_).images.front())); }

  PlaneText plane(const std::string& label) const {
    return builder_.scratch_plane(
        name_ + "_" + label, PixelClass::single,
        [self = self_](const LaunchContext& at) { return at.size_of(self); });
  }

  std::string filled(std::string_view which, const std::string& unroll) const {
    const auto pointer = [this](const char* label) {
      return [this, label] { return plane(label).pointer; };
    };
    const Substitutions words{{
        {"items", [] { return number(items); }},
        {"tile", [this] { return number(tile_rows()); }},
        {"rows", [this] { return number(tile_rows() + taps() - 1); }},
        {"reach", [this] { return number(what_.mask.origin_x); }},
        {"taps", [this] { return number(taps()); }},
        {"run", [this] { return number(what_.run()); }},
        {"across", [this] { return number(taps() + 3); }},
        {"unroll", [&] { return unroll; }},
        {"width", [this] { return builder_.width(self_); }},
        {"height", [this] { return builder_.height(self_); }},
        {"pitch", [this] { return plane("sums").stride; }},
        {"offset", [this] { return std::string(has_codes() ? "8388608.0f" : "0.0f"); }},
        {"x_number", [this] { return number_of(0); }},
        {"y_number", [this] { return number_of(1); }},
        {"weights", [this] { return weights_; }},
        {"made", [this] { return made_; }},
        {"out",
         [this] {
           return builder_.plane(self_).pointer + "[(long)row * " + builder_.plane(self_).stride +
                  " + column]";
         }},
        {"sums", pointer("sums")},
        {"differences", pointer("differences")},
        {"sum_variances", pointer("sum_variances")},
        {"difference_variances", pointer("difference_variances")},
    }};
    return words.filled(part(kernels::moments, which));
  }

  ShapeFunction shape(std::int64_t columns, std::int64_t rows) const {
    return launch_tiles(self_, columns, rows, items);
  }

  std::string weights_, made_;
};

}  // namespace

void write_moments(Builder& builder, int n) { MomentsText(builder, n).write(); }

}  // namespace impipe::jit
