#include "boolgrad/automata/edited_rollout.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/grid_errors.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/automata/starts.h"
#include "boolgrad/data/automaton_task.h"
#include "boolgrad/ops/shaping.h"
#include "tests/support/messages.h"
#include "tests/support/op_cases.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::automata {
namespace {

struct Case {
  Rule rule;
  BitGrid starts;
  std::vector<BitGrid> fire;
  std::int64_t steps;
  Tensor target;
  std::int64_t counted;  ///< last states that are compared
};

Case make_case(std::uint64_t seed) {
  Choices choose(seed);
  const RuleShape shape{.channels = choose.between(1, 4),
                        .kernels = choose.between(1, 3),
                        .perceive = choose.below(2) == 0 ? std::vector<std::int64_t>{8}
                                                         : std::vector<std::int64_t>{8, 4, 2},
                        .update = {choose.between(6, 20)}};
  const Border border = choose.below(2) == 0 ? Border::zero : Border::periodic;
  // Pass-through gates make buffers, constants and inverters frequent.
  const logic::Initialisation kind =
      choose.below(2) == 0 ? logic::Initialisation::gaussian : logic::Initialisation::pass_through;
  const RolloutSize size{choose.between(1, 3), choose.between(3, 12), choose.between(3, 70), 4};
  const Shape grids{shape.channels, size.batch, size.height, size.width};
  std::vector<BitGrid> fire;
  if (choose.below(2) == 0) {
    const Tensor masks = fire_masks(size, 0.6, seed, 2);
    for (std::int64_t t = 0; t < size.steps; ++t) {
      fire.push_back(BitGrid::from(slice(masks, 0, t, t + 1)));
    }
  }
  const std::int64_t targets = choose.below(2) == 0 ? 1 : size.batch;
  return {
      Rule::make(shape, border, Parametrisation::sigmoid, DType::float32, {kind, 1}, seed % 10000),
      BitGrid::from(random_starts(grids, seed, 1)),
      fire,
      size.steps,
      random_starts({choose.between(1, shape.channels), targets, size.height, size.width}, seed, 3),
      choose.between(1, size.steps)};
}

std::int64_t errors_in(const BitGrid& state, const BitGrid& expected) {
  std::int64_t errors = 0;
  for (std::int64_t c = 0; c < expected.channels(); ++c) {
    for (std::int64_t i = 0; i < state.batch(); ++i) {
      for (std::int64_t y = 0; y < state.height(); ++y) {
        for (std::int64_t x = 0; x < state.width(); ++x) {
          errors +=
              state.at(c, i, y, x) != expected.at(c, expected.batch() == 1 ? 0 : i, y, x) ? 1 : 0;
        }
      }
    }
  }
  return errors;
}

std::int64_t errors_of_circuit(const Case& given) {
  BitAutomaton automaton(given.rule);
  BitGrid state = given.starts;
  const BitGrid expected = BitGrid::from(given.target);
  std::int64_t errors = 0;
  for (std::int64_t t = 0; t < given.steps; ++t) {
    automaton.step(state, given.fire.empty() ? nullptr : &given.fire[static_cast<std::size_t>(t)]);
    if (t >= given.steps - given.counted) errors += errors_in(state, expected);
  }
  return errors;
}

/// Flips an entry of a table and returns the new table of the gate.
unsigned flip(Rule& rule, std::size_t layer, std::int64_t gate, std::int64_t entry) {
  Tensor logits = rule.parameters()[layer];
  const std::span<float> values = logits.mutable_values<float>();
  const auto first = static_cast<std::size_t>(gate * 4);
  values[first + static_cast<std::size_t>(entry)] *= -1;
  unsigned table = 0;
  for (unsigned e = 0; e < 4; ++e) table |= (values[first + e] > 0 ? 1U : 0U) << e;
  return table;
}

TEST(EditedRollout, CountsTheErrorsOfTheCircuit) {
  EXPECT_TRUE(rc::check("errors agree after every edit", [](std::uint64_t seed) {
    Case given = make_case(seed);
    Choices choose(seed + 1);
    EditedRollout rollout(given.rule, given.starts, given.fire, given.steps, given.target,
                          given.counted);
    std::int64_t kept = errors_of_circuit(given);
    RC_ASSERT(rollout.errors() == kept);
    RC_ASSERT(
        hard_errors(given.rule, given.starts, given.fire, given.steps, given.counted, given.target)
            .bits == kept);
    for (int change = 0; change < 12; ++change) {
      const auto layer = static_cast<std::size_t>(
          choose.below(static_cast<std::int64_t>(given.rule.parameters().size())));
      const std::int64_t gate = choose.below(given.rule.parameters()[layer].shape()[0]);
      const std::int64_t entry = choose.below(4);
      const unsigned table = flip(given.rule, layer, gate, entry);
      const std::int64_t errors = rollout.errors_with(layer, gate, table);
      RC_ASSERT(errors == errors_of_circuit(given));
      if (choose.below(2) == 0) {
        rollout.keep();
        kept = errors;
      } else {
        flip(given.rule, layer, gate, entry);
      }
      RC_ASSERT(rollout.errors() == kept);
    }
  }));
}

TEST(EditedRollout, AppliesMasks) {
  Case given = make_case(12);
  const EditedRollout before(given.rule, given.starts, given.fire, given.steps, given.target,
                             given.counted);
  logic::Network update = given.rule.update();
  Tensor mask = Tensor::ones({update.outputs()}, DType::float32);
  mask.mutable_values<float>()[0] = 0;
  update.set_mask(update.layers().size() - 1, mask);
  given.rule = Rule(given.rule.border(), given.rule.kernels(), given.rule.perceive(), update);
  const EditedRollout after(given.rule, given.starts, given.fire, given.steps, given.target,
                            given.counted);
  EXPECT_EQ(after.errors(), errors_of_circuit(given));
  EXPECT_NE(after.errors(), before.errors());
}

TEST(EditedRollout, ComparesStatesThatThereAre) {
  const Case given = make_case(12);
  for (const std::int64_t counted : {0, 6}) {
    expect_error(
        [&] { EditedRollout(given.rule, given.starts, given.fire, 4, given.target, counted); },
        "[edited_rollout] expected 1 to 5 states to compare, received " + std::to_string(counted));
  }
}

TEST(EditedRollout, PredictsItsMemory) {
  const Case given = make_case(12);
  EXPECT_GT(EditedRollout::bytes(given.rule, given.starts, 4), 0U);
  EXPECT_EQ(EditedRollout::bytes(given.rule, given.starts, 9),
            2 * EditedRollout::bytes(given.rule, given.starts, 4));
}

}  // namespace
}  // namespace boolgrad::automata
