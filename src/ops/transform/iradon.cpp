// iradon: the image whose sums along parallel rays are given.
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

using Filter = Project::Filter;

Filter filter_named(std::string_view name) {
  if (name == "none") return Filter::none;
  if (name == "shepp-logan") return Filter::shepp_logan;
  if (name == "cosine") return Filter::cosine;
  if (name == "hamming") return Filter::hamming;
  if (name == "hann") return Filter::hann;
  return Filter::ram_lak;
}

ImageValue lower_iradon(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  Project what{.inverse = true,
               .filter = filter_named(call.word("filter")),
               .linear = call.word("interp") == "linear"};
  std::vector<Arg> arguments;
  if (call.has("theta")) {
    arguments.assign(call.numbers("theta").begin(), call.numbers("theta").end());
  }
  what.angles = static_cast<int>(arguments.size());
  if (what.angles > 1 && call.given("first")) {
    call.fail("first", "theta names every angle itself");
  }
  arguments.emplace_back(call.number("first"));
  arguments.emplace_back(call.number("scaling"));
  arguments.emplace_back(call.has("size") ? call.number("size") : 0.0);
  return plan.whole(what, {plan.current()}, arguments, single_result);
}

const RegisterOperator iradon_operator{{
    .name = "iradon",
    .help = "the image from its sums along parallel rays, by filtered back projection",
    .parameters =
        {{.name = "theta",
          .letter = 't',
          .help = "the angles of the columns in degrees; one number d: 0, d, 2d, ...; 180 k / n "
                  "when not given",
          .numbers = {.max_count = 100000}},
         {.name = "interp",
          .help = "between samples: linear or nearest",
          .words = {"linear", "nearest"},
          .fallback = "linear"},
         {.name = "filter",
          .help = "the window on the ramp |f|: ram-lak has none; none: no filtering",
          .words = {"ram-lak", "shepp-logan", "cosine", "hamming", "hann", "none"},
          .fallback = "ram-lak"},
         {.name = "scaling",
          .help = "the part of the frequencies that passes; the window is compressed to it",
          .numbers = {.max_count = 1, .low = 0.001, .high = 1},
          .fallback = "1"},
         {.name = "size",
          .letter = 's',
          .help = "side of the result in pixels; 2 floor(rows / (2 sqrt 2)) when not given",
          .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 1e6}},
         {.name = "first",
          .help = "the angle of the first column in degrees, where theta is one number or not "
                  "given; of a single projection its angle",
          .numbers = {.max_count = 1},
          .fallback = "0"}},
    .one_channel = true,
    .details =
        "Each column is filtered by its Fourier transform of L = twice the next power of two\n"
        "samples: its component of f = k / L cycles a sample, |f| <= 1/2, is multiplied by\n"
        "H(f) = 2 |f| w(f / scaling), and by 0 where |f| > scaling / 2. The windows are\n"
        "  ram-lak      w(f) = 1\n"
        "  shepp-logan  w(f) = sin(pi f) / (pi f), w(0) = 1\n"
        "  cosine       w(f) = cos(pi f)\n"
        "  hamming      w(f) = 0.54 + 0.46 c cos(2 pi f L / (L - 1))\n"
        "  hann         w(f) = 0.5 + 0.5 c cos(2 pi f L / (L - 1))\n"
        "with c = cos(pi / (L - 1)), nearly 1: hamming(L) and hann(L) of Octave at L / 2 + k, the\n"
        "mean of f and -f; at k = -L / 2, unscaled, their first values, 0.08 and 0. none is\n"
        "H(f) = 1. Every pixel (x, y) of the result then takes from each of the n columns the\n"
        "sample at x cos(theta) + y sin(theta); the sum is scaled by pi / (2 n). In double; the\n"
        "result is single and has no white.\n"
        "Source: A. C. Kak and M. Slaney, Principles of Computerized Tomographic Imaging, IEEE\n"
        "Press 1988, chapter 3; L. A. Shepp and B. F. Logan, IEEE Trans. Nucl. Sci. 21 (1974).",
    .example = "radon | iradon | mat2gray",
    .accuracy = "1e-6 of the largest value",
    .not_finite = {NotFinite::Rule::other,
                   "NaN makes NaN of every sum that takes it; iradon filters whole columns"},
    .matlab = "iradon(P,theta,interp,filter,scaling,size) (MATLAB's ramp has a mean: about 1 % "
              "apart)",
    .lower = lower_iradon,
}};

}  // namespace
}  // namespace impipe::ops
