#include "boolgrad/model/grid_text.h"

#include <charconv>
#include <cstddef>
#include <cstdint>

namespace boolgrad {
namespace {

/// Reads text from left to right. After a mismatch nothing matches any more.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  /// A number of one to nine digits.
  std::int64_t number() {
    constexpr std::size_t max_digits = 9;
    const std::string_view digits = rest_.substr(0, rest_.find_first_not_of("0123456789"));
    matches_ = matches_ && !digits.empty() && digits.size() <= max_digits;
    if (!matches_) return 0;
    std::int64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    rest_.remove_prefix(digits.size());
    return value;
  }

  void expect(std::string_view text) {
    matches_ = matches_ && is_next(text);
    if (matches_) rest_.remove_prefix(text.size());
  }

  bool is_next(std::string_view text) const { return rest_.starts_with(text); }

  /// Whether all text has been read and matched.
  bool done() const { return matches_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool matches_ = true;
};

circuit::GridSize read_size(Reader& reader) {
  circuit::GridSize size;
  size.height = reader.number();
  reader.expect("x");
  size.width = reader.number();
  return size;
}

}  // namespace

std::optional<circuit::GridSize> grid_size_in(std::string_view text) {
  Reader reader(text);
  const circuit::GridSize size = read_size(reader);
  if (!reader.done()) return std::nullopt;
  return size;
}

std::optional<Damage> damage_in(std::string_view text, const circuit::GridSize& grid) {
  Reader reader(text);
  const circuit::GridSize size = read_size(reader);
  automata::Rectangle rectangle{(grid.height - size.height) / 2, (grid.width - size.width) / 2,
                                size.height, size.width};
  if (reader.is_next("+")) {
    reader.expect("+");
    rectangle.top = reader.number();
    reader.expect("+");
    rectangle.left = reader.number();
  }
  reader.expect("@step");
  const std::int64_t step = reader.number();
  if (!reader.done()) return std::nullopt;
  return Damage{rectangle, step, step};
}

}  // namespace boolgrad
