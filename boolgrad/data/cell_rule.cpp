#include "boolgrad/data/cell_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <regex>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::data {
namespace {

constexpr std::string_view where = "rule";
constexpr std::size_t centre = 4;
constexpr std::size_t table_digits = 128;

std::string digits_of(unsigned counts) {
  std::string digits;
  for (unsigned n = 0; n <= 8; ++n) {
    if ((counts >> n & 1) != 0) digits += static_cast<char>('0' + n);
  }
  return digits;
}

std::string name_of(const NeighbourCounts& counts, int states) {
  return fmt::format("B{}/S{}{}{}", digits_of(counts.birth), digits_of(counts.survival),
                     states > 2 ? fmt::format("/{}", states) : "",
                     counts.orthogonal_only ? "V" : "");
}

std::int64_t neighbourhoods_of(int states) {
  if (states < 2 || states > max_cell_states) {
    fail(where, "expected 2 to {} states, received {}", max_cell_states, states);
  }
  std::int64_t count = 1;
  for (int cell = 0; cell < 9; ++cell) count *= states;
  return count;
}

unsigned counts_in(const std::string& digits) {
  unsigned counts = 0;
  for (const char digit : digits) counts |= 1U << (digit - '0');
  return counts;
}

/// Why a text in another notation is refused; empty if it is in none that is known.
std::string why_refused(const std::string& text) {
  if (std::regex_search(text, std::regex("^[Rr][0-9]")))
    return "which reads a larger neighbourhood";
  if (std::regex_search(text, std::regex("[Hh]$")) &&
      std::regex_search(text, std::regex("^[Bb]"))) {
    return "which counts the neighbours of hexagons";
  }
  if (std::regex_match(text, std::regex("[Bb][0-8a-zA-Z-]*/[Ss][0-8a-zA-Z-]*"))) {
    return "which tells neighbours apart by their positions: give its truth table as 128 "
           "hexadecimal digits";
  }
  return "";
}

[[noreturn]] void refuse(const std::string& text) {
  const std::string why = why_refused(text);
  fail(
      where,
      "expected births and survivals by the number of the 8 neighbours, such as B36/S23, or B2/S/3 "
      "with three states, received '{}'{}",
      printable(text, 80), why.empty() ? "" : ", " + why);
}

CellRule table_rule(std::string_view digits) {
  std::vector<std::optional<std::uint8_t>> table;
  for (std::size_t digit = table_digits; digit-- > 0;) {
    unsigned value = 0;
    std::from_chars(digits.data() + digit, digits.data() + digit + 1, value, 16);
    for (unsigned bit = 0; bit < 4; ++bit) {
      table.emplace_back(static_cast<std::uint8_t>(value >> bit & 1));
    }
  }
  std::string name = "table-";
  for (const char digit : digits.substr(0, 8)) {
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(digit)));
  }
  return {std::move(name), 2, std::move(table)};
}

void check_states(const Tensor& grids, int states) {
  if (!grids.defined() || grids.rank() != 3 || grids.dtype() != DType::uint8) {
    fail("rule_step", "expected uint8 [grids, height, width], received {}",
         grids.defined() ? fmt::format("{} {}", to_string(grids.dtype()), to_string(grids.shape()))
                         : "none");
  }
  for (const std::uint8_t state : grids.values<std::uint8_t>()) {
    if (state >= states) {
      fail("rule_step", "expected states below {}, received {}", states, state);
    }
  }
}

}  // namespace

CellRule::CellRule(const NeighbourCounts& counts, int states)
    : name_(name_of(counts, states)),
      states_(states),
      neighbourhoods_(neighbourhoods_of(states)),
      counts_(counts) {}

CellRule::CellRule(std::string name, int states, std::vector<std::optional<std::uint8_t>> table)
    : name_(std::move(name)),
      states_(states),
      neighbourhoods_(neighbourhoods_of(states)),
      table_(std::move(table)) {
  if (std::cmp_not_equal(table_.size(), neighbourhoods_)) {
    fail(where, "expected a table of {} entries for {} states, received {}", neighbourhoods_,
         states, table_.size());
  }
  for (const std::optional<std::uint8_t>& state : table_) {
    if (state && *state >= states) {
      fail(where, "expected a table of states below {}, received {}", states, *state);
    }
  }
}

std::int64_t CellRule::known() const {
  if (counts_) return neighbourhoods_;
  return std::ranges::count_if(table_, [](const auto& state) { return state.has_value(); });
}

std::int64_t CellRule::index(const Neighbourhood& cells) const {
  std::int64_t number = 0;
  for (std::size_t i = cells.size(); i-- > 0;) number = number * states_ + cells[i];
  return number;
}

std::optional<std::uint8_t> CellRule::next(const Neighbourhood& cells) const {
  if (!counts_) return table_[static_cast<std::size_t>(index(cells))];
  unsigned living = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool counts = i != centre && (!counts_->orthogonal_only || i % 2 == 1);
    living += counts && cells[i] == 1 ? 1 : 0;
  }
  const std::uint8_t state = cells[centre];
  if (state == 0) return static_cast<std::uint8_t>(counts_->birth >> living & 1);
  if (state == 1 && (counts_->survival >> living & 1) != 0) return std::uint8_t{1};
  return static_cast<std::uint8_t>((state + 1) % states_);
}

Tensor CellRule::step(const Tensor& grids, Tensor* is_known) const {
  check_states(grids, states_);
  const std::int64_t height = grids.shape()[1];
  const std::int64_t width = grids.shape()[2];
  Tensor after(grids.shape(), DType::uint8);
  if (is_known != nullptr) *is_known = Tensor(grids.shape(), DType::uint8);
  const std::span<const std::uint8_t> from = grids.values<std::uint8_t>();
  const std::span<std::uint8_t> to = after.mutable_values<std::uint8_t>();
  const std::span<std::uint8_t> known =
      is_known != nullptr ? is_known->mutable_values<std::uint8_t>() : std::span<std::uint8_t>();
  for (std::int64_t i = 0; i < grids.size(); ++i) {
    const std::int64_t x = i % width;
    const std::int64_t y = i / width % height;
    const std::int64_t first = i - y * width - x;
    Neighbourhood cells{};
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const std::int64_t row = (y + static_cast<std::int64_t>(n / 3) - 1 + height) % height;
      const std::int64_t column = (x + static_cast<std::int64_t>(n % 3) - 1 + width) % width;
      cells[n] = from[static_cast<std::size_t>(first + row * width + column)];
    }
    const auto at = static_cast<std::size_t>(i);
    const std::optional<std::uint8_t> state = next(cells);
    to[at] = state.value_or(from[at]);
    if (is_known != nullptr) known[at] = state ? 1 : 0;
  }
  return after;
}

bool is_rule_table(std::string_view text) {
  constexpr std::size_t longest_name = 24;
  return text.size() > longest_name && std::ranges::all_of(text, [](char c) {
           return std::isxdigit(static_cast<unsigned char>(c)) != 0;
         });
}

CellRule parse_cell_rule(std::string_view text) {
  const std::string whole(text);
  if (is_rule_table(text)) {
    if (text.size() == table_digits) return table_rule(text);
    fail(where, "expected a truth table of {} hexadecimal digits, received {}", table_digits,
         text.size());
  }
  std::smatch found;
  static const std::regex notation("[Bb]([0-8]*)/[Ss]([0-8]*)(?:/[Cc]?([0-9]{1,3}))?([Vv]?)");
  if (!std::regex_match(whole, found, notation)) refuse(whole);
  NeighbourCounts counts{counts_in(found[1].str()), counts_in(found[2].str()),
                         found[4].length() > 0};
  constexpr unsigned above_four = 0x1E0;
  if (counts.orthogonal_only && ((counts.birth | counts.survival) & above_four) != 0) {
    fail(where, "expected counts from 0 to 4 with V, received '{}'", text);
  }
  const int states = found[3].matched && found[3].length() > 0 ? std::stoi(found[3].str()) : 2;
  if (states < 2 || states > max_cell_states) {
    fail(where, "expected 2 to {} states, received {} in '{}'", max_cell_states, states, text);
  }
  return {counts, states};
}

Tensor bits_of_states(const Tensor& states, int count) {
  Shape shape = states.shape();
  shape.insert(shape.begin(), count - 1);
  Tensor bits = Tensor::zeros(shape, DType::uint8);
  const std::span<const std::uint8_t> from = states.values<std::uint8_t>();
  const std::span<std::uint8_t> to = bits.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] > 0) to[(from[i] - std::size_t{1}) * from.size() + i] = 1;
  }
  return bits;
}

Tensor states_of_bits(const Tensor& bits) {
  const Shape& shape = bits.shape();
  Tensor states = Tensor::zeros({shape[1], shape[2], shape[3]}, DType::uint8);
  const std::span<const std::uint8_t> from = bits.values<std::uint8_t>();
  const std::span<std::uint8_t> to = states.mutable_values<std::uint8_t>();
  for (std::size_t i = from.size(); i-- > 0;) {
    if (from[i] != 0) to[i % to.size()] = static_cast<std::uint8_t>(i / to.size() + 1);
  }
  return states;
}

}  // namespace boolgrad::data
