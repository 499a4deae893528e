// Rows of planes.
#include "backends/jit/block/block_rows.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

// Bytes as words: an instruction takes a byte out of one; 16-bit pixels, too.
MadeRow row_of_words(const Block& block, const Operand& operand, const std::string& name,
                     bool ahead) {
  Builder& builder = block.builder;
  const int px = block.size.px, bytes = px * bytes_of(builder.cls(operand));
  const std::string words = "words_" + name, count = number(bytes / 4);
  const std::string place = ahead ? "(" + words + " + r * " + count + ")" : words;
  const std::string load =
      word_access(true, "from", place, 0, bytes, bytes, builder.tuning().load_bytes);
  const auto text = [&](const char* name_of_part) {
    return Substitutions(
               {{"words_of_row", words},
                {"place_of_words", place},
                {"word_count", count},
                {"all_words", number(block.size.py * bytes / 4)},
                {"unroll", builder.unroll()},
                {"py", number(block.size.py)},
                {"px", number(px)},
                {"own_row", builder.plane(operand).row("y")},
                {"own_row_ahead", builder.plane(operand).row("smaller(y0 + r, " +
                                                             builder.height(operand) + " - 1)")},
                {"load_words", load},
                {"name", name}})
        .filled(part(kernels::block, name_of_part));
  };
  MadeRow row{{name}, {}};
  if (ahead) {
    row.text.load_arrays = text("words_ahead");
    row.text.loads = text("load_words_ahead");
  } else {
    row.text.rows = text("load_words");
  }
  row.text.rows += text(bytes == px ? "bytes_of_words" : "halves_of_words");
  return row;
}

}  // namespace

MadeRow loaded_row(const Block& block, const Operand& operand, const std::string& name,
                   bool ahead) {
  Builder& builder = block.builder;
  const int px = block.size.px;
  const PixelClass cls = builder.cls(operand);
  const bool words = bytes_of(cls) == 1 || (bytes_of(cls) == 2 && ahead);
  if (block.size.points && words && px % 4 == 0) {
    return row_of_words(block, operand, name, ahead);
  }
  MadeRow row{{name}, {.reads_rows = true}};
  row.text.rows = filled(part(kernels::block, "load_row_of_pixels"),
                         {{"pixel", type_of(cls)},
                          {"name", name},
                          {"px", number(px)},
                          {"own_row", builder.plane(operand).row("y")},
                          {"load_pixels", wide_load(cls, "(from_" + name + " + x0)", name, 0, px,
                                                    builder.tuning().load_bytes)}});
  return row;
}

}  // namespace impipe::jit
