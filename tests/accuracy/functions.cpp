// Errors of core/functions.clh in units in the last place:
//
//   function_accuracy [STRIDE [PAIRS [NAME]]]
//
// Of every function, or of that one: every STRIDE-th float (all), or PAIRS random pairs of floats
// (10^8); and PAIRS / 100 random doubles.
//
// Floats are compared with the C library's functions of double, and with MPFR where those are too
// near to the middle of two floats to say which is the nearest; doubles with MPFR.
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string_view>
#include <type_traits>

#include "core/functions.hpp"

namespace impipe {
namespace {

struct Function {
  const char* name;
  float (*of_floats)(float, float);
  double (*of_doubles)(double, double);
  double (*library)(double, double);
  void (*exact)(mpfr_ptr out, mpfr_srcptr x, mpfr_srcptr y);
  bool two;  // arguments

  template <class real>
  bool takes(real x) const {
    using Limits = std::numeric_limits<real>;
    if (name == std::string_view("cube_root")) return x >= Limits::min();
    if (name == std::string_view("exp2_below_0")) {
      return x <= 0 && x > Limits::min_exponent - real(1.5);
    }
    return true;
  }
};

#define IMPIPE_ONE(name, library, mpfr)                                          \
  {                                                                              \
#name, [](float x, float) { return functions::name##_float(x); },              \
   [](double x, double) { return functions::name##_double(x); },                  \
   [](double x, double) { return std::library(x); },                              \
   [](mpfr_ptr out, mpfr_srcptr x, mpfr_srcptr) { mpfr(out, x, MPFR_RNDN); },     \
   false \
  }
#define IMPIPE_TWO(name, mpfr)                                                                    \
  {                                                                                               \
#name, functions::name##_float, functions::name##_double,                                     \
        [](double x,                                                                              \
           double y) { return std::name(x, y); }, [](mpfr_ptr out, mpfr_srcptr x,                 \
                                                     mpfr_srcptr                                  \
                                                         y) { mpfr(out, x, y, MPFR_RNDN); }, true \
  }

const Function all[] = {IMPIPE_ONE(exp, exp, mpfr_exp), IMPIPE_ONE(exp2_below_0, exp2, mpfr_exp2),
                        IMPIPE_ONE(log, log, mpfr_log), IMPIPE_ONE(cube_root, cbrt, mpfr_cbrt),
                        IMPIPE_ONE(sin, sin, mpfr_sin), IMPIPE_ONE(cos, cos, mpfr_cos),
                        IMPIPE_ONE(tan, tan, mpfr_tan), IMPIPE_TWO(pow, mpfr_pow),
                        IMPIPE_TWO(atan2, mpfr_atan2)};

// 120 bits of the true value.
class Exact {
 public:
  Exact() { mpfr_inits2(120, x_, y_, value_, nullptr); }
  ~Exact() { mpfr_clears(x_, y_, value_, nullptr); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  void find(const Function& f, double x, double y) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    mpfr_set_d(y_, y, MPFR_RNDN);
    f.exact(value_, x_, y_);
  }
  double nearest() const { return mpfr_get_d(value_, MPFR_RNDN); }
  double minus(double other) {
    mpfr_sub_d(x_, value_, other, MPFR_RNDN);
    return mpfr_get_d(x_, MPFR_RNDN);
  }

 private:
  mpfr_t x_, y_, value_;
};

// One unit in the last place of numbers next to this one.
template <class real>
double unit_of(double number) {
  using Limits = std::numeric_limits<real>;
  int power = 0;
  static_cast<void>(std::frexp(number, &power));
  return std::ldexp(1.0, std::max(power, Limits::min_exponent) - Limits::digits);
}

struct Errors {
  double worst = 0, x = 0, y = 0;
  std::uint64_t count = 0, not_nearest = 0;

  void add(double units, double at_x, double at_y) {
    ++count;
    not_nearest += units > 0.5;
    if (units <= worst) return;
    worst = units;
    x = at_x;
    y = at_y;
  }
  void print(const char* type, const char* name) const {
    std::printf("%-6s %-9s %.4f at %.17g, %.17g; of %llu not the nearest: %.2g\n", type, name,
                worst, x, y, static_cast<unsigned long long>(count),
                static_cast<double>(not_nearest) / static_cast<double>(count));
  }
};

// `exact`: rounded to double. Infinite where only one of the two is a number or is finite.
template <class real>
bool is_special(double got, double exact, Errors& errors, double x, double y) {
  const real nearest = static_cast<real>(exact);
  if (std::isfinite(nearest) && std::isfinite(got)) return false;
  const bool same = std::isnan(nearest) ? std::isnan(got) : got == static_cast<double>(nearest);
  errors.add(same ? 0 : HUGE_VAL, x, y);
  return true;
}

void look_at(const Function& f, float x, float y, Exact& exact, Errors& errors) {
  const double got = f.of_floats(x, y), value = f.library(x, y);
  if (is_special<float>(got, value, errors, x, y)) return;
  const double unit = unit_of<float>(static_cast<float>(value));
  double units = std::fabs(got - value) / unit;
  if (std::fabs(units - 0.5) < 1e-6) {
    exact.find(f, x, y);
    units = std::fabs(exact.minus(got)) / unit;
  }
  errors.add(units, x, y);
}

void look_at(const Function& f, double x, double y, Exact& exact, Errors& errors) {
  const double got = f.of_doubles(x, y);
  exact.find(f, x, y);
  const double value = exact.nearest();
  if (is_special<double>(got, value, errors, x, y)) return;
  errors.add(std::fabs(exact.minus(got)) / unit_of<double>(value), x, y);
}

// In turn bit patterns, and of two arguments those whose power is a moderate number.
template <class real>
void look_at_random(const Function& f, std::uint64_t count, Exact& exact, Errors& errors) {
  std::mt19937_64 random(1);
  const auto between = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t a = random(), b = random();
    real x = 0, y = 0;
    if (i % 4 == 0) {
      using Bits = std::conditional_t<sizeof(real) == 4, std::uint32_t, std::uint64_t>;
      x = std::bit_cast<real>(static_cast<Bits>(a));
      y = std::bit_cast<real>(static_cast<Bits>(b));
    } else if (i % 4 == 1) {
      x = static_cast<real>(between(0, 1));
      y = static_cast<real>(between(-4, 4));
    } else if (f.two) {
      const double most = sizeof(real) == 4 ? 80 : 700,
                   log_x = between(-1, 1) * (i % 4 == 2 ? 1 : most);
      x = static_cast<real>(std::exp(log_x));
      y = static_cast<real>(between(-most, most) / log_x);
    } else {
      x = static_cast<real>(i % 4 == 2 ? between(-700, 700)
                                       : static_cast<int>(a % 100000) * 1.5707963267948966);
    }
    if (!f.takes(x)) continue;
    look_at(f, x, y, exact, errors);
  }
}

int run(std::uint64_t stride, std::uint64_t pairs, std::string_view name) {
  Exact exact;
  for (const Function& f : all) {
    if (!name.empty() && name != f.name) continue;
    Errors floats, doubles;
    for (std::uint64_t bits = 0; bits < 0x100000000 && !f.two; bits += stride) {
      const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      if (!f.takes(x)) continue;
      look_at(f, x, 0.0f, exact, floats);
    }
    if (f.two) look_at_random<float>(f, pairs, exact, floats);
    floats.print("float", f.name);
    look_at_random<double>(f, pairs / 100, exact, doubles);
    doubles.print("double", f.name);
  }
  return 0;
}

}  // namespace
}  // namespace impipe

int main(int count, char** words) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return at < count ? std::strtoull(words[at], nullptr, 10) : otherwise;
  };
  return impipe::run(std::max<std::uint64_t>(number(1, 1), 1), number(2, 100000000),
                     count > 3 ? words[3] : "");
}
