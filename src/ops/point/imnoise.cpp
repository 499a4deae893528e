// imnoise: noise of a generator that counts: a pixel's depends on its place and on the seed alone,
// so every device makes the same.
#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "ops/colour/channels.hpp"
#include "ops/images.hpp"

// Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011) of the counter
// (column, row, channel, kind of noise): its first word.
#define IMPIPE_PHILOX                                           \
  unsigned int c0 = (unsigned int)col;                          \
  unsigned int c1 = (unsigned int)row;                          \
  unsigned int c2 = (unsigned int)channel;                      \
  unsigned int c3 = (unsigned int)kind;                         \
  unsigned int k0 = (unsigned int)seed_low;                     \
  unsigned int k1 = (unsigned int)seed_high;                    \
  for (int round = 0; round < 10; ++round) {                    \
    const unsigned long even = (unsigned long)0xD2511F53u * c0; \
    const unsigned long odd = (unsigned long)0xCD9E8D57u * c2;  \
    c0 = (unsigned int)(odd >> 32) ^ c1 ^ k0;                   \
    c1 = (unsigned int)odd;                                     \
    c2 = (unsigned int)(even >> 32) ^ c3 ^ k1;                  \
    c3 = (unsigned int)even;                                    \
    k0 += 0x9E3779B9u;                                          \
    k1 += 0xBB67AE85u;                                          \
  }                                                             \
  const real word = (real)c0;
#define IMPIPE_UNIFORM const real u = (word + real(0.5)) * real(1.0 / 4294967296.0);

// z: the u-th quantile of the normal distribution (Wichura, Algorithm AS 241, PPND16, Applied
// Statistics 37, 1988), of + - * / and the root only. The logarithm of v = m 2^e by the series of
// the area tangent. Near the middle it is q a / b, in the tails c / d; both are computed and one is
// taken, since compilers vectorise choices and not branches, and a group of a GPU goes both ways
// anyway.
#define IMPIPE_DOUBLED(times, power)                   \
  e = m < real(1) / real(power) ? e - real(times) : e; \
  m = m < real(1) / real(power) ? m * real(power) : m;
#define IMPIPE_NORMAL                                                                             \
  const real q = u - real(0.5);                                                                   \
  const real r = real(0.180625) - q * q;                                                          \
  const real a = ((((((real(2509.0809287301226727) * r + real(33430.575583588128105)) * r +       \
                      real(67265.770927008700853)) *                                              \
                         r +                                                                      \
                     real(45921.953931549871457)) *                                               \
                        r +                                                                       \
                    real(13731.693765509461125)) *                                                \
                       r +                                                                        \
                   real(1971.5909503065514427)) *                                                 \
                      r +                                                                         \
                  real(133.14166789178437745)) *                                                  \
                     r +                                                                          \
                 real(3.387132872796366608);                                                      \
  const real b = ((((((real(5226.495278852854561) * r + real(28729.085735721942674)) * r +        \
                      real(39307.89580009271061)) *                                               \
                         r +                                                                      \
                     real(21213.794301586595867)) *                                               \
                        r +                                                                       \
                    real(5394.1960214247511077)) *                                                \
                       r +                                                                        \
                   real(687.1870074920579083)) *                                                  \
                      r +                                                                         \
                  real(42.313330701600911252)) *                                                  \
                     r +                                                                          \
                 real(1);                                                                         \
  real m = q < real(0) ? u : real(1) - u;                                                         \
  real e = real(0);                                                                               \
  IMPIPE_DOUBLED(16, 65536)                                                                       \
  IMPIPE_DOUBLED(16, 65536)                                                                       \
  IMPIPE_DOUBLED(8, 256)                                                                          \
  IMPIPE_DOUBLED(4, 16)                                                                           \
  IMPIPE_DOUBLED(2, 4)                                                                            \
  IMPIPE_DOUBLED(1, 2)                                                                            \
  e = m < real(0.7071067811865476) ? e - real(1) : e;                                             \
  m = m < real(0.7071067811865476) ? m * real(2) : m;                                             \
  const real f = (m - real(1)) / (m + real(1));                                                   \
  const real s = f * f;                                                                           \
  real p = real(1) / real(23);                                                                    \
  for (int i = 21; i >= 1; i -= 2) p = p * s + real(1) / (real)i;                                 \
  const real t = sqrt(-(e * real(0.6931471805599453) + (real(2) * f) * p)) - real(1.6);           \
  const real c = ((((((real(7.7454501427834140764e-4) * t + real(0.0227238449892691845833)) * t + \
                      real(0.24178072517745061177)) *                                             \
                         t +                                                                      \
                     real(1.27045825245236838258)) *                                              \
                        t +                                                                       \
                    real(3.64784832476320460504)) *                                               \
                       t +                                                                        \
                   real(5.7694972214606914055)) *                                                 \
                      t +                                                                         \
                  real(4.6303378461565452959)) *                                                  \
                     t +                                                                          \
                 real(1.42343711074968357734);                                                    \
  const real d = ((((((real(1.05075007164441684324e-9) * t + real(5.475938084995344946e-4)) * t + \
                      real(0.0151986665636164571966)) *                                           \
                         t +                                                                      \
                     real(0.14810397642748007459)) *                                              \
                        t +                                                                       \
                    real(0.68976733498510000455)) *                                               \
                       t +                                                                        \
                   real(1.6763848301838038494)) *                                                 \
                      t +                                                                         \
                  real(2.05319162663775882187)) *                                                 \
                     t +                                                                          \
                 real(1);                                                                         \
  const real middle = abs(q) <= real(0.425) ? real(1) : real(0);                                  \
  const real size = (middle > real(0) ? q * a : c) / (middle > real(0) ? b : d);                  \
  const real z = middle > real(0) ? size : q < real(0) ? -size : size;

// Expands those above before the text of the body is kept.
#define IMPIPE_NOISE_BODY(...) IMPIPE_POINT_BODY(__VA_ARGS__)

IMPIPE_NOISE_BODY(gaussian_noise, (x, col, row),
                  (seed_low, seed_high, channel, kind, white, mean, deviation), {
                    IMPIPE_PHILOX IMPIPE_UNIFORM IMPIPE_NORMAL const real v =
                        (x / white + mean) + deviation * z;
                    return clamp(v, real(0), real(1)) * white;
                  })
IMPIPE_NOISE_BODY(salt_noise, (x, col, row),
                  (seed_low, seed_high, channel, kind, white, pepper, salt), {
                    IMPIPE_PHILOX
                    return word < pepper ? real(0) : word < salt ? white : x;
                  })
IMPIPE_NOISE_BODY(speckle_noise, (x, col, row), (seed_low, seed_high, channel, kind, white, spread),
                  {
                    IMPIPE_PHILOX IMPIPE_UNIFORM const real v = x / white;
                    const real noise = spread * (u - real(0.5));
                    return clamp(v + noise * v, real(0), real(1)) * white;
                  })
// By inversion up to a mean of 50, then by the normal distribution with a correction of its skew.
IMPIPE_NOISE_BODY(poisson_noise, (x, col, row), (seed_low, seed_high, channel, kind, white, scale),
                  {
                    IMPIPE_PHILOX IMPIPE_UNIFORM const real events = x * scale;
                    const real lam = events > real(0) ? events : real(0);
                    real k = real(0);
                    if (lam < real(50)) {
                      const int whole = (int)lam;
                      const real rest = lam - (real)whole;
                      real p = real(1);
                      for (int i = 17; i >= 1; --i) p = real(1) - p * rest / (real)i;
                      real e = real(1);
                      for (int i = 0; i < whole; ++i) e = e * real(0.36787944117144233);
                      p = e * p;
                      real s = p;
                      for (int i = 1; i < 200 && u > s; ++i) {
                        p = p * lam / (real)i;
                        k = (real)i;
                        s = s + p;
                      }
                    } else {
                      IMPIPE_NORMAL
                      const real n =
                          floor(((lam + sqrt(lam) * z) + (z * z - real(1)) / real(6)) + real(0.5));
                      k = n > real(0) ? n : real(0);
                    }
                    const real v = k / scale / white;
                    return x == x ? clamp(v, real(0), real(1)) * white : x;
                  })

namespace impipe::ops {
namespace {

struct Noise {
  const PointBody& body;
  double kind;
  std::vector<double> numbers;  // the body's last parameters
};

// `imnoise salt 0.1`, as MATLAB has it: a number without a name is the first that its kind takes.
bool has_first_number(const Call& call) {
  if (!call.given("mean") || call.word("kind") == "gaussian") return false;
  const std::size_t begin = call.value("mean").span.begin;
  return begin == 0 || call.text()[begin - 1] != '=';
}

Noise noise_of(const Call& call, const ImageValue& image) {
  const std::string& kind = call.word("kind");
  const auto number = [&](std::string_view name, double otherwise) {
    if (call.has(name)) return call.number(name);
    return has_first_number(call) ? call.number("mean") : otherwise;
  };
  if (kind == "salt") {
    const double density = number("density", 0.05);
    return {bodies::salt_noise,
            1,
            {std::floor(density * 2147483648.0), std::floor(density * 4294967296.0)}};
  }
  if (kind == "speckle") {
    return {bodies::speckle_noise, 2, {std::sqrt(12 * number("variance", 0.05))}};
  }
  if (kind == "poisson") {
    return {bodies::poisson_noise, 3, {is_integer(image.type.cls) ? 1.0 : 1e6}};
  }
  return {bodies::gaussian_noise, 0, {number("mean", 0), std::sqrt(number("variance", 0.01))}};
}

void check_parameters(const Call& call, const ImageValue& image) {
  const std::string& kind = call.word("kind");
  if (image.type.cls == PixelClass::logical && kind != "salt") {
    call.fail("a logical image takes salt only");
  }
  const auto only = [&](std::string_view name, bool fits) {
    if (call.given(name) && !fits) call.fail(name, std::string(name) + " does not go with " + kind);
  };
  const bool first = has_first_number(call) && kind != "poisson";
  only("mean", kind == "gaussian" || first);
  if (first) {
    const std::string_view name = kind == "salt" ? "density" : "variance";
    if (call.given(name)) call.fail(name, std::string(name) + " is there twice");
    const Parameter& p = *std::find_if(call.op().parameters.begin(), call.op().parameters.end(),
                                       [&](const Parameter& q) { return q.name == name; });
    if (const double n = call.number("mean"); n < p.numbers.low || n > p.numbers.high) {
      call.fail("mean", std::string(name) + " goes from " + number_text(p.numbers.low) + " to " +
                            number_text(p.numbers.high));
    }
  }
  only("variance", kind == "gaussian" || kind == "speckle");
  only("density", kind == "salt");
}

ImageValue lower_imnoise(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  need_white(call, image);
  check_parameters(call, image);
  const Noise noise = noise_of(call, image);
  const double seed = call.number("seed"), high = std::floor(seed / 4294967296.0);
  std::vector<ImageValue> channels;
  for (int c = 0; c < image.type.channels; ++c) {
    const ImageValue one = image.type.channels == 1 ? image : picked_channel(plan, image, c);
    std::vector<Arg> args{seed - high * 4294967296.0, high, static_cast<double>(c), noise.kind,
                          image.type.white};
    args.insert(args.end(), noise.numbers.begin(), noise.numbers.end());
    channels.push_back(plan.point(
        Point{.body = &noise.body, .in_double = true},
        {one, place_image(plan, one, "col"), place_image(plan, one, "row")}, args, like(image)));
  }
  return channels.size() == 1 ? channels.front() : joined_channels(plan, channels);
}

const RegisterOperator imnoise_operator{{
    .name = "imnoise",
    .help = "add noise: gaussian, salt and pepper, speckle or poisson",
    .parameters =
        {{.name = "kind",
          .help = "of the noise; salt: salt and pepper",
          .words = {"gaussian", "salt", "speckle", "poisson"},
          .fallback = "gaussian"},
         {.name = "mean",
          .help = "of gaussian noise, on the unit scale; 0 when not given",
          .numbers = {.max_count = 1, .low = -100, .high = 100}},
         {.name = "variance",
          .help = "on the unit scale; gaussian: 0.01, speckle: 0.05 when not given",
          .numbers = {.max_count = 1, .low = 0, .high = 100}},
         {.name = "density",
          .help = "part of the pixels that become 0 or white; 0.05 when not given",
          .numbers = {.max_count = 1, .low = 0, .high = 1}},
         {.name = "seed",
          .help = "another seed, other noise; the same for every file of a run",
          .numbers = {.max_count = 1, .integer = true, .low = 0, .high = 9007199254740991},
          .fallback = "1"}},
    .details =
        "Philox4x32-10 with the seed as key and (column, row, channel, kind) as counter gives u\n"
        "in (0, 1), z its normal quantile (AS 241). v = x / white: gaussian v + mean +\n"
        "sqrt(variance) z; salt: half of the density becomes 0, half white; speckle v + v\n"
        "sqrt(12 variance) (u - 0.5); poisson: as many events as a Poisson variable of mean x "
        "(1e6\n"
        "x for single). Clamped to [0, white], in double: the same bits on every device.",
    .example = "imnoise salt density=0.1",
    .accuracy = "exact; single 1e-6",
    .not_finite = {NotFinite::Rule::propagated, "salt writes over it as over others"},
    .matlab = "imnoise(A,type,...) (other random numbers; \"salt & pepper\" is salt here)",
    .lower = lower_imnoise,
}};

}  // namespace
}  // namespace impipe::ops
