#include "boolgrad/tensor/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace boolgrad {
namespace {

TEST(Float16, EveryValueRoundTripsThroughFloat) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const float wide = static_cast<float>(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(Float16(wide))));
    } else {
      EXPECT_EQ(Float16(wide).bits, half.bits) << wide;
    }
  }
}

TEST(Float16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(float(Float16(1.0F + 0x1p-11F)), 1.0F);                     // tie, down to even
  EXPECT_EQ(float(Float16(1.0F + 3 * 0x1p-11F)), 1.0F + 2 * 0x1p-10F);  // tie, up to even
  EXPECT_EQ(float(Float16(1.0F + 0x1.1p-11F)), 1.0F + 0x1p-10F);
  EXPECT_EQ(float(Float16(0x1p-25F)), 0.0F);  // tie below the smallest subnormal
  EXPECT_EQ(float(Float16(0x1.1p-25F)), 0x1p-24F);
  EXPECT_EQ(float(Float16(-0x1.8p-24F)), -0x1p-23F);  // tie between subnormals, to even
}

TEST(Float16, OverflowsToInfinity) {
  EXPECT_EQ(float(Float16(65519.0F)), 65504.0F);
  EXPECT_EQ(float(Float16(65520.0F)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(float(Float16(-1e30F)), -std::numeric_limits<float>::infinity());
}

TEST(Convert, TruncatesAndSaturates) {
  EXPECT_EQ(convert<std::int32_t>(-2.9), -2);
  EXPECT_EQ(convert<std::uint8_t>(255.9), 255);
  EXPECT_EQ(convert<std::uint8_t>(-1.0F), 0);
  EXPECT_EQ(convert<std::uint8_t>(1e9), 255);
  EXPECT_EQ(convert<std::int32_t>(3e9F), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(convert<std::int64_t>(-1e30), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(convert<std::int64_t>(std::nan("")), 0);
  EXPECT_EQ(convert<std::int32_t>(Float16(-7.75F)), -7);
}

TEST(DType, HasNamesAndSizes) {
  EXPECT_EQ(to_string(DType::float16), "float16");
  EXPECT_EQ(size_of(DType::float16), 2U);
  EXPECT_EQ(size_of(DType::uint8), 1U);
  EXPECT_EQ(size_of(DType::int64), 8U);
  EXPECT_TRUE(is_floating(DType::float16));
  EXPECT_FALSE(is_floating(DType::uint8));
}

}  // namespace
}  // namespace boolgrad
