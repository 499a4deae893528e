// lut3d: a look as colour grading programs write it, an Iridas or Adobe .cube file.
#include <array>
#include <span>

#include "core/printable.hpp"
#include "core/text.hpp"
#include "core/text_file.hpp"
#include "ops/colour/spaces.hpp"
#include "ops/colour/tables.hpp"
#include "ops/images.hpp"

IMPIPE_POINT_BODY(domain_position, (x), (scale, offset, last),
                  { return clamp(fma(x, scale, offset), real(0), real(1)) * last; })

namespace impipe::ops {
namespace {

// A .cube file: Adobe's Cube LUT Specification 1.0.
struct CubeFile {
  int size = 0;
  bool is_cube = false;  // else a curve for each channel
  std::array<double, 3> low{0, 0, 0}, high{1, 1, 1};
  std::vector<double> rows;  // three numbers each; of a cube red is the fastest
  std::size_t wanted() const {
    const auto n = static_cast<std::size_t>(size);
    return 3 * (is_cube ? n * n * n : n);
  }
};

class CubeReader {
 public:
  CubeReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  CubeFile read() {
    for (std::string_view rest = text_; !rest.empty();) {
      ++line_;
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      read_line(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (file_.size == 0) throw Error(name_ + ": neither LUT_1D_SIZE nor LUT_3D_SIZE is there");
    if (file_.rows.size() < file_.wanted()) {
      throw Error(name_ + ": it ends after " + std::to_string(file_.rows.size() / 3) + " of " +
                  std::to_string(file_.wanted() / 3) + " rows");
    }
    for (std::size_t c = 0; c < 3; ++c) {
      if (file_.low[c] < file_.high[c]) continue;
      throw Error(name_ + ": DOMAIN_MIN is not below DOMAIN_MAX");
    }
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(name_ + ", line " + std::to_string(line_) + ": " + reason);
  }

  static std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> out;
    constexpr std::string_view blanks = " \t\r";
    for (;;) {
      const std::size_t begin = line.find_first_not_of(blanks);
      if (begin == line.npos || line[begin] == '#') return out;
      line.remove_prefix(begin);
      const std::size_t end = std::min(line.find_first_of(blanks), line.size());
      out.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
  }

  double number(std::string_view word) const {
    const auto value = is_number(word) ? number_value(word) : std::nullopt;
    if (!value) fail("'" + printable(std::string(word.substr(0, 40))) + "' is not a number");
    return *value;
  }
  std::array<double, 3> three(std::span<const std::string_view> words) const {
    if (words.size() != 3) fail("there are " + std::to_string(words.size()) + " numbers, not 3");
    return {number(words[0]), number(words[1]), number(words[2])};
  }

  void read_line(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || words[0] == "TITLE") return;
    const std::span<const std::string_view> values = std::span(words).subspan(1);
    if (words[0] == "DOMAIN_MIN") {
      file_.low = three(values);
    } else if (words[0] == "DOMAIN_MAX") {
      file_.high = three(values);
    } else if (words[0] == "LUT_1D_SIZE" || words[0] == "LUT_3D_SIZE") {
      read_size(words[0] == "LUT_3D_SIZE", values);
    } else if (is_number(words[0])) {
      if (file_.size == 0) fail("the size of the table has to stand before it");
      if (file_.rows.size() == file_.wanted()) fail("a row more than the size says");
      for (const double value : three(words)) file_.rows.push_back(value);
    } else {
      fail("'" + printable(std::string(words[0].substr(0, 40))) + "' is no keyword of .cube files");
    }
  }

  void read_size(bool is_cube, std::span<const std::string_view> values) {
    const double most = is_cube ? 256 : 65536;
    const double size = values.size() == 1 ? number(values[0]) : 0;
    if (file_.size != 0) fail("a second size");
    if (!(size >= 2 && size <= most) || size != static_cast<int>(size)) {
      fail("the size is a whole number from 2 to " + std::to_string(static_cast<int>(most)));
    }
    file_.size = static_cast<int>(size);
    file_.is_cube = is_cube;
  }

  std::string_view text_;
  const std::string& name_;
  int line_ = 0;
  CubeFile file_;
};

// The rows as planes: red, green, blue; of a cube blue is the fastest then.
std::vector<double> planes_of(const CubeFile& file) {
  const auto n = static_cast<std::size_t>(file.size), count = file.rows.size() / 3;
  std::vector<double> out(file.rows.size());
  for (std::size_t row = 0; row < count; ++row) {
    const std::size_t at = file.is_cube ? (row % n * n + row / n % n) * n + row / (n * n) : row;
    for (std::size_t c = 0; c < 3; ++c) out[c * count + at] = file.rows[3 * row + c];
  }
  return out;
}

ImageValue lower_lut3d(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  need_white(call, image);
  const std::string& path = call.value("lut").path;
  const auto file = std::make_shared<CubeFile>();
  try {
    *file = CubeReader(read_text_once(path), path).read();
  } catch (const Error& error) {
    call.fail("lut", error.what());
  }
  const MeasureValue domain = plan.constant(
      [file, white = image.type.white] {
        std::vector<double> out(6);
        for (std::size_t c = 0; c < 3; ++c) {
          const double width = file->high[c] - file->low[c];
          out[2 * c] = 1 / (white * width);
          out[2 * c + 1] = -file->low[c] / width;
        }
        return out;
      },
      2, 3);
  const ImageValue positions = plan.point(
      bodies::domain_position, {image},
      {Arg::per_channel(domain, 0), Arg::per_channel(domain, 1), file->size - 1.0}, unit_single);
  const auto entries = static_cast<std::int64_t>(file->wanted() / 3);
  const MeasureValue table =
      plan.constant([file] { return planes_of(*file); }, file->is_cube ? 3 * entries : entries,
                    file->is_cube ? 1 : 3);
  Result result = like(image);
  if (!file->is_cube) return on_curve(plan, positions, Arg::per_channel(table, 0), result);
  result.channels = 3;
  return in_cube(
      plan, positions,
      {.table = table, .side = file->size, .trilinear = call.word("interpolation") == "trilinear"},
      result);
}

const RegisterOperator lut3d_operator{{
    .name = "lut3d",
    .help = "a look in a .cube file: a table of colours, or a curve for each channel",
    .parameters = {{.name = "lut",
                    .help = "an Iridas or Adobe .cube file: @look.cube",
                    .takes = Takes::file,
                    .required = true},
                   {.name = "interpolation",
                    .help = "of a table of colours",
                    .words = {"tetrahedral", "trilinear"},
                    .fallback = "tetrahedral"}},
    .classes = no_logical,
    .colour = true,
    .details =
        "The values of a pixel, on the unit scale, from DOMAIN_MIN to DOMAIN_MAX are the place in\n"
        "the table; others are the nearest of these. TITLE and comments are left out. Results "
        "beyond\n"
        "0 and white stay in single images.",
    .example = "lut3d @look.cube",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite = {NotFinite::Rule::other,
                   "NaN in one channel of a pixel makes NaN of all three (of curves of its own), "
                   "Inf counts as DOMAIN_MAX"},
    .matlab = "none",
    .lower = lower_lut3d,
}};

}  // namespace
}  // namespace impipe::ops
