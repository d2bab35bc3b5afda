#include "boolgrad/data/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/picture/png.h"
#include "boolgrad/picture/reduce.h"

namespace boolgrad::data {
namespace {

void check_cells(std::string_view where, std::int64_t height, std::int64_t width) {
  const auto [min, max] = std::minmax(height, width);
  if (min < 1 || max > longest_pattern_side) {
    fail(where, "expected 1 to {} cells per side, received {}x{}", longest_pattern_side, height,
         width);
  }
}

/// Channel c holds bit c of each cell's number.
Pattern pattern_of(std::span<const int> cells, std::int64_t channels, std::int64_t height,
                   std::int64_t width) {
  Pattern pattern{Tensor({channels, height, width}, DType::uint8)};
  const auto bits = pattern.bits.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::size_t channel = i / cells.size();
    bits[i] = static_cast<std::uint8_t>(cells[i % cells.size()] >> channel & 1);
  }
  return pattern;
}

class BitmapReader {
 public:
  explicit BitmapReader(const std::filesystem::path& path) : path_(path) {}

  Pattern read() {
    std::ifstream file = open_for_reading(where, path_);
    std::string line;
    while (std::getline(file, line)) {
      ++line_;
      if (line.ends_with('\r')) line.pop_back();
      read_row(line);
    }
    if (height_ == 0) refuse("expected at least one row, received none");
    return pattern_of(cells_, letters_ ? 3 : 1, height_, width_);
  }

 private:
  static constexpr std::string_view where = "bitmap";
  static constexpr std::string_view letters = "krgybmcw";  // in the order of the eight colours

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(where, "{}:{}: {}", path_.string(), line_,
         fmt::format(format, std::forward<Args>(args)...));
  }

  void read_row(std::string_view row) {
    if (row.empty()) {
      ended_ = true;
      return;
    }
    if (ended_) refuse("unexpected row after an empty line");
    if (std::cmp_greater(row.size(), longest_pattern_side) || height_ == longest_pattern_side) {
      refuse("expected 1 to {} cells per side, received more", longest_pattern_side);
    }
    if (height_ == 0) width_ = static_cast<std::int64_t>(row.size());
    for (const char character : row) cells_.push_back(cell_of(character));
    if (std::cmp_not_equal(row.size(), width_)) {
      refuse("expected a row of {} cells, as in line 1, received {}", width_, row.size());
    }
    ++height_;
  }

  /// The number whose bits are the channels of the cell.
  int cell_of(char character) {
    if (character == '.') return 0;
    const std::size_t letter = letters.find(character);
    if (character != '#' && letter == std::string_view::npos) {
      const bool shown = character >= ' ' && character <= '~';
      refuse("expected '.', '#' or one of the letters {}, received {}", letters,
             shown ? fmt::format("'{}'", character)
                   : fmt::format("byte {}", static_cast<unsigned char>(character)));
    }
    (character == '#' ? ink_ : letters_) = true;
    if (ink_ && letters_) refuse("expected '#' or letters, received both");
    return character == '#' ? 1 : static_cast<int>(letter);
  }

  const std::filesystem::path& path_;
  std::size_t line_ = 0;
  std::int64_t height_ = 0;
  std::int64_t width_ = 0;
  std::vector<int> cells_;
  bool ink_ = false;      ///< the file contains `#`
  bool letters_ = false;  ///< the file contains letters
  bool ended_ = false;    ///< an empty line was read
};

}  // namespace

Pattern checkerboard_pattern(std::int64_t height, std::int64_t width, std::int64_t square) {
  check_cells("checkerboard_pattern", height, width);
  if (square < 1) {
    fail("checkerboard_pattern", "expected squares of at least 1 cell, received {}", square);
  }
  std::vector<int> cells;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      cells.push_back(static_cast<int>((y / square + x / square) % 2));
    }
  }
  return pattern_of(cells, 1, height, width);
}

Pattern read_bitmap(const std::filesystem::path& path) { return BitmapReader(path).read(); }

Pattern picture_pattern(const std::filesystem::path& path, std::int64_t height,
                        std::int64_t width) {
  check_cells("picture_pattern", height, width);
  const picture::Image grid = picture::reduced(picture::read_png(path), width, height);
  std::vector<int> cells(grid.pixels.size());
  std::ranges::transform(grid.pixels, cells.begin(), picture::nearest_of_eight);
  return pattern_of(cells, 3, height, width);
}

picture::Image pattern_image(const Tensor& bits) {
  if (!bits.defined() || bits.dtype() != DType::uint8 || bits.rank() != 3 || bits.size() == 0) {
    fail("pattern_image", "expected uint8 of shape [channels, height, width], received {}",
         bits.defined()
             ? fmt::format("{} of shape {}", to_string(bits.dtype()), to_string(bits.shape()))
             : "none");
  }
  const auto values = bits.values<std::uint8_t>();
  picture::Image image = picture::filled_image(bits.shape()[2], bits.shape()[1], picture::black);
  const std::size_t cells = image.pixels.size();
  const bool coloured = bits.shape()[0] >= 3;
  for (std::size_t i = 0; i < cells; ++i) {
    const auto level = [&](std::size_t channel) {
      return static_cast<std::uint8_t>(values[(coloured ? channel : 0) * cells + i] != 0 ? 255 : 0);
    };
    image.pixels[i] = {level(0), level(1), level(2)};
  }
  return image;
}

}  // namespace boolgrad::data
