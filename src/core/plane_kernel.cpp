// Splits a kernel of images with several channels into one of planes.
#include "core/plane_kernel.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/expression.hpp"

namespace impipe {
namespace {

bool mixes(const Node& node) {
  const auto* point = std::get_if<Point>(&node.primitive);
  return point != nullptr && point->mixes_channels;
}

// Whether gray images take part beside coloured ones: a mask, a guide.
bool channels_differ(const KernelSpec& spec) {
  int channels = 0;
  for (const Node& node : spec.nodes) {
    if (node.is_measure) continue;
    if (channels != 0 && node.channels != channels) return true;
    channels = node.channels;
  }
  return false;
}

class Splitter {
 public:
  explicit Splitter(const KernelSpec& spec) : from_(spec) {
    const bool apart =
        std::any_of(spec.nodes.begin(), spec.nodes.end(), mixes) || channels_differ(spec);
    for (const Node& node : spec.nodes) {
      if (!apart) made_.spec.planes = std::max(made_.spec.planes, node.channels);
    }
  }

  PlaneKernel run() {
    for (std::size_t o = 0; o < from_.outputs.size(); ++o) {
      const int n = from_.outputs[o];
      const int channels = from_.nodes[static_cast<std::size_t>(n)].channels;
      // What all planes have in common is one channel; else each channel is an output.
      const int each = channels == made_.spec.planes ? 1 : channels;
      for (int c = 0; c < each; ++c) {
        made_.spec.outputs.push_back(node(n, c));
        made_.spec.output_channels.push_back(each == 1 ? own_channel : c);
        made_.outputs.push_back(static_cast<int>(o));
      }
    }
    return std::move(made_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error("a kernel can't be split into planes: " + why + "\n" + from_.key(),
                ExitCode::backend);
  }

  int channels_of(const Operand& operand) const {
    return operand.external ? from_.inputs[operand.index].channels
                            : from_.nodes[operand.index].channels;
  }

  // The operand's plane, or its values of a measurement, for channel `c` of its reader.
  Operand channel_of(const Operand& operand, int c) {
    const int channels = channels_of(operand);
    if (!operand.external) return {false, node(operand.index, channels == 1 ? 0 : c)};
    if (channels == made_.spec.planes) return input(operand.index, own_channel, 1);
    return channels == 1 ? input(operand.index, whole_image, 1) : input(operand.index, c, 1);
  }

  Operand input(int index, int channel, int channels) {
    const auto [known, is_new] =
        inputs_.try_emplace({index, channel, channels}, static_cast<int>(made_.spec.inputs.size()));
    if (is_new) {
      KernelInput one = from_.inputs[static_cast<std::size_t>(index)];
      one.channels = channels;
      one.channel = channel;
      made_.spec.inputs.push_back(one);
      made_.inputs.push_back(index);
    }
    return {true, known->second};
  }

  // The new node for channel `c` of node n; where no channels are mixed, one for all planes.
  int node(int n, int c) {
    const auto known = nodes_.find({n, c});
    if (known != nodes_.end()) return known->second;
    const Node& old = from_.nodes[static_cast<std::size_t>(n)];
    if (made_.spec.planes > 1 && old.channels != made_.spec.planes) {
      fail("node " + std::to_string(n) + " has " + std::to_string(old.channels) + " channels");
    }
    Node one = old;
    one.channels = 1;
    one.images.clear();
    one.measures.clear();
    if (mixes(old)) {
      one.images = mixed_images(old, c);
      std::get<Point>(one.primitive).mixes_channels = false;
    } else {
      for (const Operand& operand : old.images) one.images.push_back(channel_of(operand, c));
    }
    if (std::holds_alternative<Scalar>(old.primitive)) {
      for (const Operand& operand : old.measures) one.measures.push_back(taken(old, operand, c));
    }
    one.alike = alike(n, c);
    for (Argument& argument : one.arguments) {
      if (argument.source == Argument::Source::measured) point_at(argument, old, one, c);
    }
    const int made = static_cast<int>(made_.spec.nodes.size());
    made_.spec.nodes.push_back(std::move(one));
    nodes_[{n, c}] = made;
    return made;
  }

  // The plane of point n that is made already and has the arguments of channel c's; else -1.
  int alike(int n, int c) const {
    const Node& node = from_.nodes[static_cast<std::size_t>(n)];
    const bool apart = std::any_of(node.arguments.begin(), node.arguments.end(),
                                   [](const Argument& a) { return a.per_channel; });
    if (apart || mixes(node) || !std::holds_alternative<Point>(node.primitive)) return -1;
    for (int other = 0; other < c; ++other) {
      const auto known = nodes_.find({n, other});
      if (known != nodes_.end()) return known->second;
    }
    return -1;
  }

  // What a scalar node takes of a measurement: its own channel's values, or those of all channels
  // side by side where it has one channel.
  Operand taken(const Node& scalar, const Operand& operand, int c) {
    const int channels = channels_of(operand);
    if (scalar.channels == channels) return channel_of(operand, c);
    if (!operand.external) fail("a scalar takes several channels that the kernel itself measures");
    if (made_.spec.planes > 1) fail("a scalar takes another number of channels than it has");
    return input(operand.index, own_channel, channels);
  }

  // The images of a point that mixes channels, channel `c` of whose result is made: r, g and b of a
  // body, or of several images the one whose turn it is; of an expression one a variable that is no
  // place, in their order.
  std::vector<Operand> mixed_images(const Node& old, int c) {
    const Operand& colour = old.images.front();
    if (old.images.size() > 1 && std::get<Point>(old.primitive).expression == nullptr) {
      return {channel_of(old.images[static_cast<std::size_t>(c)], 0)};
    }
    const auto channel = [&](int k) {
      return channel_of(colour, std::min(k, channels_of(colour) - 1));
    };
    constexpr std::string_view behind_blue = "channel.";
    const Point& point = std::get<Point>(old.primitive);
    if (point.expression == nullptr) return {channel(0), channel(1), channel(2)};
    std::vector<Operand> images;
    std::size_t named = 1;
    for (const std::string& v : point.expression->variables()) {
      const auto place = std::find(std::begin(pixel_names), std::end(pixel_names), v);
      switch (place - std::begin(pixel_names)) {
        case 0: images.push_back(channel(c)); break;  // x
        case 1: images.push_back(channel(0)); break;  // r
        case 2: images.push_back(channel(1)); break;  // g
        case 3: images.push_back(channel(2)); break;  // b
        default:
          if (argument_index(v) >= 0) break;
          if (v.starts_with(behind_blue)) {  // no image's name has a dot
            images.push_back(channel(std::stoi(v.substr(behind_blue.size()))));
            break;
          }
          if (place == std::end(pixel_names)) images.push_back(channel_of(old.images[named++], c));
      }
    }
    return images;
  }

  // Points the argument at the measurement's values for channel `c` (of each channel its own), or
  // at those of channel 0, in a list of the node's own.
  void point_at(Argument& argument, const Node& old, Node& one, int c) {
    const Operand& from = old.measures.at(static_cast<std::size_t>(argument.measure));
    const int channels = channels_of(from);
    const bool own = argument.per_channel && old.channels > 1 && channels > 1;
    Operand at;
    if (own || channels == 1 || !from.external) {
      at = channel_of(from, own ? c : 0);
    } else {
      at = input(from.index, made_.spec.planes == 1 ? own_channel : 0,
                 made_.spec.planes == 1 ? channels : 1);
    }
    argument.per_channel = false;
    auto place = std::find(one.measures.begin(), one.measures.end(), at);
    if (place == one.measures.end()) place = one.measures.insert(place, at);
    argument.measure = static_cast<int>(place - one.measures.begin());
  }

  const KernelSpec& from_;
  PlaneKernel made_;
  std::map<std::tuple<int, int, int>, int> inputs_;  // index, channel, channels -> new index
  std::map<std::pair<int, int>, int> nodes_;         // node, channel -> new node
};

}  // namespace

PlaneKernel plane_kernel(const KernelSpec& spec) {
  if (!std::holds_alternative<OnHost>(spec.nodes.front().primitive)) return Splitter(spec).run();
  // Its kernels take all channels of its images.
  PlaneKernel made{.spec = spec, .inputs = {}, .outputs = {0}};
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) made.inputs.push_back(static_cast<int>(i));
  return made;
}

std::int64_t plane_of(int channel, std::int64_t item, int channels, int planes) {
  if (channel == own_channel && channels == planes) return item;
  const std::int64_t image = item / planes;
  return image * channels + std::max(channel, 0);
}

}  // namespace impipe
