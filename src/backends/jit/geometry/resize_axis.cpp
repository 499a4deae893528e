// One direction of a resize in kernel text.
#include "backends/jit/geometry/resize_axis.hpp"

#include <algorithm>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {

ResizeAxes resize_axes(const LaunchContext& at, int n) {
  return resize_axes(at.node(n), at.size_of(at.node(n).images[0]));
}

std::string ResizeAxisText::number(const std::string& what, Number number,
                                   ParameterType type) const {
  const int n = n_;
  const auto which = which_;
  return builder_.parameter(type, Builder::name({false, n}) + "_" + what + "_" + label_,
                            [n, which, number = std::move(number)](const LaunchContext& at, int) {
                              return number(resize_axes(at, n).*which);
                            });
}

std::string ResizeAxisText::body(const PointBody& body, const std::string& arguments) const {
  std::vector<std::string> parameters = names_in(body.input_names);
  for (const std::string& p : names_in(body.parameter_names)) parameters.push_back(p);
  builder_.body_once(body.name,
                     after_line(body_function(body.name, "double", "", parameters, body.text)));
  return std::string(body.name) + "(" + arguments + ")";
}

std::string ResizeAxisText::copied(const std::string& k) const {
  const std::string scale = real("scale", [](const ResizeAxis& a) { return a.scale; });
  const std::string last = real("last", [](const ResizeAxis& a) { return a.from - 1; });
  return body(resize_copied_body(), "(double)" + k + ", " + scale + ", " + last);
}

std::string ResizeAxisText::begin(const std::string& k) const {
  const std::string scale = real("scale", [](const ResizeAxis& a) { return a.scale; });
  const std::string before = real("before", [](const ResizeAxis& a) { return a.before; });
  return body(resize_first_body(), "(double)" + k + ", " + scale + ", " + before);
}

std::string ResizeAxisText::weight(const std::string& k, const std::string& t) const {
  const std::string own = undivided(k, t);
  return sums_.empty() ? own : "(" + own + " / " + sums_ + "[" + k + "])";
}

void ResizeAxisText::write_sums(const LaunchTest& wanted, int multiple) {
  if (!normalises(std::get<Resample>(builder_.node(n_).primitive).method)) return;
  constexpr int items = 128;
  const std::string own = Builder::name({false, n_}) + "_sums_" + label_ +
                          (multiple == 1 ? "" : "_of_" + std::to_string(multiple));
  const ResizeAxisText text = *this;
  const auto count = [text, wanted, multiple](const LaunchContext& at) {
    const std::int64_t outputs = text.at(at).to;
    return wanted && !wanted(at) ? 0 : (outputs + multiple - 1) / multiple * multiple;
  };
  const std::string sums = builder_.scratch(own, "double", [count](const LaunchContext& at) {
    return std::max<std::int64_t>(count(at) * 8, row_alignment);
  });
  const std::string outputs = builder_.integer(own + "_count", count);
  builder_.kernel(own, items,
                  filled(part(kernels::resize, "sums"), {{"items", std::to_string(items)},
                                                         {"outputs", outputs},
                                                         {"taps", taps()},
                                                         {"weight", undivided("k", "t")},
                                                         {"sums", sums}}),
                  launch_items(count, items));
  sums_ = sums;
}

std::string ResizeAxisText::undivided(const std::string& k, const std::string& t) const {
  const Resample::Method method = std::get<Resample>(builder_.node(n_).primitive).method;
  const std::string scale = real("scale", [](const ResizeAxis& a) { return a.scale; });
  const std::string narrow = real("narrow", [](const ResizeAxis& a) { return a.narrow; });
  const std::string before = real("before", [](const ResizeAxis& a) { return a.before; });
  return body(resize_weight_body(method),
              "(double)" + k + ", (double)" + t + ", " + scale + ", " + narrow + ", " + before);
}

}  // namespace impipe::jit
