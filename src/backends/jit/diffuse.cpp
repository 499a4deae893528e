// Error diffusion as text: a wave of work-items follows 64 rows as a slanted front, two rows an
// item, each two columns behind the one above; bands of 64 rows follow one another on many groups.
//
// One launch. A group takes the next band by a ticket, so it only ever waits for bands that began
// before its own (docs/decisions/0014). A band leaves the errors of its last row in memory that was
// zeros, as bits turned over, so that a word that is not 0 is the message and the signal at once.
#include <algorithm>

#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "backends/jit/wave.hpp"

namespace impipe::jit {
namespace {

constexpr int rows = 64;   // of a band
constexpr int steps = 16;  // of a front, between two barriers
constexpr int pitch = 66;  // doubles from one step's values to the next, so that banks differ
constexpr int lag = 2 * (rows - 1);  // steps after the first until the last row starts

constexpr const char* take_function = R"(
FUNCTION int take_band(IN_LOCAL int* taken, GLOBAL uint* tickets) {
  BARRIER;
  if (ITEM == 0) *taken = (int)ADD_GLOBAL(tickets, 1u);
  GLOBAL_BARRIER;
  return *taken;
}
// Errors are never all ones, which would be a NaN that no arithmetic makes.
FUNCTION double await_error(GLOBAL volatile unsigned long* place) {
  unsigned long bits = *place;
  while (bits == 0) bits = *place;
  return BITS_DOUBLE(~bits);
}
FUNCTION void send_error(GLOBAL volatile unsigned long* place, const double error) {
  *place = ~DOUBLE_BITS(error);
}
)";

// One pixel of each of an item's two rows, a over b. The order of the additions is that of the
// raster loop.
constexpr const char* step_text = R"(      for (int s = 0; s < $steps; ++s) {
        const double right_a = lane == 0 ? over_band[s] : before, right_b = here_a;
        double2 v = front[s * $half_pitch];
        v.x = (((v.x + left_a * 0.0625) + over_a * 0.3125) + right_a * 0.1875) + here_a * 0.4375;
        v.y = (((v.y + left_b * 0.0625) + over_b * 0.3125) + right_b * 0.1875) + here_b * 0.4375;
        front[s * $half_pitch] = v;
        here_a = v.x >= 0.5 ? v.x - 1.0 : v.x;
        here_b = v.y >= 0.5 ? v.y - 1.0 : v.y;
$outside        left_a = over_a;
        left_b = over_b;
        over_a = right_a;
        over_b = right_b;
        before = wave_lane_before(WAVE_GIVE, here_b, s % 2);
      }
)";

// A row that has not begun, or has ended, has no errors.
constexpr const char* drop_outside = R"(        const int column = chunk * $steps + s - 4 * lane;
        here_a = column >= 0 && column < $width ? here_a : 0.0;
        here_b = column >= 2 && column < $width + 2 ? here_b : 0.0;
)";

// In turn of chunk, the front's values of `steps` steps: read pixels into the chunk after it, write
// those of the chunk before it, work on it. Values lie as [chunk % 2][step][row].
constexpr const char* kernel_text = R"(  WAVE_MEMORY;
  LOCAL double2 values[$steps * $pitch];
  LOCAL double over_bands[2 * $steps];
  LOCAL int taken;
$table  const int lane = ITEM % 32, feeder = ITEM - $first_feeder, poller = ITEM - $first_poller;
  const int chunks = ($width + $lag + $steps - 1) / $steps;
  for (int band = take_band(&taken, $tickets); band < $bands;
       band = take_band(&taken, $tickets)) {
    GLOBAL unsigned long* const errors = $errors + (long)band * $errors_pitch;
    GLOBAL unsigned long* const errors_over = errors - $errors_pitch;
    double here_a = 0.0, over_a = 0.0, left_a = 0.0, here_b = 0.0, over_b = 0.0, left_b = 0.0;
    double before = 0.0;
    if (ITEM == 0 && band > 0) over_a = await_error(errors_over);
    // Pixels of the next chunk: those of the first one, as far as there are any.
    $type held[2 * $slots];
    for (int k = 0; k < $slots; ++k) {
      const int i = feeder + k * $feeders;
      const int row = i / ($steps / 2), next = i % ($steps / 2) * 2 - 2 * row, y = band * $rows + row;
      const bool inside = feeder >= 0 && feeder < $feeders && y < $height && next >= 0 && next < $width;
      held[2 * k] = inside ? $pixel[next] : ($type)0;
      held[2 * k + 1] = inside ? $pixel[next + 1] : ($type)0;
    }
    for (int chunk = -1; chunk <= chunks; ++chunk) {
      if (feeder >= 0 && feeder < $feeders) {
        IN_LOCAL double* const other = (IN_LOCAL double*)values + (chunk + 1) % 2 * $steps * $pitch;
$unroll        for (int k = 0; k < $slots; ++k) {
          const int i = feeder + k * $feeders;
          const int row = i / ($steps / 2), s = i % ($steps / 2) * 2, y = band * $rows + row;
          IN_LOCAL double* const place = other + s * $pitch + row;
          const int last = (chunk - 1) * $steps + s - 2 * row;
          if (y < $height && last >= 0 && last < $width) {
            const double done = place[0], also_done = place[$pitch];
            const bool white = done >= 0.5, also_white = also_done >= 0.5;
            *(GLOBAL ushort*)($out + last) = (ushort)((white ? 1u : 0u) | (also_white ? 256u : 0u));
            if (row == $rows - 1 && band + 1 < $bands) {
              send_error(errors + last, white ? done - 1.0 : done);
              if (last + 1 < $width) {
                send_error(errors + last + 1, also_white ? also_done - 1.0 : also_done);
              }
            }
          }
          place[0] = $first;
          place[$pitch] = $second;
          // The pixels of the chunk after the next, which so have a chunk's time to come.
          const int next = (chunk + 2) * $steps + s - 2 * row;
          const bool inside = y < $height && next >= 0 && next < $width;
          held[2 * k] = inside ? $pixel[next] : ($type)0;
          held[2 * k + 1] = inside ? $pixel[next + 1] : ($type)0;
        }
      }
      if (poller >= 0 && poller < $steps) {
        const int column = (chunk + 1) * $steps + poller + 1;
        over_bands[(chunk + 1) % 2 * $steps + poller] =
            band > 0 && column < $width ? await_error(errors_over + column) : 0.0;
      }
      if (chunk >= 0 && chunk < chunks && ITEM < 32) {
        IN_LOCAL double2* const front =
            values + chunk % 2 * ($steps * $half_pitch) + lane;
        IN_LOCAL const double* const over_band = over_bands + chunk % 2 * $steps;
        if (chunk * $steps >= $lag && (chunk + 1) * $steps <= $width) {
$inside        } else {
$edge        }
      }
      BARRIER;
    }
  }
)";

constexpr const char* table_text = R"(  LOCAL double scaled[256];
  for (int i = ITEM; i < 256; i += $items) scaled[i] = (double)i / $white;
)";

}  // namespace

void write_diffuse(Builder& to, int n) {
  const Operand image = to.node(n).images[0];
  const std::string name = Builder::name({false, n});
  const bool opencl = to.dialect() != Dialect::cuda;
  // The first wave works on the front, others feed it, the last waits for the band above; a lone
  // wave does all of it.
  const int feeders = opencl ? wave_items : 256;
  const int items = opencl ? wave_items : wave_items + feeders + wave_items;
  const auto bands = [image](const LaunchContext& at) {
    return (at.size_of(image).height + rows - 1) / rows;
  };
  const auto number = [&](const std::string& label, auto value) {
    return to.parameter(
        ParameterType::int32, name + "_" + label,
        [value](const LaunchContext& at, int) { return static_cast<double>(value(at)); });
  };
  const std::string width = to.width(image), white = to.argument(n, 0, "white", "double", "0");
  const std::string step_count = std::to_string(steps), half_pitch = std::to_string(pitch / 2);
  const auto front = [&](bool inside) {
    const std::string outside =
        inside ? "" : filled(drop_outside, {{"steps", step_count}, {"width", width}});
    return (to.tuning().unroll && !opencl ? "#pragma unroll\n" : "") +
           filled(step_text,
                  {{"steps", step_count}, {"half_pitch", half_pitch}, {"outside", outside}});
  };
  const PlaneText in = to.plane(image);
  const bool bytes = bytes_of(to.cls(image)) == 1;
  const auto scaled = [&](const std::string& held) {
    return bytes ? "scaled[" + held + "]" : "(double)" + held + " / " + white;
  };
  to.body_once("wave", wave_words(to.dialect()));
  to.body(take_function);
  const std::string errors = to.scratch(
      name + "_errors", "unsigned long",
      [image, bands](const LaunchContext& at) { return 8 * at.size_of(image).width * bands(at); },
      true);
  const std::string tickets = to.scratch(
      name + "_tickets", "uint", [](const LaunchContext&) { return 4; }, true);
  to.kernel(
      name + "_bands", items,
      filled(
          kernel_text,
          {{"steps", step_count},
           {"pitch", std::to_string(pitch)},
           {"half_pitch", half_pitch},
           {"table",
            bytes ? filled(table_text, {{"items", std::to_string(items)}, {"white", white}}) : ""},
           {"first_feeder", std::to_string(opencl ? 0 : wave_items)},
           {"width", width},
           {"height", to.height(image)},
           {"lag", std::to_string(lag)},
           {"tickets", tickets},
           {"bands", number("bands", bands)},
           {"errors", errors},
           {"errors_pitch", width},
           {"rows", std::to_string(rows)},
           {"feeders", std::to_string(feeders)},
           {"unroll", to.tuning().unroll && !opencl ? "#pragma unroll\n" : ""},
           {"first", scaled("held[2 * k]")},
           {"second", scaled("held[2 * k + 1]")},
           {"pixel", "(" + in.row("y") + ")"},
           {"type", type_of(to.cls(image))},
           {"slots", std::to_string(rows * steps / 2 / feeders)},
           {"first_poller", std::to_string(opencl ? 0 : wave_items + feeders)},
           {"out", to.plane({false, n}).row("y")},
           {"inside", front(true)},
           {"edge", front(false)}}),
      [bands, items, most = to.tuning().waiting_groups](const LaunchContext& at) {
        return LaunchShape{{std::min<std::int64_t>(bands(at), most), 1, 1}, {items, 1, 1}};
      });
}

}  // namespace impipe::jit
