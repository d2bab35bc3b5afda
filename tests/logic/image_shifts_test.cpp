#include "boolgrad/logic/image_shifts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "boolgrad/logic/thresholds.h"

namespace boolgrad {
namespace {

/// Two images of two channels, all pixels different and none 0.
constexpr std::int64_t channels = 2, height = 3, width = 5;
constexpr std::int64_t pixels = channels * height * width;

Tensor two_images() {
  Tensor features({2, pixels}, DType::uint8);
  const auto to = features.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::uint8_t>(4 * i + 3);
  return features;
}

/// The feature that a shift brings to `feature`, or -1 where that comes from outside.
std::int64_t brought(std::int64_t feature, ImageShift shift) {
  const std::int64_t x = feature % width - shift.right;
  const std::int64_t y = feature / width % height - shift.down;
  const bool is_inside = x >= 0 && x < width && y >= 0 && y < height;
  return is_inside ? feature / (width * height) * width * height + y * width + x : -1;
}

Tensor shifted(const Tensor& features, const std::vector<std::int64_t>& samples,
               const std::vector<ImageShift>& shifts) {
  return shifted_images(features, height, width, samples, shifts);
}

TEST(ShiftedImages, BringPixelsAndZeros) {
  const Tensor features = two_images();
  for (std::int32_t right = -6; right <= 6; ++right) {
    for (std::int32_t down = -4; down <= 4; ++down) {
      const ImageShift shift{.right = right, .down = down};
      const Tensor moved = shifted(features, {1, 0}, {{}, shift});
      for (std::int64_t f = 0; f < pixels; ++f) {
        EXPECT_EQ(moved.at(f), features.at(pixels + f));
        const std::int64_t from = brought(f, shift);
        ASSERT_EQ(moved.at(pixels + f), from < 0 ? 0 : features.at(from))
            << right << ", " << down << " at " << f;
      }
    }
  }
}

// What a device does that holds images once: it compares the pixel that a shift brings.
TEST(ShiftedImages, HaveTheBitsOfThePixelsBrought) {
  const Tensor features = two_images();
  std::vector<std::int32_t> sources;
  std::vector<float> levels;
  for (std::int32_t f = 0; f < pixels; ++f) {
    for (const float level : {-1.0F, 40.5F, 130.0F}) {
      sources.push_back(f);
      levels.push_back(level);
    }
  }
  const Thresholds thresholds(pixels, sources, Tensor::of(levels));
  for (std::int32_t i = 0; i < 49; ++i) {
    const ImageShift shift{.right = i % 7 - 3, .down = i / 7 - 3};
    const Tensor bits = thresholds.bytes_of(shifted(features, {0}, {shift}));
    for (std::size_t b = 0; b < sources.size(); ++b) {
      const std::int64_t from = brought(sources[b], shift);
      const double pixel = from < 0 ? 0 : features.at(from);
      ASSERT_EQ(bits.at(static_cast<std::int64_t>(b)), pixel > levels[b] ? 1 : 0);
    }
  }
}

}  // namespace
}  // namespace boolgrad
