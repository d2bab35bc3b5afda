#include "boolgrad/logic/image_transforms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "boolgrad/logic/thresholds.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

/// Two images of two channels. All pixels differ and none is 0.
constexpr std::int64_t channels = 2, height = 3, width = 5;
constexpr std::int64_t pixels = channels * height * width;

Tensor two_images() {
  Tensor features({2, pixels}, DType::uint8);
  const auto to = features.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::uint8_t>(4 * i + 3);
  return features;
}

/// The source of `feature` under a shift, or -1 if it lies outside the image.
std::int64_t brought(std::int64_t feature, const ImageTransform& shift) {
  const std::int64_t x = feature % width - shift.right;
  const std::int64_t y = feature / width % height - shift.down;
  const bool is_inside = x >= 0 && x < width && y >= 0 && y < height;
  return is_inside ? feature / (width * height) * width * height + y * width + x : -1;
}

Tensor transformed(const Tensor& features, const std::vector<std::int64_t>& samples,
                   const std::vector<ImageTransform>& transforms) {
  return transformed_images(features, height, width, samples, transforms);
}

TEST(TransformedImages, MovePixelsAndFillWithZeros) {
  const Tensor features = two_images();
  for (std::int32_t right = -6; right <= 6; ++right) {
    for (std::int32_t down = -4; down <= 4; ++down) {
      const ImageTransform shift{.right = right, .down = down};
      const Tensor moved = transformed(features, {1, 0}, {{}, shift});
      for (std::int64_t f = 0; f < pixels; ++f) {
        EXPECT_EQ(moved.at(f), features.at(pixels + f));
        const std::int64_t from = brought(f, shift);
        ASSERT_EQ(moved.at(pixels + f), from < 0 ? 0 : features.at(from))
            << right << ", " << down << " at " << f;
      }
    }
  }
}

// Devices store images once and threshold the source pixel of each shifted one.
TEST(TransformedImages, HaveTheBitsOfTheSourcePixels) {
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
    const ImageTransform shift{.right = i % 7 - 3, .down = i / 7 - 3};
    const Tensor bits = thresholds.bytes_of(transformed(features, {0}, {shift}));
    for (std::size_t b = 0; b < sources.size(); ++b) {
      const std::int64_t from = brought(sources[b], shift);
      const double pixel = from < 0 ? 0 : features.at(from);
      ASSERT_EQ(bits.at(static_cast<std::int64_t>(b)), pixel > levels[b] ? 1 : 0);
    }
  }
}

/// An image of random bytes.
Tensor random_image(std::int64_t features, DType dtype, std::uint64_t seed = 1) {
  const Tensor values =
      random_tensor({1, features}, DType::float32, seed, {.low = 1, .high = 255, .kinks = {}});
  Tensor result({1, features}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < features; ++i) {
      result.mutable_values<T>()[static_cast<std::size_t>(i)] =
          convert<T>(std::floor(values.at(i)));
    }
  });
  return result;
}

Tensor changed(const Tensor& image, std::int64_t rows, std::int64_t columns,
               const ImageChange& change) {
  const std::int64_t sample = 0;
  const ImageTransform transform = image_transform(change, rows, columns);
  return transformed_images(image, rows, columns, {&sample, 1}, {&transform, 1});
}

constexpr auto dtypes = {DType::uint8, DType::float32};

TEST(ImageTransform, OfNoChangeIsTheIdentity) {
  EXPECT_TRUE(image_transform({}, 28, 28).is_shift());
  EXPECT_TRUE(image_transform({.right = -3, .down = 2}, 7, 4).is_shift());
  EXPECT_FALSE(image_transform({.is_mirrored = true}, 28, 28).is_shift());
  EXPECT_FALSE(image_transform({.degrees = 1}, 28, 28).is_shift());
  EXPECT_FALSE(image_transform({.scale = 1.01}, 28, 28).is_shift());
  EXPECT_FALSE(image_transform({.cut_side = 1}, 28, 28).is_shift());
}

/// The general path computes the same as the path of shifts: here, nothing is left of the cut-out.
TEST(TransformedImages, AreExactAtWholePixels) {
  for (const DType dtype : dtypes) {
    const Tensor image = random_image(2 * 5 * 7, dtype);
    for (std::int32_t i = 0; i < 25; ++i) {
      const ImageChange shift{.right = i % 5 - 2, .down = i / 5 - 2};
      ImageChange general = shift;
      general.cut_left = 100;
      general.cut_side = 1;
      EXPECT_TRUE(same_bits(changed(image, 5, 7, general), changed(image, 5, 7, shift)));
    }
  }
}

TEST(TransformedImages, OfSquaresAreTurnedByRightAngles) {
  for (const DType dtype : dtypes) {
    for (const std::int64_t side : {4, 5}) {
      const Tensor image = random_image(2 * side * side, dtype);
      const Tensor turned = changed(image, side, side, {.degrees = 90});
      for (std::int64_t f = 0; f < image.size(); ++f) {
        const std::int64_t x = f % side;
        const std::int64_t y = f / side % side;
        const std::int64_t plane = f / (side * side) * side * side;
        // Clockwise: the left column becomes the top row, read from below.
        ASSERT_EQ(turned.at(f), image.at(plane + (side - 1 - x) * side + y)) << f;
      }
      EXPECT_TRUE(same_bits(changed(turned, side, side, {.degrees = -90}), image));
      EXPECT_TRUE(same_bits(changed(turned, side, side, {.degrees = 90}),
                            changed(image, side, side, {.degrees = 180})));
    }
  }
}

TEST(TransformedImages, AreMirrored) {
  for (const DType dtype : dtypes) {
    const Tensor image = random_image(3 * 4 * 5, dtype);
    const Tensor mirrored = changed(image, 4, 5, {.is_mirrored = true});
    for (std::int64_t f = 0; f < image.size(); ++f) {
      ASSERT_EQ(mirrored.at(f), image.at(f / 5 * 5 + 4 - f % 5));
    }
    EXPECT_TRUE(same_bits(changed(mirrored, 4, 5, {.is_mirrored = true}), image));
  }
}

Tensor row_of(std::vector<int> values, DType dtype) {
  Tensor row({1, std::ssize(values)}, dtype);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < values.size(); ++i)
      row.mutable_values<T>()[i] = convert<T>(values[i]);
  });
  return row;
}

/// Twice as large: the sources are at 0.75, 1.25, 1.75 and 2.25 pixels.
TEST(TransformedImages, AreInterpolated) {
  const std::vector<int> row = {0, 100, 200, 50};
  const auto doubled = [&](DType dtype) { return changed(row_of(row, dtype), 1, 4, {.scale = 2}); };
  EXPECT_TRUE(same_bits(doubled(DType::uint8), row_of({75, 125, 175, 163}, DType::uint8)));
  EXPECT_TRUE(same_bits(doubled(DType::float32), row_of({100, 100, 200, 200}, DType::float32)));
  // Half as large: the sources are at -1.5, 0.5, 2.5 and 4.5 pixels.
  const Tensor halved = changed(row_of(row, DType::uint8), 1, 4, {.scale = 0.5});
  EXPECT_TRUE(same_bits(halved, row_of({0, 50, 125, 0}, DType::uint8)));
}

/// The mirror comes before the rotation, and the shift last.
TEST(TransformedImages, AreChangedInOrder) {
  const Tensor image = random_image(25, DType::uint8);
  const Tensor mirrored = changed(image, 5, 5, {.is_mirrored = true});
  const Tensor turned = changed(mirrored, 5, 5, {.degrees = 90});
  EXPECT_TRUE(
      same_bits(changed(image, 5, 5, {.is_mirrored = true, .degrees = 90, .right = 1, .down = -2}),
                changed(turned, 5, 5, {.right = 1, .down = -2})));
}

/// Against the formula in double precision. The values differ by the rounding of positions.
TEST(TransformedImages, FollowTheAffineMap) {
  constexpr std::int64_t rows = 9, columns = 12;
  Tensor image({1, rows * columns}, DType::uint8);
  const auto ramp = [](double x, double y) { return 20 + 9 * x + 11 * y; };
  for (std::int64_t f = 0; f < image.size(); ++f) {
    const std::int64_t row = f / columns;
    image.mutable_values<std::uint8_t>()[static_cast<std::size_t>(f)] =
        static_cast<std::uint8_t>(ramp(static_cast<double>(f % columns), static_cast<double>(row)));
  }
  const double angle = 25 * std::numbers::pi / 180;
  const Tensor result =
      changed(image, rows, columns, {.degrees = 25, .scale = 1.3, .right = 1, .down = -1});
  int inside = 0;
  for (std::int64_t f = 0; f < image.size(); ++f) {
    const double u = static_cast<double>(f % columns) - 1 - (columns - 1) / 2.0;
    const std::int64_t row = f / columns;
    const double v = static_cast<double>(row) + 1 - (rows - 1) / 2.0;
    const double x = (std::cos(angle) * u + std::sin(angle) * v) / 1.3 + (columns - 1) / 2.0;
    const double y = (-std::sin(angle) * u + std::cos(angle) * v) / 1.3 + (rows - 1) / 2.0;
    if (x < 0 || x > columns - 1 || y < 0 || y > rows - 1) continue;
    EXPECT_NEAR(result.at(f), ramp(x, y), 0.6) << f;
    ++inside;
  }
  EXPECT_GT(inside, 60);
}

/// The square ends at the border of the image.
TEST(TransformedImages, AreCutOut) {
  for (const DType dtype : dtypes) {
    const Tensor image = random_image(2 * 4 * 5, dtype);
    for (std::int32_t left = -3; left <= 5; ++left) {
      for (std::int32_t top = -3; top <= 4; ++top) {
        const Tensor cut = changed(image, 4, 5, {.cut_left = left, .cut_top = top, .cut_side = 2});
        for (std::int64_t f = 0; f < image.size(); ++f) {
          const bool is_cut =
              f % 5 >= left && f % 5 < left + 2 && f / 5 % 4 >= top && f / 5 % 4 < top + 2;
          ASSERT_EQ(cut.at(f), is_cut ? 0 : image.at(f));
        }
      }
    }
  }
}

TEST(ImageTransform, StaysWithin32Bits) {
  const std::int64_t side = max_transformed_side;
  const ImageTransform transform =
      image_transform({.degrees = -135, .scale = 0.5, .right = 255, .down = 255}, side, side);
  for (const std::int64_t u : {-255L, side - 1 - 255}) {
    for (const std::int64_t v : {-255L, side - 1 - 255}) {
      const auto x = transform.x_of_u * u + transform.x_of_v * v + transform.x_origin;
      const auto y = transform.y_of_u * u + transform.y_of_v * v + transform.y_origin;
      EXPECT_LT(std::abs(x), std::int64_t{1} << 31);
      EXPECT_LT(std::abs(y), std::int64_t{1} << 31);
    }
  }
  EXPECT_TRUE(image_transform({.right = 1}, 5000, 5000).is_shift());
  expect_error([] { image_transform({.degrees = 1}, 5000, 20); },
               "[image_transform] expected images of at most 4096x4096 pixels, received 5000x20");
  expect_error([] { image_transform({.scale = 0.4}, 20, 20); },
               "[image_transform] expected a scale of at least 0.5, received 0.4");
}

}  // namespace
}  // namespace boolgrad::logic
