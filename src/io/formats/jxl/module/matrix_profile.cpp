// Reading the tags of an ICC profile (ISO 15076-1), and inverting its curves.
#include "io/formats/jxl/module/matrix_profile.hpp"

#include <algorithm>
#include <cmath>

#include "io/bytes/byte_source.hpp"

namespace impipe::io {
namespace {

// A number of 16 bits before and 16 behind the point.
double fixed_at(const std::string& tag, size_t at) {
  return static_cast<std::int32_t>(big_at(tag, at, 4)) / 65536.0;
}

// The content of a tag; empty where the profile has none of this name.
std::string tag_of(const std::string& icc, const char* name) {
  constexpr size_t table = 128, first = table + 4, entry_bytes = 12;
  const size_t room = icc.size() < first ? 0 : (icc.size() - first) / entry_bytes;
  const size_t count = std::min<size_t>(big_at(icc, table, 4), room);
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = first + entry_bytes * i;
    if (icc.compare(entry, 4, name) != 0) continue;
    const size_t at = big_at(icc, entry + 4, 4), size = big_at(icc, entry + 8, 4);
    return at < icc.size() ? icc.substr(at, size) : std::string();
  }
  return {};
}

}  // namespace

double ToneCurve::operator()(double value) const {
  if (table_.empty()) {
    return value >= d_ ? std::pow(std::max(a_ * value + b_, 0.0), gamma_) + e_ : c_ * value + f_;
  }
  const double at = std::clamp(value, 0.0, 1.0) * static_cast<double>(table_.size() - 1);
  const auto low = std::min(static_cast<size_t>(at), table_.size() - 2);
  return std::lerp(table_[low], table_[low + 1], at - static_cast<double>(low));
}

std::optional<ToneCurve> ToneCurve::of_tag(const std::string& tag) {
  ToneCurve out;
  if (tag.starts_with("curv")) {
    const size_t count = big_at(tag, 8, 4);
    if (count > (tag.size() - std::min<size_t>(tag.size(), 12)) / 2) return {};
    if (count == 1) out.gamma_ = static_cast<double>(big_at(tag, 12, 2)) / 256;
    for (size_t i = 0; count > 1 && i < count; ++i) {
      out.table_.push_back(static_cast<double>(big_at(tag, 12 + 2 * i, 2)) / 65535);
    }
    return out;
  }
  constexpr size_t counts[] = {1, 3, 4, 5, 7};
  const size_t kind = big_at(tag, 8, 2);
  if (!tag.starts_with("para") || kind > 4 || tag.size() < 12 + 4 * counts[kind]) return {};
  const auto number = [&](size_t i) { return fixed_at(tag, 12 + 4 * i); };
  out.gamma_ = number(0);
  if (kind >= 1) out.a_ = number(1), out.b_ = number(2);
  if (kind == 1 || kind == 2) out.d_ = out.a_ == 0 ? 0 : -out.b_ / out.a_;
  if (kind == 2) out.e_ = out.f_ = number(3);
  if (kind >= 3) out.c_ = number(3), out.d_ = number(4);
  if (kind == 4) out.e_ = number(5), out.f_ = number(6);
  return out;
}

std::optional<MatrixProfile> matrix_profile(std::span<const std::byte> icc) {
  const std::string text(text_of(icc));
  const bool gray = text.substr(std::min<size_t>(text.size(), 16), 4) == "GRAY";
  // A profile may have both, and then its tables count.
  if (!tag_of(text, "A2B0").empty()) return {};
  MatrixProfile out;
  for (const char* name : {"rTRC", "gTRC", "bTRC"}) {
    const std::optional<ToneCurve> curve = ToneCurve::of_tag(tag_of(text, gray ? "kTRC" : name));
    if (!curve) return {};
    out.curves.push_back(*curve);
  }
  if (gray) {
    out.curves.resize(1);
    return out;
  }
  out.chromaticities.emplace();
  for (size_t c = 0; c < 3; ++c) {
    static constexpr const char* names[] = {"rXYZ", "gXYZ", "bXYZ"};
    const std::string tag = tag_of(text, names[c]);
    const double x = fixed_at(tag, 8), y = fixed_at(tag, 12), sum = x + y + fixed_at(tag, 16);
    if (!(sum > 0)) return {};
    (*out.chromaticities)[c] = {x / sum, y / sum};
  }
  return out;
}

LightToPixel::LightToPixel(const ToneCurve& curve, int white) {
  float highest = -INFINITY;  // also of a curve that does not rise everywhere
  for (int k = 0; k < white; ++k) {
    highest = std::max(highest, static_cast<float>(curve((k + 0.5) / white)));
    bounds_.push_back(highest);
  }
}

int LightToPixel::operator()(float light) const {
  return static_cast<int>(std::upper_bound(bounds_.begin(), bounds_.end(), light) -
                          bounds_.begin());
}

}  // namespace impipe::io
