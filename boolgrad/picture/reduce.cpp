#include "boolgrad/picture/reduce.h"

#include <algorithm>
#include <array>
#include <vector>

#include "boolgrad/core/fail.h"

namespace boolgrad::picture {
namespace {

/// A source pixel and its weight in a target pixel.
struct Share {
  std::int64_t pixel;
  std::int64_t weight;
};

/// The source pixels that target pixel `target` of `targets` covers, in a row of `pixels`. A source
/// pixel is `targets` units long and a target pixel `pixels` units, so that all edges are integers.
/// The weights add up to `pixels`.
std::vector<Share> covered(std::int64_t target, std::int64_t targets, std::int64_t pixels) {
  const std::int64_t begin = target * pixels;
  const std::int64_t end = begin + pixels;
  std::vector<Share> shares;
  for (std::int64_t pixel = begin / targets; pixel * targets < end; ++pixel) {
    const std::int64_t from = std::max(begin, pixel * targets);
    const std::int64_t to = std::min(end, (pixel + 1) * targets);
    shares.push_back({pixel, to - from});
  }
  return shares;
}

Colour average(const Image& image, const std::vector<Share>& columns,
               const std::vector<Share>& rows) {
  std::array<std::int64_t, 3> sums{};
  for (const Share& row : rows) {
    for (const Share& column : columns) {
      const Colour& colour = image.at(column.pixel, row.pixel);
      const std::int64_t weight = row.weight * column.weight;
      sums[0] += weight * colour.red;
      sums[1] += weight * colour.green;
      sums[2] += weight * colour.blue;
    }
  }
  const std::int64_t area = image.width * image.height;
  const auto mean = [area](std::int64_t sum) {
    return static_cast<std::uint8_t>((sum + area / 2) / area);
  };
  return {mean(sums[0]), mean(sums[1]), mean(sums[2])};
}

std::vector<std::vector<Share>> all_covered(std::int64_t targets, std::int64_t pixels) {
  std::vector<std::vector<Share>> shares;
  for (std::int64_t target = 0; target < targets; ++target) {
    shares.push_back(covered(target, targets, pixels));
  }
  return shares;
}

}  // namespace

Image reduced(const Image& image, std::int64_t width, std::int64_t height) {
  check_image("reduced", image);
  check_size("reduced", width, height);
  const std::vector<std::vector<Share>> columns = all_covered(width, image.width);
  const std::vector<std::vector<Share>> rows = all_covered(height, image.height);
  Image result = filled_image(width, height, black);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      result.at(x, y) =
          average(image, columns[static_cast<std::size_t>(x)], rows[static_cast<std::size_t>(y)]);
    }
  }
  return result;
}

namespace {

bool has_squares(const Image& image, std::int64_t side) {
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      if (image.at(x, y) != image.at(x / side * side, y / side * side)) return false;
    }
  }
  return true;
}

}  // namespace

std::int64_t square_side(std::span<const Image> images) {
  constexpr std::int64_t fewest = 3;
  if (images.empty()) fail("square_side", "expected at least one image, received none");
  const std::int64_t width = images.front().width;
  const std::int64_t height = images.front().height;
  for (std::int64_t side = std::min(width, height) / fewest; side > 1; --side) {
    if (width % side != 0 || height % side != 0) continue;
    if (std::ranges::all_of(images, [side](const Image& one) { return has_squares(one, side); })) {
      return side;
    }
  }
  return 1;
}

}  // namespace boolgrad::picture
