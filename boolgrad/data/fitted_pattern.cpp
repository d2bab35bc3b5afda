#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/data/pattern.h"
#include "boolgrad/picture/png.h"
#include "boolgrad/picture/reduce.h"

namespace boolgrad::data {
namespace {

/// A picture on its grid: one of the eight colours per cell, or none where it is transparent.
struct CellColours {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::optional<int>> cells;
};

/// The same with the opacity as grey levels, and colours weighted with it.
struct Weighted {
  picture::Image colours;
  picture::Image opacity;
};

Weighted weighted(const picture::OpaqueImage& read) {
  Weighted result{read.image, read.image};
  for (std::size_t i = 0; i < read.opacity.size(); ++i) {
    const std::uint8_t opacity = read.opacity[i];
    const auto share = [&](std::uint8_t value) {
      return static_cast<std::uint8_t>((value * opacity + 127) / 255);
    };
    const picture::Colour colour = read.image.pixels[i];
    result.colours.pixels[i] = {share(colour.red), share(colour.green), share(colour.blue)};
    result.opacity.pixels[i] = {opacity, opacity, opacity};
  }
  return result;
}

picture::Image resized(const picture::Image& image, std::int64_t height, std::int64_t width) {
  return picture::reduced(image, width, height);
}

CellColours colours_in(const std::filesystem::path& path, std::int64_t max_side) {
  constexpr std::int64_t usual_side = 16;
  constexpr std::uint8_t half = 128;
  const Weighted read = weighted(picture::read_png_with_opacity(path));
  const std::array<picture::Image, 2> both = {read.colours, read.opacity};
  const std::int64_t square = picture::square_side(both);
  CellColours result{read.colours.height / square, read.colours.width / square, {}};
  const std::int64_t longest = std::max(result.height, result.width);
  if (longest > max_side) {
    const std::int64_t side = std::min(usual_side, max_side);
    const auto scaled = [&](std::int64_t cells) {
      return std::max<std::int64_t>(1, (cells * side + longest / 2) / longest);
    };
    result.height = scaled(result.height);
    result.width = scaled(result.width);
  }
  const picture::Image colours = resized(read.colours, result.height, result.width);
  const picture::Image opacity = resized(read.opacity, result.height, result.width);
  for (std::size_t i = 0; i < colours.pixels.size(); ++i) {
    const std::uint8_t opaque = opacity.pixels[i].red;
    if (opaque < half) {
      result.cells.emplace_back();
      continue;
    }
    const auto whole = [&](std::uint8_t value) {
      return static_cast<std::uint8_t>(std::min(255, (value * 255 + opaque / 2) / opaque));
    };
    const picture::Colour colour = colours.pixels[i];
    result.cells.emplace_back(
        picture::nearest_of_eight({whole(colour.red), whole(colour.green), whole(colour.blue)}));
  }
  return result;
}

/// The most frequent colour of the cells at the edge; the first of several.
int edge_colour(const CellColours& picture) {
  std::array<int, picture::eight_colours.size()> counts{};
  for (std::int64_t y = 0; y < picture.height; ++y) {
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const bool at_edge = y == 0 || x == 0 || y + 1 == picture.height || x + 1 == picture.width;
      const auto& cell = picture.cells[static_cast<std::size_t>(y * picture.width + x)];
      if (at_edge && cell) ++counts.at(static_cast<std::size_t>(*cell));
    }
  }
  return static_cast<int>(std::ranges::max_element(counts) - counts.begin());
}

}  // namespace

Pattern fitted_pattern(const std::filesystem::path& path, std::int64_t max_side) {
  CellColours picture = colours_in(path, max_side);
  const bool is_opaque =
      std::ranges::all_of(picture.cells, [](const auto& cell) { return cell.has_value(); });
  const std::optional<int> background =
      is_opaque ? std::optional(edge_colour(picture)) : std::nullopt;
  std::set<int> colours;
  for (const std::optional<int>& cell : picture.cells) {
    if (cell && cell != background) colours.insert(*cell);
  }
  if (colours.empty()) fail("target", "{}: expected a picture on a background", path.string());
  const bool is_drawing = colours.size() == 1;
  // A black cell would look like the background.
  const bool clears = is_drawing || !colours.contains(0);
  Pattern pattern{Tensor({is_drawing ? 1 : 3, picture.height, picture.width}, DType::uint8)};
  const auto bits = pattern.bits.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const std::optional<int>& cell = picture.cells[i % picture.cells.size()];
    const bool is_off = !cell || (clears && cell == background);
    const std::size_t channel = i / picture.cells.size();
    if (is_off) bits[i] = 0;
    else bits[i] = is_drawing ? std::uint8_t{1} : static_cast<std::uint8_t>(*cell >> channel & 1);
  }
  return pattern;
}

}  // namespace boolgrad::data
