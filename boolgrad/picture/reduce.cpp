#include "boolgrad/picture/reduce.h"

#include <algorithm>
#include <array>
#include <vector>

namespace boolgrad {
namespace {

/// A pixel of the picture and how much of it a pixel of the grid covers.
struct Share {
  std::int64_t pixel;
  std::int64_t weight;
};

/// What place `place` of `places` covers of `pixels` in a row. With a pixel counted as `places`
/// units and a place as `pixels`, every edge is a whole number and nothing is rounded; the weights
/// of a place add up to `pixels`.
std::vector<Share> covered(std::int64_t place, std::int64_t places, std::int64_t pixels) {
  const std::int64_t begin = place * pixels;
  const std::int64_t end = begin + pixels;
  std::vector<Share> shares;
  for (std::int64_t pixel = begin / places; pixel * places < end; ++pixel) {
    const std::int64_t from = std::max(begin, pixel * places);
    const std::int64_t to = std::min(end, (pixel + 1) * places);
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

std::vector<std::vector<Share>> all_covered(std::int64_t places, std::int64_t pixels) {
  std::vector<std::vector<Share>> shares;
  for (std::int64_t place = 0; place < places; ++place) {
    shares.push_back(covered(place, places, pixels));
  }
  return shares;
}

}  // namespace

Image reduced(const Image& image, std::int64_t width, std::int64_t height) {
  check_image("reduced", image);
  check_sides("reduced", width, height);
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

}  // namespace boolgrad
