#include "boolgrad/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>
#include <utility>
#include <vector>

namespace boolgrad {
namespace {

/// The Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view received,
                                        std::span<const std::string> names) {
  const auto distance = [&](const std::string& name) { return edit_distance(received, name); };
  const auto nearest = std::ranges::min_element(names, {}, distance);
  if (nearest == names.end() || distance(*nearest) > nearest->size() / 2) return std::nullopt;
  return *nearest;
}

std::string alternatives(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  while (max_bytes > 0 && continues(text[max_bytes])) --max_bytes;
  return text.substr(0, max_bytes);
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t i = 0;
  while (i < text.size()) {
    const unsigned first = byte(i);
    const std::size_t length = first < 0x80U   ? 1
                               : first < 0xC2U ? 0
                               : first < 0xE0U ? 2
                               : first < 0xF0U ? 3
                               : first < 0xF5U ? 4
                                               : 0;
    if (length == 0 || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0U) != 0x80U) return i;
    }
    const unsigned second = length > 1 ? byte(i + 1) : 0;
    // Overlong forms, surrogates and numbers beyond U+10FFFF.
    const bool invalid = (first == 0xE0U && second < 0xA0U) || (first == 0xEDU && second > 0x9FU) ||
                         (first == 0xF0U && second < 0x90U) || (first == 0xF4U && second > 0x8FU);
    if (invalid) return i;
    i += length;
  }
  return std::nullopt;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string result;
  // Reads up to four bytes beyond the limit, so that the cut does not look like a mistake.
  std::string_view rest = text.substr(0, max_bytes + 4);
  while (!rest.empty()) {
    const std::size_t valid = first_invalid_utf8(rest).value_or(rest.size());
    for (const char c : rest.substr(0, valid)) {
      const bool is_control = (c >= 0 && c < ' ') || c == '\x7F';
      result += is_control ? '?' : c;
    }
    rest.remove_prefix(valid);
    if (rest.empty()) break;
    result += fmt::format("\\x{:02X}", static_cast<unsigned char>(rest.front()));
    rest.remove_prefix(1);
  }
  return std::string(utf8_prefix(result, max_bytes));
}

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string result;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
    const auto width = static_cast<std::size_t>(std::ranges::count_if(word, is_start));
    if (!result.empty() && used + 1 + width > columns) {
      result += "\n  ";
      used = 2;
    } else if (!result.empty()) {
      result += ' ';
      ++used;
    }
    result += word;
    used += width;
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return result;
}

std::string file_name_of(std::string_view text) {
  constexpr std::size_t longest = 100;
  // The first bytes of U+0080 to U+009F, and of U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
  const auto changes_text = [](std::string_view rest) {
    if (rest.starts_with("\xC2"))
      return rest.size() > 1 && static_cast<unsigned char>(rest[1]) < 0xA0;
    if (rest.size() < 3 || !rest.starts_with("\xE2")) return false;
    const auto last = static_cast<unsigned char>(rest[2]);
    if (rest[1] == '\x80') return last == 0x8E || last == 0x8F || (last >= 0xAA && last <= 0xAE);
    return rest[1] == '\x81' && last >= 0xA6 && last <= 0xA9;
  };
  std::string name;
  std::string_view rest = utf8_prefix(text, longest);
  while (!rest.empty()) {
    const char c = rest.front();
    const std::size_t bytes = changes_text(rest) ? (c == '\xC2' ? 2 : 3) : 1;
    const bool refused = bytes > 1 || (c >= 0 && c < ' ') || c == '\x7F' || c == '/' || c == '\\' ||
                         (c == '.' && name.empty());
    name += refused ? '-' : c;
    rest.remove_prefix(bytes);
  }
  return name.empty() ? "unnamed" : name;
}

std::optional<std::size_t> parse_bytes(std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  std::string unit(rest, text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' '));
  for (char& letter : unit) letter = static_cast<char>(std::tolower(letter));
  constexpr std::array<std::pair<std::string_view, double>, 10> units{{{"", 1},
                                                                       {"b", 1},
                                                                       {"kb", 1e3},
                                                                       {"mb", 1e6},
                                                                       {"gb", 1e9},
                                                                       {"tb", 1e12},
                                                                       {"kib", 0x1p10},
                                                                       {"mib", 0x1p20},
                                                                       {"gib", 0x1p30},
                                                                       {"tib", 0x1p40}}};
  for (const auto& [name, factor] : units) {
    if (unit == name && value * factor < 0x1p62) return static_cast<std::size_t>(value * factor);
  }
  return std::nullopt;
}

std::string bytes_text(std::size_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value < 1e3) return fmt::format("{} bytes", bytes);
  for (const auto& [unit, size] : {std::pair{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}}) {
    if (value < size * 999.5) {
      return value < size * 9.95 ? fmt::format("{:.1f} {}", value / size, unit)
                                 : fmt::format("{:.0f} {}", value / size, unit);
    }
  }
  return fmt::format("{:.0f} TB", value / 1e12);
}

}  // namespace boolgrad
