#include "boolgrad/circuit/formats/net_names.h"

#include <fmt/format.h>

#include <algorithm>

namespace boolgrad::circuit {
namespace {

// The functions of <cctype> depend on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// `[3]` at the end of a name, else empty.
std::string_view index_of(std::string_view name) {
  const std::size_t open = name.rfind('[');
  if (open == std::string_view::npos || open == 0 || !name.ends_with(']')) return "";
  const std::string_view digits = name.substr(open + 1, name.size() - open - 2);
  return !digits.empty() && std::ranges::all_of(digits, is_digit) ? name.substr(open) : "";
}

}  // namespace

std::string identifier(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (!is_digit(c) && !is_letter(c)) c = '_';
  }
  if (result.empty() || is_digit(result[0])) result.insert(result.begin(), '_');
  return result;
}

std::string NetNames::take(std::string_view wanted) {
  const std::string_view index = keeps_indices_ ? index_of(wanted) : "";
  const std::string base =
      identifier(wanted.substr(0, wanted.size() - index.size())) + std::string(index);
  std::string name = base;
  for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

std::vector<std::string> NetNames::take_all(const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  for (const std::string& name : wanted) names.push_back(take(name));
  return names;
}

std::string free_prefix(const std::vector<std::string>& names, std::string stem) {
  const auto begins = [&](const std::string& name) { return name.starts_with(stem); };
  while (std::ranges::any_of(names, begins)) stem += '_';
  return stem;
}

}  // namespace boolgrad::circuit
