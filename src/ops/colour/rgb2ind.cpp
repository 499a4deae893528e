// rgb2ind: an image of few colours, or its palette.
#include "core/page_operation.hpp"
#include "ops/images.hpp"
#include "ops/volume/volume.hpp"

namespace impipe::ops {
namespace {

ImageValue bytes_of_colours(const Call& call, PlanBuilder& plan) {
  need_white(call, plan.current());
  if (call.word("out") != "image") plan.drop_alpha();
  return to_uint8(plan, plan.current());
}

ImageReduction palette_of(const Call& call) {
  const int colours = static_cast<int>(call.number("n"));
  if (call.word("out") == "map") return of_volume(palette_table(colours));
  return of_volume(palette_pages(
      colours, call.word("out") == "image" ? PaletteResult::image : PaletteResult::index));
}

const RegisterOperator rgb2ind_operator{{
    .name = "rgb2ind",
    .help = "a palette of few colours by median cut: indices into it, the palette, or the image",
    .parameters = {{.name = "n",
                    .letter = 'n',
                    .help = "how many colours at most",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 65536},
                    .required = true},
                   {.name = "out",
                    .help = "index: each pixel's place in the palette, from 0; map: the palette as "
                            "a table; image: the pixels in its colours",
                    .words = {"index", "map", "image"},
                    .fallback = "index"}},
    .colour = true,
    .details =
        R"(Of the values of im2uint8, without dithering: the box of most pixels (of equals the oldest) that has two
colours is cut in its widest channel (of equals r, g, b) behind the smallest value that half of its pixels
do not exceed (before the largest value, if that is it), until there are n boxes. The lower part keeps the
box's number, the upper one has the next. The colour of a box is the mean of its pixels, rounded half up.
index is uint8, for n above 256 uint16. map has a row of red, green and blue in [0,1] for each colour, of
which no stage can follow: -o '{stem}.npy' or '.tsv' saves it; ind2rgb takes its numbers as text. On the
host, page by page; pages of a file must be equal in size, class and channels. An image kept with `as`
ends here.)",
    .example = "rgb2ind 16 image",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::zero, "Inf saturates"},
    .matlab = "[X,map] = rgb2ind(A,n,'nodither') (there minimum variance quantisation)",
    .lower = bytes_of_colours,
    .reduction = palette_of,
}};

}  // namespace
}  // namespace impipe::ops
