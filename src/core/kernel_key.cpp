// The key of a kernel: everything its code depends on, as text that reads like the plan.
#include "core/expression.hpp"
#include "core/host_work.hpp"
#include "core/kernel_spec.hpp"
#include "core/primitive_facts.hpp"

namespace impipe {
namespace {

std::string mask_text(const Mask& mask) {
  std::string out = std::to_string(mask.width) + "x" + std::to_string(mask.height) + "@" +
                    std::to_string(mask.origin_x) + "," + std::to_string(mask.origin_y);
  if (mask.full()) return out;
  out += ":";
  for (int y = 0; y < mask.height; ++y) {
    if (y > 0) out += "/";
    for (int x = 0; x < mask.width; ++x) out += mask.at(x, y) ? "1" : "0";
  }
  return out;
}

template <class Filter>
std::string resize_text(const Filter& filter) {
  if (filter.grow_x == 0 && filter.grow_y == 0 && filter.shift_x == 0 && filter.shift_y == 0) {
    return "";
  }
  return " grow " + std::to_string(filter.grow_x) + "," + std::to_string(filter.grow_y) +
         " shift " + std::to_string(filter.shift_x) + "," + std::to_string(filter.shift_y);
}

std::string combine_text(Combine combine) {
  return combine == Combine::sum ? "weights " : combine == Combine::largest ? "max " : "min ";
}

template <class Tiles>
std::string tiles_text(const Tiles& t) {
  return std::to_string(t.across) + "x" + std::to_string(t.down) + " of " + std::to_string(t.bins);
}

std::string border_text(Border border) { return " " + std::string(name_of(border)); }

// The variables are listed: their order says which input each one is.
std::string expression_text(const Expression& expression) {
  std::string out = "'" + print_expression(expression) + "' of";
  for (const std::string& name : expression.variables()) out += " " + name;
  return out;
}

struct PrimitiveText {
  std::string operator()(const Point& p) const {
    std::string out = p.lookup            ? "lookup"
                      : p.body != nullptr ? p.body->name
                                          : expression_text(*p.expression);
    if (p.in_double) out += " in_double";
    if (p.in_table) out += " in_table";
    if (p.mixes_channels) out += " mixes_channels";
    return out;
  }
  std::string operator()(const Permute& p) const {
    std::string out = p.transpose ? "transpose" : "";
    if (p.flip_x) out += " flip_x";
    if (p.flip_y) out += " flip_y";
    return out;
  }
  std::string operator()(const Stencil& s) const {
    std::string out = s.body != nullptr ? s.body->name
                      : s.expression    ? expression_text(*s.expression) + " " + mask_text(s.taps)
                                        : combine_text(s.combine) + mask_text(s.taps);
    if (s.fourier_side > 0) out += " in tiles of " + std::to_string(s.fourier_side);
    return out + border_text(s.border) + resize_text(s);
  }
  std::string operator()(const Separable& s) const {
    return "row " + mask_text(s.row) + " column " + mask_text(s.column) + border_text(s.border) +
           resize_text(s) + (s.any_order ? " in any order" : "");
  }
  std::string operator()(const Extremum& e) const {
    return (e.largest ? "max " : "min ") + mask_text(e.mask);
  }
  std::string operator()(const Rank& r) const {
    const std::string what = r.entropy ? "entropy" : std::to_string(r.rank);
    return what + (r.average ? " average " : " of ") + mask_text(r.mask) +
           (r.offsets ? " offsets" : "") + border_text(r.border);
  }
  std::string operator()(const Reduce& r) const {
    if (r.expression) return expression_text(*r.expression);
    return (r.finite ? "finite " : "") + std::string(name_of(r.kind));
  }
  std::string operator()(const Histogram& h) const {
    return (h.expression                 ? expression_text(*h.expression)
            : h.rule == BinRule::centred ? "centred"
                                         : "codes") +
           " " + (h.tiles() > 1 ? tiles_text(h) : std::to_string(h.bins));
  }
  std::string operator()(const Select& s) const { return std::to_string(s.places); }
  std::string operator()(const Scalar& s) const {
    return std::string(s.body->name) + " " + std::to_string(s.results) +
           (s.groups > 1 ? " in " + std::to_string(s.groups) : "");
  }
  std::string operator()(const Distance& d) const {
    static constexpr const char* names[] = {"euclidean", "cityblock", "chessboard",
                                            "quasi_euclidean"};
    return std::string(names[static_cast<int>(d.metric)]) + (d.index ? " index" : "");
  }
  std::string operator()(const Project& p) const {
    static constexpr const char* names[] = {"none",   "ram_lak", "shepp_logan",
                                            "cosine", "hamming", "hann"};
    const std::string angles = std::to_string(p.angles) + " angles";
    if (!p.inverse) return angles;
    return angles + " " + names[static_cast<int>(p.filter)] + (p.linear ? " linear" : " nearest");
  }
  std::string operator()(const Diffuse&) const { return "floyd_steinberg"; }
  std::string operator()(const Label& l) const {
    static constexpr const char* names[] = {"components", "large",       "holes",
                                            "maxima",     "minima",      "reconstruct",
                                            "reach",      "first_areas", "flood"};
    return std::string(names[static_cast<int>(l.kind)]) + " " + std::to_string(l.connectivity);
  }
  std::string operator()(const Resample& r) const {
    static constexpr const char* kinds[] = {"resize ", "affine ", "projective "};
    static constexpr const char* methods[] = {"nearest",  "bilinear", "bicubic",
                                              "lanczos2", "lanczos3", "box"};
    // A view that is not given moves the places too (placement.hpp, is_plain_affine).
    return std::string(kinds[static_cast<int>(r.kind)]) + methods[static_cast<int>(r.method)] +
           (r.antialias ? " antialias" : "") +
           (r.beside == Resample::Beside::on_image ? " on image" : "") +
           (r.view == Resample::View::given ? "" : " viewed") +
           (r.phases > 0 ? " " + std::to_string(r.phases) + "/" + std::to_string(r.step) : "");
  }
  std::string operator()(const Window& w) const { return std::string(name_of(w.border)); }
  std::string operator()(const Morph& m) const {
    std::string out = m.in_fields ? "fields" : "whole";
    if (m.outside) out += " in ones";
    for (const Morph::Table& table : m.tables) {
      out += " ";
      for (std::size_t digit = 0; digit < table.size(); digit += 4) {
        int value = 0;
        for (std::size_t bit = 0; bit < 4; ++bit) value |= table[digit + bit] << bit;
        out += "0123456789abcdef"[value];
      }
    }
    return out;
  }
  std::string operator()(const Moments& m) const {
    return std::string(m.body != nullptr ? m.body->name : name_of(m.of)) + " " + mask_text(m.mask) +
           border_text(m.border);
  }
  std::string operator()(const BetweenTables& b) const { return tiles_text(b); }
  std::string operator()(const Objects&) const { return "records"; }
  std::string operator()(const OnHost& h) const { return h.work->text; }
};

std::string argument_text(const Argument& a) {
  static constexpr const char* names[] = {"c",      "m",          "width",    "height",
                                          "pixels", "rank_floor", "rank_ceil"};
  std::string out = names[static_cast<int>(a.source)];
  if (a.source == Argument::Source::measured) {
    out += std::to_string(a.measure) + "." + std::to_string(a.element);
    if (a.per_channel) out += "*";
  }
  return out;
}

std::string operand_text(const Operand& operand) {
  return (operand.external ? "in" : "n") + std::to_string(operand.index);
}

}  // namespace

std::string KernelSpec::key() const {
  std::string out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const KernelInput& input = inputs[i];
    out += "in" + std::to_string(i) + ": ";
    out += input.is_measure ? "measure " + std::to_string(input.values)
                            : std::string(name_of(input.cls));
    out += " x" + std::to_string(input.channels);
    if (input.channel == whole_image) out += " of its image";
    if (input.channel >= 0) out += " channel " + std::to_string(input.channel);
    out += "\n";
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    out += "n" + std::to_string(i) + ": " + std::string(name_of(node.primitive)) + " " +
           std::visit(PrimitiveText{}, node.primitive) + " (";
    bool comma = false;
    const auto separate = [&] {
      if (comma) out += ", ";
      comma = true;
    };
    for (const Operand& image : node.images) separate(), out += operand_text(image);
    for (const Operand& measure : node.measures) separate(), out += operand_text(measure);
    out += ") [";
    comma = false;
    for (const Argument& argument : node.arguments) separate(), out += argument_text(argument);
    out += "] -> ";
    out +=
        node.is_measure ? "measure " + std::to_string(node.values) : std::string(name_of(node.cls));
    out += " x" + std::to_string(node.channels);
    if (node.alike >= 0) out += " as n" + std::to_string(node.alike);
    out += "\n";
  }
  out += "out:";
  for (size_t i = 0; i < outputs.size(); ++i) {
    out += " n" + std::to_string(outputs[i]);
    if (!output_channels.empty() && output_channels[i] >= 0) {
      out += " channel " + std::to_string(output_channels[i]);
    }
  }
  return out;
}

}  // namespace impipe
