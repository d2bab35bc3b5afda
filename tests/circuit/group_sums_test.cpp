#include "boolgrad/circuit/group_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/support/bit_circuits.h"
#include "tests/support/exported_netlists.h"
#include "tests/support/messages.h"

namespace boolgrad::circuit {
namespace {

/// A netlist whose outputs are its inputs.
Netlist wires(std::size_t count) {
  Netlist netlist = random_netlist({.inputs = count, .gates = 0, .outputs = count}, 0);
  for (std::size_t i = 0; i < count; ++i) netlist.output_nets[i] = static_cast<Net>(i);
  return netlist;
}

/// The sum of each class for the inputs given by the bits of a number.
std::vector<int> sums_of(std::uint64_t inputs, std::size_t classes, std::size_t group) {
  std::vector<int> sums;
  for (std::size_t c = 0; c < classes; ++c) {
    sums.push_back(std::popcount(inputs >> (c * group) & ((1ULL << group) - 1)));
  }
  return sums;
}

using Expected = std::function<std::uint64_t(std::uint64_t inputs)>;

/// Checks all input combinations: the outputs are the binary digits of the expected number.
void expect_numbers(const Netlist& netlist, const Expected& expected) {
  const std::size_t inputs = netlist.inputs.size();
  for (std::uint64_t block = 0; block < std::max(1ULL, (1ULL << inputs) / 64); ++block) {
    const auto outputs = evaluate(netlist, all_cases(inputs, block));
    for (std::uint64_t s = 0; s < std::min<std::uint64_t>(64, 1ULL << inputs); ++s) {
      std::uint64_t number = 0;
      for (std::size_t o = 0; o < outputs.size(); ++o) number |= (outputs[o] >> s & 1) << o;
      ASSERT_EQ(number, expected(block * 64 + s)) << block * 64 + s;
    }
  }
}

TEST(GroupSums, AreExactForEveryInput) {
  for (std::size_t group = 1; group <= 13; ++group) {
    const Netlist netlist = with_group_sums(wires(group), 1);
    EXPECT_EQ(netlist.outputs.size(), static_cast<std::size_t>(std::bit_width(group)));
    expect_numbers(netlist, [](std::uint64_t inputs) {
      return static_cast<std::uint64_t>(std::popcount(inputs));
    });
  }
  const Netlist netlist = with_group_sums(wires(12), 4);
  EXPECT_EQ(netlist.outputs[3], "sum1_1");
  expect_numbers(netlist, [](std::uint64_t inputs) {
    std::uint64_t number = 0;
    const std::vector<int> sums = sums_of(inputs, 4, 3);
    for (std::size_t c = 0; c < 4; ++c) number |= static_cast<std::uint64_t>(sums[c]) << (2 * c);
    return number;
  });
}

TEST(GroupSums, NeedTwoTablesPerFullAdder) {
  // Every adder removes one bit, until one bit per digit is left.
  EXPECT_EQ(gate_count(with_group_sums(wires(7), 1)), 2 * 4);
  EXPECT_EQ(gate_count(with_group_sums(wires(15), 1)), 2 * 11);
  EXPECT_EQ(gate_count(with_group_sums(wires(1023), 1)), 2 * (1023 - 10));
  EXPECT_LE(depth(with_group_sums(wires(1023), 1)), 31);
}

TEST(GroupSums, ClassifyEveryInputAndPreferTheFirstOnTies) {
  struct Shape {
    std::size_t classes;
    std::size_t group;
  };
  for (const Shape shape : {Shape{2, 1}, {2, 5}, {3, 4}, {4, 3}, {5, 2}, {6, 2}, {11, 1}}) {
    const Netlist netlist = wires(shape.classes * shape.group);
    expect_numbers(
        with_argmax(netlist, static_cast<std::int64_t>(shape.classes)), [&](std::uint64_t inputs) {
          const std::vector<int> sums = sums_of(inputs, shape.classes, shape.group);
          return static_cast<std::uint64_t>(std::ranges::max_element(sums) - sums.begin());
        });
  }
}

TEST(GroupSums, CompareWithThresholds) {
  for (std::int64_t least = 1; least <= 6; ++least) {
    expect_numbers(with_thresholds(wires(10), 2, least), [&](std::uint64_t inputs) {
      const std::vector<int> sums = sums_of(inputs, 2, 5);
      return std::uint64_t{sums[0] >= least ? 1U : 0U} | (sums[1] >= least ? 2U : 0U);
    });
  }
}

TEST(GroupSums, VoteOnTheBitsOfAClass) {
  for (std::uint64_t classes = 5; classes <= 8; ++classes) {
    expect_numbers(with_votes(wires(12), 3, static_cast<std::int64_t>(classes)),
                   [&](std::uint64_t inputs) {
                     const std::vector<int> sums = sums_of(inputs, 3, 4);
                     std::uint64_t number = 0;
                     for (std::size_t g = 0; g < 3; ++g) {
                       number |= std::uint64_t{sums[g] > 2 ? 1U : 0U} << g;
                     }
                     return std::min(number, classes - 1);
                   });
  }
}

/// The weighted sums of `groups` groups.
std::vector<std::uint64_t> weighted_sums(std::uint64_t inputs, std::size_t groups,
                                         const std::vector<std::int32_t>& exponents) {
  std::vector<std::uint64_t> sums(groups, 0);
  const std::size_t size = exponents.size() / groups;
  for (std::size_t i = 0; i < exponents.size(); ++i) {
    sums[i / size] += (inputs >> i & 1) << exponents[i];
  }
  return sums;
}

TEST(GroupSums, CountOutputsWithTheirWeights) {
  const std::vector<std::int32_t> exponents = {2, 0, 3, 1, 2, 2, 0, 0, 1, 3};
  const Netlist sums = with_group_sums(wires(10), 2, exponents);
  EXPECT_EQ(sums.outputs.size(), 5U + 5U) << "sums of up to 19 and up to 16";
  expect_numbers(sums, [&](std::uint64_t inputs) {
    const auto both = weighted_sums(inputs, 2, exponents);
    return both[0] | both[1] << 5;
  });
  expect_numbers(with_argmax(wires(10), 5, exponents), [&](std::uint64_t inputs) {
    const auto all = weighted_sums(inputs, 5, exponents);
    return static_cast<std::uint64_t>(std::ranges::max_element(all) - all.begin());
  });
  expect_numbers(with_votes(wires(10), 2, 3, exponents), [&](std::uint64_t inputs) {
    const auto both = weighted_sums(inputs, 2, exponents);
    const std::uint64_t number = (both[0] > 9 ? 1U : 0U) | (both[1] > 8 ? 2U : 0U);
    return std::min<std::uint64_t>(number, 2);
  });
  expect_error([&] { with_argmax(wires(6), 2, exponents); },
               "[group_sums] expected 6 exponents, received 10");
}

TEST(GroupSums, ExtendAnyCircuitAndSimplify) {
  const Netlist netlist = random_netlist({.inputs = 40, .gates = 200, .outputs = 24}, 5);
  const Netlist classes = with_argmax(netlist, 3);
  EXPECT_EQ(classes.inputs, netlist.inputs);
  EXPECT_EQ(classes.outputs, (std::vector<std::string>{"class_0", "class_1"}));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto words = random_words(40, seed);
    const auto outputs = evaluate(netlist, words);
    const auto digits = evaluate(classes, words);
    for (unsigned s = 0; s < 64; ++s) {
      std::vector<int> sums(3, 0);
      for (std::size_t o = 0; o < 24; ++o) sums[o / 8] += static_cast<int>(outputs[o] >> s & 1);
      const auto largest = std::ranges::max_element(sums) - sums.begin();
      EXPECT_EQ((digits[0] >> s & 1) + 2 * (digits[1] >> s & 1),
                static_cast<std::uint64_t>(largest));
    }
  }
  EXPECT_FALSE(difference(classes, simplify(classes))) << "by SAT: it has 40 inputs";
}

TEST(GroupSums, RejectInvalidArguments) {
  expect_error([] { with_votes(wires(6), 2, 5); },
               "[group_sums] expected 1 to 2^2 classes, at most 2^32, received 5");
  expect_error([] { with_group_sums(wires(6), 4); },
               "[group_sums] expected at least 1 classes that divide 6 outputs, received 4");
  expect_error([] { with_argmax(wires(6), 1); },
               "[group_sums] expected at least 2 classes that divide 6 outputs, received 1");
  expect_error([] { with_thresholds(wires(6), 2, 0); },
               "[group_sums] expected a threshold of 1 or more, received 0");
  expect_error([] { with_argmax(random_automaton(2, Border::zero, 1), 2); },
               "[group_sums] expected a circuit, received the rule of an automaton");
}

}  // namespace
}  // namespace boolgrad::circuit
