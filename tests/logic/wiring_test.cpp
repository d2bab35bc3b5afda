#include "boolgrad/logic/wiring.h"
#include "boolgrad/backend/plan/lut_wires.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

TEST(Wiring, ListsEveryConsumerOnce) {
  const Wiring wiring(3, Tensor::of<std::int32_t>({0, 2, 2, 2, 0, 2}, {2, 3}));
  EXPECT_EQ(wiring.gates(), 3);
  EXPECT_EQ(wiring.source(1, 0), 2);
  EXPECT_EQ(wiring.source(1, 1), 0);
  EXPECT_EQ(wiring.consumers(1).size(), 0U);
  const auto of_two = wiring.consumers(2);
  ASSERT_EQ(of_two.size(), 4U);
  // Ordered by slot, then by gate. Gate 2 reads input 2 twice.
  const std::vector<std::pair<int, int>> expected{{1, 0}, {2, 0}, {0, 1}, {2, 1}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::pair(of_two[i].gate, of_two[i].slot), expected[i]);
  }
}

TEST(Wiring, GatesOfAGroupShareWires) {
  const Wiring wiring(4, Tensor::of<std::int32_t>({0, 1, 2, 3}, {2, 2}), 3);
  EXPECT_EQ(wiring.gates(), 6);
  EXPECT_EQ(wiring.source(2, 1), 2);
  EXPECT_EQ(wiring.source(3, 0), 1);
}

TEST(Wiring, RejectsInvalidArguments) {
  expect_error(
      [] {
        Wiring(264, Tensor::of<std::int32_t>({1, 2, 0, 300}, {2, 2}));
      },
      "[lut_layer] expected wires below 264 inputs, received 300 at gate 1");
  expect_error(
      [] {
        Wiring(2, Tensor::of<std::int32_t>({-1, 0}, {2, 1}));
      },
      "[lut_layer] expected wires below 2 inputs, received -1 at gate 0");
  expect_error(
      [] {
        Wiring(2, Tensor::of<std::int64_t>({0, 0}, {2, 1}));
      },
      "[wiring] expected wires of int32 [arity, groups], received int64 [2, 1]");
  expect_error(
      [] {
        Wiring(9, Tensor::zeros({7, 1}, DType::int32));
      },
      "[wiring] expected gates of 1 to 6 inputs, received 7");
  expect_error(
      [] {
        random_wiring({4, 10, 2, 3}, 1, 0);
      },
      "[random_wiring] expected a group size that divides 10 gates, received 3");
  expect_error(
      [] {
        random_wiring({4, 0}, 1, 0);
      },
      "[random_wiring] expected at least one input and one gate, received 4 and 0");
}

TEST(RandomWiring, ReadsInputsEquallyOftenAndNeverTwicePerGate) {
  for (const int arity : {1, 2, 4, 6}) {
    const WiringPtr wiring = random_wiring({10, 300, arity}, 7, 1);
    for (std::int64_t gate = 0; gate < wiring->gates(); ++gate) {
      std::set<std::int32_t> sources;
      for (int slot = 0; slot < arity; ++slot) sources.insert(wiring->source(gate, slot));
      EXPECT_EQ(sources.size(), static_cast<std::size_t>(arity));
    }
    for (std::int64_t input = 0; input < 10; ++input) {
      EXPECT_NEAR(static_cast<double>(wiring->consumers(input).size()), 30.0 * arity,
                  6.0 * arity + 4);
    }
  }
  EXPECT_EQ(random_wiring({2, 5, 4}, 1, 0)->arity(), 4);  // too few inputs to be distinct
}

TEST(RandomWiring, DependsOnSeedAndLayerAlone) {
  const auto wires = [](std::uint64_t seed, std::uint32_t layer) {
    return random_wiring({20, 50}, seed, layer)->wires();
  };
  EXPECT_TRUE(same_bits(wires(1, 0), wires(1, 0)));
  EXPECT_FALSE(same_bits(wires(1, 0), wires(2, 0)));
  EXPECT_FALSE(same_bits(wires(1, 0), wires(1, 1)));
}

TEST(UniquePairs, UsesEveryPairBeforeRepeatingOne) {
  const WiringPtr wiring = unique_pairs({6, 15}, 3, 0);
  std::set<std::pair<int, int>> pairs;
  for (std::int64_t gate = 0; gate < 15; ++gate) {
    EXPECT_LT(wiring->source(gate, 0), wiring->source(gate, 1));
    pairs.insert({wiring->source(gate, 0), wiring->source(gate, 1)});
  }
  EXPECT_EQ(pairs.size(), 15U);
  EXPECT_EQ(unique_pairs({6, 40}, 3, 0)->gates(), 40);
  expect_error(
      [] {
        unique_pairs({6, 4, 3}, 1, 0);
      },
      "[unique_pairs] expected gates of 2 inputs out of at least 2, received 3 out of 6");
}

TEST(AdjacentPairs, TakesNeighboursFirst) {
  const WiringPtr wiring = adjacent_pairs({6, 8}, 3, 0);
  std::set<std::pair<int, int>> pairs;
  for (std::int64_t gate = 0; gate < 8; ++gate) {
    pairs.emplace(wiring->source(gate, 0), wiring->source(gate, 1));
  }
  const std::set<std::pair<int, int>> expected{{0, 1}, {2, 3}, {4, 5}, {1, 2},
                                               {3, 4}, {0, 2}, {1, 3}, {2, 4}};
  EXPECT_EQ(pairs, expected);
  EXPECT_EQ(adjacent_pairs({3, 10}, 1, 0)->gates(), 10);
  expect_error(
      [] {
        adjacent_pairs({1, 1}, 1, 0);
      },
      "[adjacent_pairs] expected gates of 2 inputs out of at least 2, received 2 out of 1");
}

TEST(AdjacentPairs, AreOrderedByTheSeed) {
  const auto order = [](std::uint64_t seed) {
    const WiringPtr wiring = adjacent_pairs({64, 64}, seed, 0);
    return std::vector<int>(wiring->sources().begin(), wiring->sources().end());
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST(MooreWiring, JoinsEachNeighbourWithTheCentre) {
  const WiringPtr wiring = moore_wiring(3, 7, 0);
  ASSERT_EQ(wiring->gates(), 24);
  std::set<int> neighbours;
  for (std::int64_t gate = 0; gate < 24; ++gate) {
    neighbours.insert(wiring->source(gate, 0));
    EXPECT_EQ(wiring->source(gate, 0), wiring->source(gate / 3 * 3, 0)) << "gates of a group";
    EXPECT_EQ(wiring->source(gate, 1), 4);
  }
  EXPECT_EQ(neighbours, (std::set<int>{0, 1, 2, 3, 5, 6, 7, 8}));
}

TEST(Interleaved, KeepsCopiesSeparate) {
  const WiringPtr one = random_wiring({5, 7}, 1, 0);
  const WiringPtr three = interleaved(*one, 3);
  ASSERT_EQ(three->inputs(), 15);
  ASSERT_EQ(three->gates(), 21);
  for (std::int64_t gate = 0; gate < 21; ++gate) {
    for (int slot = 0; slot < 2; ++slot) {
      EXPECT_EQ(three->source(gate, slot), one->source(gate / 3, slot) * 3 + gate % 3);
    }
  }
}

TEST(LocalWiring, ReadsItsOwnPositionWithoutNoise) {
  const WiringPtr still = local_wiring({8, 16}, 0, 1, 0);
  for (std::int64_t gate = 0; gate < 16; ++gate) {
    EXPECT_EQ(still->source(gate, 0), gate / 2);
    EXPECT_EQ(still->source(gate, 1), (gate / 2 + 1) % 8);
  }
  const WiringPtr noisy = local_wiring({1000, 1000}, 5, 1, 0);
  for (std::int64_t gate = 100; gate < 900; ++gate) {
    EXPECT_LT(std::abs(noisy->source(gate, 0) - gate), 30);
  }
  expect_error(
      [] {
        local_wiring({8, 16}, -1, 1, 0);
      },
      "[local_wiring] expected noise of 0 or more, received -1");
}

}  // namespace
}  // namespace boolgrad::logic
