#include "boolgrad/picture/image.h"

#include <fmt/format.h>

#include "boolgrad/core/fail.h"

namespace boolgrad::picture {

std::string size_error(std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1) {
    return fmt::format("expected an image of at least 1 by 1 pixels, received {} by {}", width,
                       height);
  }
  if (width > max_side || height > max_side) {
    return fmt::format("expected at most {} by {} pixels, received {} by {}", max_side, max_side,
                       width, height);
  }
  return "";
}

void check_size(std::string_view where, std::int64_t width, std::int64_t height) {
  const std::string fault = size_error(width, height);
  if (!fault.empty()) fail(where, "{}", fault);
}

void check_image(std::string_view where, const Image& image) {
  check_size(where, image.width, image.height);
  if (image.pixels.size() != static_cast<std::size_t>(image.width * image.height)) {
    fail(where, "expected {} pixels in an image of {} by {}, received {}",
         image.width * image.height, image.width, image.height, image.pixels.size());
  }
}

Image filled_image(std::int64_t width, std::int64_t height, Colour colour) {
  check_size("filled_image", width, height);
  return {width, height, std::vector<Colour>(static_cast<std::size_t>(width * height), colour)};
}

Image enlarged(const Image& image, std::int64_t factor) {
  check_image("enlarged", image);
  if (factor < 1 || factor > max_side) {
    fail("enlarged", "expected a factor from 1 to {}, received {}", max_side, factor);
  }
  check_size("enlarged", image.width * factor, image.height * factor);
  Image result = filled_image(image.width * factor, image.height * factor, black);
  for (std::int64_t y = 0; y < result.height; ++y) {
    for (std::int64_t x = 0; x < result.width; ++x) {
      result.at(x, y) = image.at(x / factor, y / factor);
    }
  }
  return result;
}

// The eight colours are the corners of a cube: each component is rounded by itself.
int nearest_of_eight(Colour colour) {
  const auto bright = [](std::uint8_t value) { return value >= 128 ? 1 : 0; };
  return bright(colour.red) + 2 * bright(colour.green) + 4 * bright(colour.blue);
}

}  // namespace boolgrad::picture
