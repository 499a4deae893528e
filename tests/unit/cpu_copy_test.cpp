// Points that copy: what they copy is made where they would put it, whatever else reads it.
#include <gtest/gtest.h>

#include "core/body.hpp"
#include "support/spec_case.hpp"

IMPIPE_POINT_BODY(test_copy, (x), (), { return x; })
IMPIPE_POINT_BODY(test_second, (x, y), (), { return y; })
IMPIPE_POINT_BODY(test_copied_blend, (x, y), (part), { return x + part * (y - x); })

namespace impipe::testing {
namespace {

// Kernels of points with copies among them, from two inputs of a class.
KernelSpec copies(PixelClass cls, int kind) {
  const PixelClass other = cls == PixelClass::single ? PixelClass::uint8 : PixelClass::single;
  SpecBuilder b;
  const Operand x = b.input(cls, 1), y = b.input(cls, 1);
  const auto blend = [&](double part) {
    return b.add(Point{.body = &bodies::test_copied_blend}, {x, y}, {part}, cls, 1);
  };
  const auto copy = [&](const Operand& of, PixelClass to) {
    return b.add(Point{.body = &bodies::test_copy}, {of}, {}, to, 1);
  };
  const Operand first = blend(0.25), second = blend(0.75);
  switch (kind) {
    case 0: return b.finish({copy(first, cls), copy(second, cls)});
    case 1: return b.finish({copy(first, cls), copy(first, cls), second});
    case 2: return b.finish({first, copy(first, cls), copy(copy(second, cls), cls)});
    case 3: return b.finish({copy(first, other), copy(x, cls), copy(x, other)});
    case 4:
      return b.finish({b.add(Point{.body = &bodies::test_second}, {first, second}, {}, cls, 1)});
    default: {
      const Operand copied = copy(first, cls);
      const Operand largest = b.add(Extremum{.mask = rectangle(3, 3, 1, 1)}, {copied}, {}, cls, 1);
      return b.finish({copied, largest});
    }
  }
}

TEST(CpuCopies, AreWhatTheyCopy) {
  std::mt19937 random(31);
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : {Size{1, 1}, Size{70, 33}, Size{2100, 130}}) {
      const std::vector<SpecResult> inputs{random_image(random, cls, 1, size, true),
                                           random_image(random, cls, 1, size, true)};
      for (int kind = 0; kind < 6; ++kind) {
        const KernelSpec spec = copies(cls, kind);
        const std::vector<SpecResult> all = evaluate_spec(spec, inputs);
        for (const CpuLevel level : usable_levels()) {
          const std::vector<SpecResult> made = run_spec(spec, inputs, level, 2);
          for (std::size_t i = 0; i < made.size(); ++i) {
            ASSERT_EQ(difference(made[i], all[static_cast<std::size_t>(spec.outputs[i])]), "")
                << "output " << i << " of kind " << kind << ", " << name_of(cls) << ", "
                << to_string(size) << ", level " << static_cast<int>(level);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
