#include "boolgrad/circuit/formats/port_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

struct BitName {
  std::string_view bus;
  std::size_t bit = 0;
};

/// `a[3]` as bit 3 of `a`.
std::optional<BitName> bit_name(std::string_view name) {
  const std::size_t open = name.rfind('[');
  if (open == std::string_view::npos || open == 0 || !name.ends_with(']')) return std::nullopt;
  const std::string_view digits = name.substr(open + 1, name.size() - open - 2);
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  std::size_t bit = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bit);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return BitName{name.substr(0, open), bit};
}

}  // namespace

std::string PortGroup::title() const {
  return is_bus ? fmt::format("{}[{}:0]", name, positions.size() - 1) : name;
}

std::vector<PortGroup> port_groups(const std::vector<std::string>& names) {
  std::map<std::string_view, std::map<std::size_t, std::size_t>> buses;  // positions by bit
  std::set<std::string_view> others(names.begin(), names.end());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (const auto bit = bit_name(names[i])) buses[bit->bus].emplace(bit->bit, i);
  }
  std::erase_if(buses, [&](const auto& bus) {
    return bus.second.rbegin()->first + 1 != bus.second.size() || others.contains(bus.first);
  });
  std::vector<PortGroup> groups;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto bit = bit_name(names[i]);
    const auto bus = bit ? buses.find(bit->bus) : buses.end();
    if (bus == buses.end()) {
      groups.push_back({names[i], false, {i}});
      continue;
    }
    const auto first =
        std::ranges::min_element(bus->second, {}, [](const auto& entry) { return entry.second; });
    if (first->second != i) continue;
    PortGroup group{std::string(bit->bus), true, {}};
    for (const auto& [index, position] : bus->second) group.positions.push_back(position);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string assignment_text(const std::vector<std::string>& names,
                            const std::vector<bool>& values) {
  std::vector<std::string> parts;
  for (const PortGroup& group : port_groups(names)) {
    std::string bits;
    for (const std::size_t i : group.positions) bits.insert(0, 1, values[i] ? '1' : '0');
    parts.push_back(fmt::format("{} = {}", printable(group.title()), bits));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace boolgrad::circuit
