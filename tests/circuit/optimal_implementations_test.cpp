#include "boolgrad/circuit/passes/optimal_implementations.h"

#include <gtest/gtest.h>

#include <array>

namespace boolgrad::circuit {
namespace {

TEST(OptimalImplementations, CombineCheaperFunctions) {
  const OptimalImplementations& best = OptimalImplementations::get();
  for (unsigned i = 0; i < 1U << 16; ++i) {
    const auto f = static_cast<SmallTruth>(i);
    ASSERT_EQ(best.implementations(f).empty(), best.cost(f) == 0) << f;
    for (const Implementation& candidate : best.implementations(f)) {
      const int joined =
          candidate.exclusive ? candidate.g ^ candidate.h : candidate.g & candidate.h;
      const int value = candidate.complemented ? ~joined : joined;
      const int expected = OptimalImplementations::is_complemented(f) ? ~int{f} : int{f};
      ASSERT_EQ(value & 0xFFFF, expected & 0xFFFF);
      ASSERT_EQ(best.cost(candidate.g) + best.cost(candidate.h) + 1, best.cost(f)) << f;
    }
  }
}

TEST(OptimalImplementations, HaveKnownCosts) {
  const OptimalImplementations& best = OptimalImplementations::get();
  EXPECT_EQ(best.cost(0x0000), 0);
  EXPECT_EQ(best.cost(0x5555), 0) << "a complement";
  EXPECT_EQ(best.cost(0x8888), 1) << "AND";
  EXPECT_EQ(best.cost(0x6666), 1) << "XOR";
  EXPECT_EQ(best.cost(0x8000), 3) << "AND of four";
  EXPECT_EQ(best.cost(0x6996), 3) << "XOR of four";
  EXPECT_EQ(best.cost(0xCACA), 3) << "a multiplexer";
  EXPECT_EQ(best.cost(0xE8E8), 4) << "majority of three";
}

// Lengths of shortest formulas as in Knuth, The Art of Computer Programming, 7.1.2, table 1.
TEST(OptimalImplementations, FunctionsByCost) {
  std::array<int, 8> counts{};
  for (unsigned i = 0; i < 1U << 16; ++i) {
    ++counts[static_cast<std::size_t>(
        OptimalImplementations::get().cost(static_cast<SmallTruth>(i)))];
  }
  EXPECT_EQ(counts, (std::array{10, 60, 456, 2474, 10624, 24184, 24640, 3088}));
}

}  // namespace
}  // namespace boolgrad::circuit
