// Error diffusion as text: a sub-group of work-items follows 64 rows as a slanted front, two rows
// an item, each two columns behind the one above; bands of 64 rows follow one another on many
// groups.
//
// One launch. A group takes the next band by a ticket, so it only ever waits for bands that began
// before its own (docs/decisions/0009). A band leaves the errors of its last row in memory that was
// zeros, bitwise complemented, so that a word that is not 0 is the message and the signal at once.
#include <algorithm>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/sub_group.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/transform.hpp"

namespace impipe::jit {
namespace {

constexpr int rows = 64;   // of a band
constexpr int steps = 16;  // of a front, between two barriers
constexpr int pitch = 66;  // doubles from one step's values to the next, so that banks differ
constexpr int lag = 2 * (rows - 1);  // steps after the first until the last row starts

// A front of some steps, by the work-items of a sub-group; where all rows lie inside, and
// elsewhere.
struct FrontText {
  std::string inside, at_edge;
};

// A pixel over white; of bytes from a table.
std::string scaled(bool bytes, const std::string& held, const std::string& white) {
  return bytes ? "scaled[" + held + "]" : "(double)" + held + " / " + white;
}

FrontText front_text(const std::string& unroll, const std::string& width) {
  const auto front = [&](const char* edge) {
    return filled(part(kernels::diffuse, "step"), {{"unroll", unroll},
                                                   {"steps", std::to_string(steps)},
                                                   {"half_pitch", std::to_string(pitch / 2)},
                                                   {"width", width},
                                                   {"edge", edge}});
  };
  return {front("0"), front("1")};
}

}  // namespace

void write_diffuse(Builder& builder, int n) {
  const Operand image = builder.node(n).images[0];
  const std::string name = Builder::name({false, n});
  const bool alone = !builder.features().split_groups;
  // The first sub-group works on the front, others feed it, the last waits for the band above; a
  // lone sub-group does all of it.
  const int feeders = alone ? sub_group_items : 256;
  const int items = alone ? sub_group_items : sub_group_items + feeders + sub_group_items;
  const auto bands = [image](const LaunchContext& at) {
    return (at.size_of(image).height + rows - 1) / rows;
  };
  const std::string width = builder.width(image), white = builder.argument(n, 0, "white", "double");
  const std::string unroll = alone ? "" : builder.unroll();
  const FrontText front = front_text(unroll, width);
  const PlaneText in = builder.plane(image);
  const bool bytes = bytes_of(builder.cls(image)) == 1;
  builder.body_once("sub_group", sub_group_words(builder.dialect()));
  builder.body(filled(part(kernels::diffuse, "take")));
  const std::string errors = builder.scratch(
      name + "_errors", "unsigned long",
      [image, bands](const LaunchContext& at) { return 8 * at.size_of(image).width * bands(at); },
      true);
  const std::string tickets = builder.scratch(
      name + "_tickets", "uint", [](const LaunchContext&) { return 4; }, true);
  builder.kernel(
      name + "_bands", items,
      filled(part(kernels::diffuse, "bands"),
             {{"steps", std::to_string(steps)},
              {"pitch", std::to_string(pitch)},
              {"half_pitch", std::to_string(pitch / 2)},
              {"bytes", bytes ? "1" : "0"},
              {"items", std::to_string(items)},
              {"white", white},
              {"first_feeder", std::to_string(alone ? 0 : sub_group_items)},
              {"width", width},
              {"height", builder.height(image)},
              {"lag", std::to_string(lag)},
              {"tickets", tickets},
              {"bands", builder.integer(name + "_bands", bands)},
              {"errors", errors},
              {"errors_pitch", width},
              {"rows", std::to_string(rows)},
              {"feeders", std::to_string(feeders)},
              {"unroll", unroll},
              {"first", scaled(bytes, "held[2 * k]", white)},
              {"second", scaled(bytes, "held[2 * k + 1]", white)},
              {"pixel", "(" + in.row("y") + ")"},
              {"type", type_of(builder.cls(image))},
              {"slots", std::to_string(rows * steps / 2 / feeders)},
              {"first_poller", std::to_string(alone ? 0 : sub_group_items + feeders)},
              {"out", builder.plane({false, n}).row("y")},
              {"step", front.inside},
              {"step_at_edge", front.at_edge}}),
      [bands, items, most = builder.tuning().waiting_groups](const LaunchContext& at) {
        return LaunchShape{{std::min<std::int64_t>(bands(at), most), 1, 1}, {items, 1, 1}};
      });
}

}  // namespace impipe::jit
