#include "boolgrad/data/cell_rule.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "boolgrad/automata/starts.h"
#include "boolgrad/core/random.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/options/target.h"
#include "boolgrad/picture/gif.h"
#include "boolgrad/picture/image.h"
#include "tests/support/messages.h"
#include "tests/support/npy_file.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"

namespace boolgrad::data {
namespace {

using testing_support::npy;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

Tensor random_grid(int states, std::int64_t height, std::int64_t width, std::uint64_t seed = 1) {
  Tensor grid({1, height, width}, DType::uint8);
  std::uint64_t index = 0;
  for (std::uint8_t& cell : grid.mutable_values<std::uint8_t>()) {
    cell = static_cast<std::uint8_t>(
        random_below({.seed = seed, .index = index++}, static_cast<std::uint64_t>(states)));
  }
  return grid;
}

/// The next state from a cell's own one and the number of its living neighbours.
using Successor = std::function<int(int state, int neighbours)>;

/// A step on a torus, written without regard to the library.
Tensor plain_step(const Tensor& grid, const Successor& successor, bool orthogonal_only = false) {
  const auto height = static_cast<int>(grid.shape()[1]);
  const auto width = static_cast<int>(grid.shape()[2]);
  std::vector<std::uint8_t> after;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int living = 0;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          if ((dy == 0 && dx == 0) || (orthogonal_only && dy != 0 && dx != 0)) continue;
          const int other = (y + dy + height) % height * width + (x + dx + width) % width;
          living += grid.at(other) == 1 ? 1 : 0;
        }
      }
      after.push_back(
          static_cast<std::uint8_t>(successor(static_cast<int>(grid.at(y * width + x)), living)));
    }
  }
  return Tensor::of(after, grid.shape());
}

void expect_follows(const std::string& name, const Successor& successor, int states,
                    bool orthogonal_only = false) {
  const CellRule rule = parse_cell_rule(name);
  EXPECT_EQ(rule.states(), states) << name;
  EXPECT_EQ(rule.known(), rule.neighbourhoods()) << name;
  Tensor grid = random_grid(states, 17, 23);
  for (int step = 0; step < 20; ++step) {
    const Tensor expected = plain_step(grid, successor, orthogonal_only);
    grid = rule.step(grid);
    ASSERT_TRUE(same_bits(grid, expected)) << name << ", step " << step;
  }
}

TEST(CellRule, FollowsItsName) {
  expect_follows(
      "B3/S23", [](int s, int n) { return n == 3 || (s == 1 && n == 2); }, 2);
  expect_follows(
      "b36/s23", [](int s, int n) { return n == 3 || (s == 0 && n == 6) || (s == 1 && n == 2); },
      2);
  expect_follows(
      "B2/S", [](int s, int n) { return s == 0 && n == 2; }, 2);
  expect_follows(
      "B0/S8", [](int s, int n) { return s == 0 ? n == 0 : n == 8; }, 2);
  // Brian's Brain: on, then dying, then off.
  const Successor brain = [](int s, int n) { return s == 0 ? (n == 2 ? 1 : 0) : (s + 1) % 3; };
  expect_follows("B2/S/3", brain, 3);
  expect_follows("B2/S/C3", brain, 3);
  const Successor star_wars = [](int s, int n) {
    if (s == 0) return n == 2 ? 1 : 0;
    return s == 1 && n >= 3 && n <= 5 ? 1 : (s + 1) % 4;
  };
  expect_follows("B2/S345/4", star_wars, 4);
  expect_follows(
      "B2/S013V", [](int s, int n) { return s == 0 ? n == 2 : n == 0 || n == 1 || n == 3; }, 2,
      true);
}

TEST(CellRule, HasOneSpelling) {
  EXPECT_EQ(parse_cell_rule("b63/s32").name(), "B36/S23");
  EXPECT_EQ(parse_cell_rule("B3/S23/2").name(), "B3/S23");
  EXPECT_EQ(parse_cell_rule("B2/S/C3").name(), "B2/S/3");
  EXPECT_EQ(parse_cell_rule("B2/S013v").name(), "B2/S013V");
}

TEST(CellRule, ReadsATruthTable) {
  const CellRule life = parse_cell_rule("B3/S23");
  std::string digits;
  for (int digit = 127; digit >= 0; --digit) {
    int value = 0;
    for (int bit = 3; bit >= 0; --bit) {
      Neighbourhood cells{};
      for (int i = 0; i < 9; ++i) {
        cells[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>((4 * digit + bit) >> i & 1);
      }
      value = 2 * value + *life.next(cells);
    }
    digits += "0123456789abcdef"[value];
  }
  const CellRule table = parse_cell_rule(digits);
  EXPECT_EQ(table.name(), "table-" + digits.substr(0, 8));
  const Tensor grid = random_grid(2, 20, 20);
  EXPECT_TRUE(same_bits(table.step(grid), life.step(grid)));
  // Only the upper left neighbour decides: bit 0 of the neighbourhood.
  std::string shifts;
  for (int i = 0; i < 128; ++i) shifts += 'A';
  const Tensor shifted = parse_cell_rule(shifts).step(grid);
  for (int i = 0; i < 400; ++i) {
    const int from = (i / 20 + 19) % 20 * 20 + (i % 20 + 19) % 20;
    ASSERT_EQ(shifted.at(i), grid.at(from)) << i;
  }
  expect_error([] { parse_cell_rule("0123456789abcdef0123456789abcdef"); },
               "[rule] expected a truth table of 128 hexadecimal digits, received 32");
}

TEST(CellRule, RefusesOtherNotationsAndNeighbourhoods) {
  const std::string expected =
      "[rule] expected births and survivals by the number of the 8 neighbours, such as B36/S23, or "
      "B2/S/3 with three states, received ";
  const auto refused = [&](const std::string& text, const std::string& why) {
    expect_error([&] { parse_cell_rule(text); }, expected + "'" + text + "'" + why);
  };
  refused("", "");
  refused("life", "");
  refused("23/3", "");
  refused("B9/S23", "");
  refused("B3/S23/", "");
  refused("R5,C0,M1,S34..58,B34..45,NM", ", which reads a larger neighbourhood");
  refused("B2/S34H", ", which counts the neighbours of hexagons");
  refused("B2-a/S12",
          ", which tells neighbours apart by their positions: give its truth table as 128 "
          "hexadecimal digits");
  expect_error([] { parse_cell_rule("B2/S/5"); },
               "[rule] expected 2 to 4 states, received 5 in 'B2/S/5'");
  expect_error([] { parse_cell_rule("B2/S/1"); },
               "[rule] expected 2 to 4 states, received 1 in 'B2/S/1'");
  expect_error([] { parse_cell_rule("B5/S2V"); },
               "[rule] expected counts from 0 to 4 with V, received 'B5/S2V'");
}

TEST(CellRule, ChecksTablesAndStates) {
  const auto table = [](std::size_t entries, std::uint8_t state) {
    CellRule("mine", 2, std::vector<std::optional<std::uint8_t>>(entries, state));
  };
  expect_error([&] { table(511, 0); },
               "[rule] expected a table of 512 entries for 2 states, received 511");
  expect_error([&] { table(512, 2); }, "[rule] expected a table of states below 2, received 2");
  expect_error([] { CellRule(NeighbourCounts{}, 5); }, "[rule] expected 2 to 4 states, received 5");
  expect_error([] { parse_cell_rule("B3/S23").step(random_grid(3, 9, 9)); },
               "[rule_step] expected states below 2, received 2");
}

TEST(CellRule, StatesAreOneChannelEach) {
  const Tensor states = Tensor::of(std::vector<std::uint8_t>{0, 1, 2, 3}, {1, 2, 2});
  const Tensor bits = bits_of_states(states, 4);
  EXPECT_TRUE(same_bits(bits, Tensor::of(std::vector<std::uint8_t>{0, 1, 0, 0,  //
                                                                   0, 0, 1, 0,  //
                                                                   0, 0, 0, 1},
                                         {3, 1, 2, 2})));
  EXPECT_TRUE(same_bits(states_of_bits(bits), states));
}

/// The neighbourhoods of all cells of the tori of a task whose target counts.
std::multiset<std::int64_t> neighbourhoods_in(const AutomatonTask& task, const CellRule& rule) {
  const Tensor states = states_of_bits(task.starts);
  std::multiset<std::int64_t> found;
  for (std::int64_t grid = 0; grid < states.shape()[0]; ++grid) {
    for (int cell = 0; cell < 9; ++cell) {
      if (task.target.at(grid * 9 + cell) == any_value) continue;
      Neighbourhood around{};
      for (int n = 0; n < 9; ++n) {
        const int y = (cell / 3 + n / 3 + 2) % 3;
        const int x = (cell % 3 + n % 3 + 2) % 3;
        around[static_cast<std::size_t>(n)] =
            static_cast<std::uint8_t>(states.at(grid * 9 + y * 3 + x));
      }
      found.insert(rule.index(around));
    }
  }
  return found;
}

TEST(RuleTask, DistinctToriHaveEveryNeighbourhood) {
  for (const char* name : {"B36/S23", "B2/S/3"}) {
    const CellRule rule = parse_cell_rule(name);
    const AutomatonTask task = rule_task(rule, Tori::distinct, 100);
    const std::int64_t grids = task.starts.shape()[1];
    // Burnside's lemma: of the nine translations, all but one have cycles of three cells.
    const std::int64_t fixed = rule.states() * rule.states() * rule.states();
    EXPECT_EQ(grids, (rule.neighbourhoods() + 8 * fixed) / 9) << name;
    EXPECT_EQ(task.batch, std::min<std::int64_t>(100, grids));
    const std::multiset<std::int64_t> found = neighbourhoods_in(task, rule);
    EXPECT_EQ(std::set<std::int64_t>(found.begin(), found.end()).size(),
              static_cast<std::size_t>(rule.neighbourhoods()));
    const Tensor after = rule.step(states_of_bits(task.starts));
    EXPECT_TRUE(same_bits(task.target, bits_of_states(after, rule.states())));
  }
}

// ---------------------------------------------------------------------------------------------
// Examples

class ExamplesTest : public testing::Test {
 protected:
  /// Writes successive states as an NPY file.
  std::string steps_of(const CellRule& rule, Tensor grid, int steps) {
    std::string bytes;
    const Shape shape = grid.shape();
    for (int step = 0; step < steps; ++step) {
      for (const std::uint8_t cell : grid.values<std::uint8_t>()) {
        bytes += static_cast<char>(cell);
      }
      grid = rule.step(grid);
    }
    return npy("|u1",
               "(" + std::to_string(steps) + ", " + std::to_string(shape[1]) + ", " +
                   std::to_string(shape[2]) + ")",
               bytes);
  }

  void expect_refused(const std::string& kind, const std::string& shape, const std::string& values,
                      const std::string& message) {
    write_bytes(path_, npy(kind, shape, values));
    expect_error([&] { read_examples(path_); }, "[rule] " + path_.string() + ": " + message);
  }

  ScratchFolder scratch_;
  std::filesystem::path path_ = scratch_ / "seen.npy";
};

TEST_F(ExamplesTest, GiveTheRuleThatWasSeen) {
  for (const char* name : {"B36/S23", "B2/S/3"}) {
    const CellRule rule = parse_cell_rule(name);
    write_bytes(path_, steps_of(rule, random_grid(rule.states(), 60, 50), 40));
    const CellRule seen = read_examples(path_);
    EXPECT_EQ(seen.name(), "seen");
    EXPECT_EQ(seen.states(), rule.states());
    EXPECT_GT(seen.known(), rule.neighbourhoods() / 4) << name;
    EXPECT_LE(seen.known(), rule.neighbourhoods()) << name;
    const Tensor grid = random_grid(rule.states(), 30, 30, 2);
    Tensor known;
    const Tensor after = seen.step(grid, &known);
    const Tensor expected = rule.step(grid);
    for (std::int64_t i = 0; i < grid.size(); ++i) {
      EXPECT_EQ(after.at(i), known.at(i) != 0 ? expected.at(i) : grid.at(i)) << name << " " << i;
    }
  }
}

TEST_F(ExamplesTest, WhatWasNotSeenDoesNotCount) {
  const CellRule rule = parse_cell_rule("B36/S23");
  write_bytes(path_, steps_of(rule, random_grid(2, 7, 8), 2));
  const CellRule seen = read_examples(path_);
  EXPECT_LE(seen.known(), 5 * 6) << "the cells that are not at the edge";
  const AutomatonTask task = rule_task(seen, Tori::distinct, 512);
  const std::multiset<std::int64_t> found = neighbourhoods_in(task, seen);
  EXPECT_EQ(std::set<std::int64_t>(found.begin(), found.end()).size(),
            static_cast<std::size_t>(seen.known()));
  EXPECT_LT(task.starts.shape()[1], 64);
}

TEST_F(ExamplesTest, MayBePairs) {
  const CellRule rule = parse_cell_rule("B36/S23");
  std::string bytes;
  for (std::uint64_t pair = 0; pair < 3; ++pair) {
    const Tensor before = random_grid(2, 9, 9, pair);
    for (const Tensor& grid : {before, rule.step(before)}) {
      for (const std::uint8_t cell : grid.values<std::uint8_t>()) {
        bytes += static_cast<char>(cell);
      }
    }
  }
  write_bytes(path_, npy("|u1", "(3, 2, 9, 9)", bytes));
  const CellRule seen = read_examples(path_);
  EXPECT_GT(seen.known(), 100);
  for (std::int64_t number = 0; number < 512; ++number) {
    Neighbourhood cells{};
    for (std::size_t i = 0; i < 9; ++i) cells[i] = static_cast<std::uint8_t>(number >> i & 1);
    if (seen.next(cells)) {
      EXPECT_EQ(*seen.next(cells), *rule.next(cells)) << number;
    }
  }
}

TEST_F(ExamplesTest, MayBeAnAnimation) {
  for (const int side : {1, 5}) {
    const CellRule rule = parse_cell_rule("B2/S/3");
    const std::filesystem::path path = scratch_ / "seen.gif";
    const std::vector<picture::Colour> palette = {picture::black, picture::white, {0, 0, 255}};
    Tensor grid = random_grid(3, 24, 31);
    picture::GifWriter writer(path, 31 * side, 24 * side, palette);
    std::vector<Tensor> states;
    for (int step = 0; step < 12; ++step) {
      std::vector<std::uint8_t> pixels;
      for (int i = 0; i < 24 * 31 * side * side; ++i) {
        const int y = i / (31 * side) / side;
        const int x = i % (31 * side) / side;
        pixels.push_back(static_cast<std::uint8_t>(grid.at(y * 31 + x)));
      }
      writer.add(pixels, 5);
      grid = rule.step(grid);
    }
    writer.finish();
    const CellRule seen = read_examples(path);
    EXPECT_EQ(seen.states(), 3);
    EXPECT_GT(seen.known(), 1000);
    const Tensor other = random_grid(3, 30, 30, 2);
    Tensor known;
    const Tensor after = seen.step(other, &known);
    const Tensor expected = rule.step(other);
    for (std::int64_t i = 0; i < other.size(); ++i) {
      if (known.at(i) != 0) {
        ASSERT_EQ(after.at(i), expected.at(i)) << side << " " << i;
      }
    }
  }
}

TEST_F(ExamplesTest, MustNotContradictEachOther) {
  // The same empty neighbourhood gives a 1 in the third step only.
  std::string bytes(3 * 9, '\0');
  bytes[2 * 9 + 4] = '\1';
  expect_refused("|u1", "(3, 3, 3)", bytes,
                 "the cell at step 1, row 1, column 1 becomes 1, but with the same neighbourhood "
                 "the one at step 0, row 1, column 1 became 0: the rule reads more than 3x3 cells, "
                 "has more states, or steps are missing");
}

TEST_F(ExamplesTest, AreChecked) {
  expect_refused("|u1", "(1, 3, 3)", std::string(9, '\0'),
                 "expected at least 2 successive states, received 1");
  expect_refused("|u1", "(2, 2, 5)", std::string(20, '\0'),
                 "expected grids of at least 3x3 cells, received 2x5");
  expect_refused("|u1", "(2, 9)", std::string(18, '\0'),
                 "expected [steps, height, width] or [pairs, 2, height, width], received [2, 9]");
  expect_refused("|u1", "(2, 3, 3)", std::string(18, '\4'),
                 "expected states from 0 to 3, received 4");
  expect_refused("<f4", "(2, 3, 3)", std::string(72, '\0'),
                 "expected states as integers, received float32");
  const std::filesystem::path gif = scratch_ / "none.gif";
  expect_error([&] { read_examples(gif); },
               "[gif] cannot read " + gif.string() + ": No such file or directory");
}

}  // namespace
}  // namespace boolgrad::data
