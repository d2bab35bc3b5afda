#include "boolgrad/train/learners/image_shifts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "boolgrad/logic/thresholds.h"

namespace boolgrad {
namespace {

using Way = std::pair<int, int>;

std::vector<Way> ways(std::int64_t count, std::int64_t most, std::uint64_t seed,
                      std::int64_t step) {
  std::vector<Way> result;
  for (const ImageShift move : drawn_moves(count, most, seed, step)) {
    result.emplace_back(move.right, move.down);
  }
  return result;
}

TEST(PictureMoves, AreAllDrawnAndNoOthers) {
  const std::vector<Way> drawn = ways(2000, 2, 1, 0);
  const std::set<Way> kinds(drawn.begin(), drawn.end());
  EXPECT_EQ(kinds.size(), 25U);
  for (const auto& [right, down] : kinds) {
    EXPECT_LE(std::abs(right), 2);
    EXPECT_LE(std::abs(down), 2);
  }
}

TEST(PictureMoves, FollowFromSeedStepAndPlace) {
  const std::vector<Way> moves = ways(50, 1, 3, 7);
  EXPECT_EQ(ways(50, 1, 3, 7), moves);
  const std::vector<Way> fewer = ways(20, 1, 3, 7);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), moves.begin()));
  EXPECT_NE(ways(50, 1, 3, 8), moves);
  EXPECT_NE(ways(50, 1, 4, 7), moves);
}

/// Two pictures of two channels, all pixels different and none 0.
constexpr std::int64_t channels = 2, height = 3, width = 5;
constexpr std::int64_t pixels = channels * height * width;

Tensor two_pictures() {
  Tensor features({2, pixels}, DType::uint8);
  const auto to = features.mutable_values<std::uint8_t>();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::uint8_t>(4 * i + 3);
  return features;
}

DataForm form_of_pictures() {
  DataForm form;
  form.channels = channels;
  form.height = height;
  form.width = width;
  return form;
}

/// The feature that a move brings to `feature`, or -1 where that comes from outside.
std::int64_t brought(std::int64_t feature, ImageShift move) {
  const std::int64_t x = feature % width - move.right;
  const std::int64_t y = feature / width % height - move.down;
  const bool is_inside = x >= 0 && x < width && y >= 0 && y < height;
  return is_inside ? feature / (width * height) * width * height + y * width + x : -1;
}

TEST(PictureMoves, BringPixelsAndZeros) {
  const Tensor features = two_pictures();
  for (std::int32_t right = -6; right <= 6; ++right) {
    for (std::int32_t down = -4; down <= 4; ++down) {
      const ImageShift move{.right = right, .down = down};
      const Tensor moved = moved_pictures(features, form_of_pictures(), {1, 0}, {{}, move});
      for (std::int64_t f = 0; f < pixels; ++f) {
        EXPECT_EQ(moved.at(f), features.at(pixels + f));
        const std::int64_t from = brought(f, move);
        ASSERT_EQ(moved.at(pixels + f), from < 0 ? 0 : features.at(from))
            << right << ", " << down << " at " << f;
      }
    }
  }
}

// What a device does that holds pictures once: it compares the pixel that a move brings.
TEST(PictureMoves, BitsOfMovedPicturesAreThoseOfThePixelsBrought) {
  const Tensor features = two_pictures();
  std::vector<std::int32_t> sources;
  std::vector<float> levels;
  for (std::int32_t f = 0; f < pixels; ++f) {
    for (const float level : {-1.0F, 40.5F, 130.0F}) {
      sources.push_back(f);
      levels.push_back(level);
    }
  }
  const Thresholds thresholds(pixels, sources, Tensor::of(levels));
  for (const ImageShift move : drawn_moves(30, 3, 1, 0)) {
    const Tensor bits =
        thresholds.bytes_of(moved_pictures(features, form_of_pictures(), {0}, {move}));
    for (std::size_t b = 0; b < sources.size(); ++b) {
      const std::int64_t from = brought(sources[b], move);
      const double pixel = from < 0 ? 0 : features.at(from);
      ASSERT_EQ(bits.at(static_cast<std::int64_t>(b)), pixel > levels[b] ? 1 : 0);
    }
  }
}

}  // namespace
}  // namespace boolgrad
