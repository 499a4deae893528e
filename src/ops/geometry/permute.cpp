// transpose, fliplr, flipud, rot90: the pixels in another order.
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

const RegisterOperator transpose_operator{{
    .name = "transpose",
    .help = "swap rows and columns",
    .details = "B(r,c) = A(c,r), each channel. An H x W image becomes W x H.",
    .example = "transpose",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "A.' (same; permute(A,[2 1 3]) for colour)",
    .lower = [](const Call&,
                PlanBuilder& plan) { return plan.permute({.transpose = true}, plan.current()); },
}};

const RegisterOperator fliplr_operator{{
    .name = "fliplr",
    .help = "mirror left to right",
    .details = "B(r,c) = A(r,W-1-c), each channel.",
    .example = "fliplr",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "fliplr(A) (same)",
    .lower = [](const Call&,
                PlanBuilder& plan) { return plan.permute({.flip_x = true}, plan.current()); },
}};

const RegisterOperator flipud_operator{{
    .name = "flipud",
    .help = "mirror top to bottom",
    .details = "B(r,c) = A(H-1-r,c), each channel.",
    .example = "flipud",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "flipud(A) (same)",
    .lower = [](const Call&,
                PlanBuilder& plan) { return plan.permute({.flip_y = true}, plan.current()); },
}};

const RegisterOperator rot90_operator{{
    .name = "rot90",
    .help = "rotate by multiples of 90 degrees, counter-clockwise",
    .parameters = {{.name = "k",
                    .help = "how many quarter turns; negative: clockwise; taken modulo 4",
                    .numbers = {.max_count = 1, .integer = true, .low = -1e6, .high = 1e6},
                    .fallback = "1"}},
    .details = "k = 1: B(r,c) = A(c,W-1-r), each channel; an H x W image becomes W x H.",
    .example = "rot90 -1",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "rot90(A,k) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const int turns = ((static_cast<int>(call.number("k")) % 4) + 4) % 4;
          if (turns == 0) return plan.current();
          return plan.permute({.transpose = turns != 2, .flip_x = turns != 1, .flip_y = turns != 3},
                              plan.current());
        },
}};

}  // namespace
}  // namespace impipe::ops
