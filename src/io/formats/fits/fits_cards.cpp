// FITS cards of a result: world coordinates (Greisen & Calabretta 2002) after a map of the pixels.
#include "io/formats/fits/fits_cards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

namespace impipe::io {
namespace {

std::string_view key_of(std::string_view card) {
  const std::string_view key = card.substr(0, std::min<std::size_t>(8, card.size()));
  const std::size_t end = key.find_last_not_of(' ');
  return end == key.npos ? std::string_view() : key.substr(0, end + 1);
}

std::optional<double> number_of(const std::vector<std::string>& cards, std::string_view key) {
  for (const std::string& card : cards) {
    if (key_of(card) != key || card.size() < 11) continue;
    std::string text = card.substr(10);
    std::ranges::replace(text, 'D', 'E');
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end != text.c_str()) return value;
  }
  return {};
}

void set_number(std::vector<std::string>& cards, std::string_view key, double value) {
  std::string text = fmt::format("{:<8}= {:>20}", key, fmt::format("{:.15G}", value));
  text.resize(card_length, ' ');
  for (std::string& card : cards) {
    if (key_of(card) != key) continue;
    card = text;
    return;
  }
  cards.push_back(std::move(text));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Of a key that begins so: what follows its numbers, "A" of "CRPIX1A"; nothing where it is another.
std::optional<std::string_view> suffix_of(std::string_view key, std::string_view begin) {
  if (!key.starts_with(begin)) return {};
  std::string_view rest = key.substr(begin.size());
  if (rest.empty() || !is_digit(rest.front())) return {};
  while (!rest.empty() && (is_digit(rest.front()) || rest.front() == '_')) rest.remove_prefix(1);
  return rest;
}

// Whether it belongs to coordinates beside the first ones, or to their distortion.
bool is_of_others(std::string_view key) {
  constexpr std::string_view first[] = {"CRPIX", "CRVAL", "CDELT", "CTYPE", "CUNIT", "CD", "PC"};
  for (const std::string_view begin : first) {
    const auto suffix = suffix_of(key, begin);
    if (suffix && !suffix->empty()) return true;
  }
  constexpr std::string_view distortions[] = {"A_", "B_",    "AP_",   "BP_",
                                              "PV", "CPDIS", "CQDIS", "DP"};
  return std::ranges::any_of(distortions, [&](std::string_view begin) {
    return key.starts_with(begin) && key.size() > begin.size() &&
           (is_digit(key[begin.size()]) || key.ends_with("ORDER"));
  });
}

bool is_of_first(std::string_view key) {
  constexpr std::string_view first[] = {"CRPIX", "CRVAL", "CDELT", "CTYPE",
                                        "CUNIT", "CROTA", "CD",    "PC"};
  return std::ranges::any_of(first, [&](std::string_view begin) {
    const auto suffix = suffix_of(key, begin);
    return suffix && suffix->empty();
  });
}

// p = M q + t: the FITS coordinates p in the input of q in the result. Both count from 1, rows from
// the lowest.
struct FitsMap {
  double m11 = 1, m12 = 0, m21 = 0, m22 = 1, t1 = 0, t2 = 0;

  FitsMap(const AffinePlace& place, Size before, Size after)
      : m11(place.a),
        m12(-place.b),
        m21(-place.d),
        m22(place.e),
        t1(-place.a + place.b * static_cast<double>(after.height) + place.c + 1),
        t2(static_cast<double>(before.height) + place.d -
           place.e * static_cast<double>(after.height) - place.f) {}
  double determinant() const { return m11 * m22 - m12 * m21; }
  bool is_shift() const { return m11 == 1 && m22 == 1 && m12 == 0 && m21 == 0; }
};

// Multiplies the matrix of keys such as CD1_1 by M; where it has none of them, by the identity.
void turn_matrix(std::vector<std::string>& cards, std::string_view name, double diagonal,
                 const FitsMap& map) {
  for (const int i : {1, 2}) {
    const std::string first = fmt::format("{}{}_1", name, i),
                      second = fmt::format("{}{}_2", name, i);
    const double x = number_of(cards, first).value_or(i == 1 ? diagonal : 0);
    const double y = number_of(cards, second).value_or(i == 2 ? diagonal : 0);
    set_number(cards, first, x * map.m11 + y * map.m21);
    set_number(cards, second, x * map.m12 + y * map.m22);
  }
}

// Whether the first coordinates could follow.
bool follow(std::vector<std::string>& cards, const FitsMap& map) {
  const double determinant = map.determinant();
  if (determinant == 0) return false;
  if (number_of(cards, "CROTA2").value_or(0) != 0 && !map.is_shift()) return false;
  const double x = number_of(cards, "CRPIX1").value_or(0) - map.t1;
  const double y = number_of(cards, "CRPIX2").value_or(0) - map.t2;
  set_number(cards, "CRPIX1", (map.m22 * x - map.m12 * y) / determinant);
  set_number(cards, "CRPIX2", (map.m11 * y - map.m21 * x) / determinant);
  if (map.is_shift()) return true;
  const bool has_cd = std::ranges::any_of(
      cards, [](const std::string& card) { return suffix_of(key_of(card), "CD").has_value(); });
  turn_matrix(cards, has_cd ? "CD" : "PC", has_cd ? 0 : 1, map);
  return true;
}

std::string text_card(std::string_view key, std::string_view value) {
  std::string out = fmt::format("{:<8}= '{:<8}'", key, value);
  out.resize(card_length, ' ');
  return out;
}

// The number of the axis that a card of the first coordinates is of, the higher one of a matrix's.
int axis_of(std::string_view key) {
  if (!is_of_first(key)) return 0;
  int out = 0, number = 0;
  for (const char c : key) {
    number = is_digit(c) ? 10 * number + (c - '0') : 0;
    out = std::max(out, number);
  }
  return out;
}

// The value of a card of text, without quotes and spaces.
std::string text_of_card(const std::vector<std::string>& cards, std::string_view key) {
  for (const std::string& card : cards) {
    if (key_of(card) != key || card.size() < 12 || card[10] != '\'') continue;
    const std::string_view text = std::string_view(card).substr(11, card.find('\'', 11) - 11);
    return std::string(text.substr(0, text.find_last_not_of(' ') + 1));
  }
  return {};
}

// The letters of so many axes from the third on, as they are read; a space where no card is of one.
std::string letters_of(const std::vector<std::string>& cards, int count) {
  std::string out;
  for (int number = 3; number < 3 + count; ++number) {
    const bool has_cards = std::ranges::any_of(
        cards, [&](const std::string& card) { return axis_of(key_of(card)) == number; });
    const std::string type = text_of_card(cards, fmt::format("CTYPE{}", number));
    out += has_cards ? free_letter(letter_of_type(type), out) : ' ';
  }
  return out;
}

// FITS' name of a unit.
std::string fits_unit(const std::string& unit) {
  if (unit == "angstrom") return "Angstrom";
  std::string out = symbol_of(unit);
  constexpr std::string_view micro = "µ";
  if (out.starts_with(micro)) out.replace(0, micro.size(), "u");
  return out;
}

}  // namespace

bool has_coordinates(const std::vector<std::string>& cards) {
  return std::ranges::any_of(cards,
                             [](const std::string& card) { return is_of_first(key_of(card)); });
}

std::vector<std::string> cards_of_axis(int number, const MeasuredAxis& axis, double first_pixel,
                                       double step) {
  std::string type = axis.name == "t" ? "TIME" : axis.name;
  std::ranges::transform(type, type.begin(), [](char c) { return c >= 'a' ? c - 32 : c; });
  std::vector<std::string> out{text_card(fmt::format("CTYPE{}", number), type)};
  if (!axis.unit.empty()) {
    out.push_back(text_card(fmt::format("CUNIT{}", number), fits_unit(axis.unit)));
  }
  set_number(out, fmt::format("CRPIX{}", number), first_pixel);
  set_number(out, fmt::format("CRVAL{}", number), axis.translation);
  set_number(out, fmt::format("CDELT{}", number), step);
  return out;
}

std::vector<std::string> cards_of_pages(std::vector<std::string> cards, const FileAxes& file) {
  const auto count = std::ssize(file.pages);
  const std::string letters = letters_of(cards, static_cast<int>(count));
  std::vector<std::string> own;  // of axes that have no cards
  std::vector<bool> stays(static_cast<std::size_t>(count));
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const PageAxis& axis = file.pages[static_cast<std::size_t>(count - 1 - i)];
    const int number = static_cast<int>(i) + 3;
    const std::string name(1, axis.letter);
    const bool is_same = letters[static_cast<std::size_t>(i)] == axis.letter;
    const auto step = number_of(cards, fmt::format("CDELT{}", number));
    if (is_same && axis.step != 0 && (step || axis.step == 1)) {
      stays[static_cast<std::size_t>(i)] = true;
      const std::string reference = fmt::format("CRPIX{}", number);
      const double at = number_of(cards, reference).value_or(0);
      if (axis.step != 1) set_number(cards, fmt::format("CDELT{}", number), *step * axis.step);
      if (axis.step != 1 || axis.first != 0) {
        set_number(cards, reference, (at - 1 - axis.first) / axis.step + 1);
      }
      continue;
    }
    const MeasuredAxis* measured = axis_named(file.measured, name);
    const bool is_plain = count == 1 && axis.letter == 'z' && measured == nullptr;
    if (is_plain) continue;  // as a cube is read
    const MeasuredAxis said = measured != nullptr ? *measured : MeasuredAxis{.name = name};
    for (std::string& card : cards_of_axis(number, said, 1, said.scale)) {
      own.push_back(std::move(card));
    }
  }
  std::erase_if(cards, [&](const std::string& card) {
    const int axis = axis_of(key_of(card));
    return axis > 2 && (axis - 3 >= count || !stays[static_cast<std::size_t>(axis - 3)]);
  });
  cards.insert(cards.end(), own.begin(), own.end());
  return cards;
}

std::vector<std::string> cards_after(const std::vector<std::string>& cards,
                                     const PixelChange& change, Lost& lost) {
  std::vector<std::string> out = cards;
  if (change.values) {
    std::erase_if(out, [](const std::string& card) {
      return key_of(card) == "DATAMIN" || key_of(card) == "DATAMAX";
    });
  }
  const bool known = change.before.pixels() > 0;
  if (!known || (!change.moved() && !change.resized())) return out;
  if (std::ranges::none_of(out,
                           [](const std::string& card) { return is_of_first(key_of(card)); })) {
    return out;
  }
  const auto lose = [&](auto which, const char* name) {
    const auto lost_cards =
        std::erase_if(out, [&](const std::string& card) { return which(key_of(card)); });
    if (lost_cards > 0) lost.emplace_back(name);
  };
  std::optional<FitsMap> map;
  if (change.place) map.emplace(*change.place, change.before, change.after);
  if (map && map->is_shift() && follow(out, *map)) return out;
  lose(is_of_others, "distortions and further world coordinates (WCS)");
  if (!map || !follow(out, *map)) lose(is_of_first, "world coordinates (WCS)");
  return out;
}

}  // namespace impipe::io
