#include "boolgrad/picture/image.h"

#include <fmt/format.h>

#include "boolgrad/core/error.h"

namespace boolgrad {

std::string fault_of_sides(std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1) {
    return fmt::format("expected a picture with pixels, received {} by {}", width, height);
  }
  if (width > longest_side || height > longest_side) {
    return fmt::format("expected at most {} by {} pixels, received {} by {}", longest_side,
                       longest_side, width, height);
  }
  return "";
}

void check_sides(std::string_view where, std::int64_t width, std::int64_t height) {
  const std::string fault = fault_of_sides(width, height);
  if (!fault.empty()) fail(where, "{}", fault);
}

void check_image(std::string_view where, const Image& image) {
  check_sides(where, image.width, image.height);
  if (image.pixels.size() != static_cast<std::size_t>(image.width * image.height)) {
    fail(where, "expected {} pixels in a picture of {} by {}, received {}",
         image.width * image.height, image.width, image.height, image.pixels.size());
  }
}

Image filled_image(std::int64_t width, std::int64_t height, Colour colour) {
  check_sides("filled_image", width, height);
  return {width, height, std::vector<Colour>(static_cast<std::size_t>(width * height), colour)};
}

Image enlarged(const Image& image, std::int64_t factor) {
  check_image("enlarged", image);
  if (factor < 1 || factor > longest_side) {
    fail("enlarged", "expected a factor from 1 to {}, received {}", longest_side, factor);
  }
  check_sides("enlarged", image.width * factor, image.height * factor);
  Image result = filled_image(image.width * factor, image.height * factor, black);
  for (std::int64_t y = 0; y < result.height; ++y) {
    for (std::int64_t x = 0; x < result.width; ++x) {
      result.at(x, y) = image.at(x / factor, y / factor);
    }
  }
  return result;
}

// The eight are the corners of a cube, so each side is decided for itself.
int nearest_of_eight(Colour colour) {
  const auto bright = [](std::uint8_t value) { return value >= 128 ? 1 : 0; };
  return bright(colour.red) + 2 * bright(colour.green) + 4 * bright(colour.blue);
}

}  // namespace boolgrad
