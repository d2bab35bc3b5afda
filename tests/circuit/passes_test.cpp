#include "boolgrad/circuit/passes/passes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>

#include "boolgrad/automata/bit_automaton.h"
#include "boolgrad/automata/rule_netlist.h"
#include "boolgrad/circuit/convert.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/support/life_rule.h"
#include "tests/support/messages.h"
#include "tests/support/netlists.h"

namespace boolgrad::circuit {
namespace {

constexpr std::uint64_t conjunction = 0b1000;

Netlist of_gates(std::size_t inputs, std::vector<NetlistGate> gates, std::vector<Net> outputs) {
  Netlist netlist;
  for (std::size_t i = 0; i < inputs; ++i) netlist.inputs.push_back(fmt::format("x{}", i));
  for (std::size_t o = 0; o < outputs.size(); ++o) netlist.outputs.push_back(fmt::format("y{}", o));
  netlist.gates = std::move(gates);
  netlist.output_nets = std::move(outputs);
  return checked(std::move(netlist));
}

TEST(Passes, PreserveTheFunction) {
  const auto rewriting = [](const Netlist& netlist, PassStats* stats) {
    return rewrite_cuts(netlist, {}, stats);
  };
  const auto observability = [](const Netlist& netlist, PassStats* stats) {
    return optimise_dont_cares(netlist, {}, stats);
  };
  const auto resubstitution = [](const Netlist& netlist, PassStats* stats) {
    return resubstitute(netlist, {}, stats);
  };
  const auto arithmetic = [](const Netlist& netlist, PassStats* stats) {
    return resynthesise_arithmetic(netlist, {}, stats);
  };
  const std::vector<std::function<Netlist(const Netlist&, PassStats*)>> passes{
      propagate_constants, remove_unused_inputs,  absorb_buffers,
      structural_hashing,  remove_dangling_gates, decompose,
      rewriting,           resubstitution,        observability,
      arithmetic};
  EXPECT_TRUE(rc::check("each alone, on any netlist", [&](std::uint64_t seed) {
    const Netlist netlist = random_netlist(8, 60, 6, 1 + static_cast<int>(seed % 6), seed);
    for (std::size_t p = 0; p < passes.size(); ++p) {
      PassStats stats;
      const Netlist result = passes[p](netlist, &stats);
      RC_ASSERT(!difference(netlist, result));
      RC_ASSERT(stats.gates_before == gate_count(netlist));
      RC_ASSERT(stats.gates_after == gate_count(result));
      RC_ASSERT(stats.depth_after == depth(result));
      RC_ASSERT(!stats.pass.empty() && !stats.changes_function);
    }
  }));
}

bool same(const PassStats& a, const PassStats& b) {
  return a.pass == b.pass && a.gates_before == b.gates_before && a.gates_after == b.gates_after &&
         a.depth_before == b.depth_before && a.depth_after == b.depth_after &&
         a.changes_function == b.changes_function;
}

/// `simplify` with a netlist between any two passes.
Netlist simplified_step_by_step(Netlist netlist, std::vector<PassStats>& stats) {
  const SimplifyParams params;
  const auto next = [&] { return &stats.emplace_back(); };
  for (const auto& pass : {propagate_constants, remove_unused_inputs, absorb_buffers,
                           structural_hashing, remove_dangling_gates, decompose}) {
    netlist = pass(netlist, next());
  }
  const auto iterate = [&] {
    for (int i = 0; i < params.max_iterations; ++i) {
      const std::int64_t before = gate_count(netlist);
      netlist = resubstitute(netlist, params.resubstitution, next());
      netlist = optimise_dont_cares(netlist, params.dont_cares, next());
      netlist = rewrite_cuts(netlist, params.rewriting, next());
      if (gate_count(netlist) >= before) break;
    }
  };
  iterate();
  const std::int64_t before = gate_count(netlist);
  netlist = resynthesise_arithmetic(netlist, params.arithmetic, next());
  if (gate_count(netlist) < before) iterate();
  return netlist;
}

TEST(Passes, SimplifyAgreesWithASequenceOfNetlistPasses) {
  EXPECT_TRUE(rc::check("netlist and statistics", [](std::uint64_t seed) {
    const Netlist netlist = random_netlist(9, 80, 8, 1 + static_cast<int>(seed % 4), seed);
    std::vector<PassStats> stats;
    std::vector<PassStats> expected_stats;
    const Netlist expected = simplified_step_by_step(netlist, expected_stats);
    RC_ASSERT(simplify(netlist, {}, &stats) == expected);
    RC_ASSERT(std::ranges::equal(stats, expected_stats, same));
  }));
}

TEST(Passes, SimplifyPreservesTheFunction) {
  EXPECT_TRUE(rc::check("with and without wide tables", [](std::uint64_t seed) {
    const Netlist netlist = random_netlist(9, 80, 6, 2, seed);
    std::vector<PassStats> stats;
    const Netlist result = simplify(netlist, {}, &stats);
    RC_ASSERT(!difference(netlist, result));
    RC_ASSERT(stats.size() >= 9U);
    RC_ASSERT(result.inputs == netlist.inputs && result.outputs == netlist.outputs);
    SimplifyParams tables_kept;
    tables_kept.keeps_tables = true;
    const Netlist tables = simplify(netlist, tables_kept);
    RC_ASSERT(!difference(netlist, tables));
  }));
}

TEST(Passes, PropagateConstants) {
  // AND(x, 1), then AND of that and 0.
  const Netlist netlist = of_gates(1,
                                   {{.truth = 1},
                                    {.truth = conjunction, .inputs = {0, 1}, .arity = 2},
                                    {.truth = 0},
                                    {.truth = conjunction, .inputs = {2, 3}, .arity = 2}},
                                   {4, 2});
  const Netlist result = propagate_constants(netlist);
  EXPECT_EQ(gate_count(result), 1) << "a buffer is left for another pass";
  EXPECT_EQ(result.driver(result.output_nets[0]).arity, 0);
}

TEST(Passes, RemoveUnusedInputs) {
  const Netlist netlist = of_gates(3,
                                   {{.truth = 0b11001100, .inputs = {0, 1, 2}, .arity = 3},
                                    {.truth = conjunction, .inputs = {2, 2}, .arity = 2}},
                                   {3, 4});
  const Netlist result = remove_unused_inputs(netlist);
  EXPECT_EQ(result.gates[0], (NetlistGate{.truth = 0b10, .inputs = {1}, .arity = 1}));
  EXPECT_EQ(result.gates[1], (NetlistGate{.truth = 0b10, .inputs = {2}, .arity = 1}));
}

TEST(Passes, AbsorbBuffersAndInverters) {
  // NOT of NOR, NOT of NOT, and a buffer.
  const Netlist netlist = of_gates(2,
                                   {{.truth = 0b0001, .inputs = {0, 1}, .arity = 2},
                                    {.truth = 0b01, .inputs = {2}, .arity = 1},
                                    {.truth = 0b01, .inputs = {0}, .arity = 1},
                                    {.truth = 0b01, .inputs = {4}, .arity = 1},
                                    {.truth = 0b10, .inputs = {3}, .arity = 1}},
                                   {3, 5, 6});
  const Netlist result = absorb_buffers(netlist);
  ASSERT_EQ(result.gates.size(), 1U);
  EXPECT_EQ(result.gates[0].truth, 0b1110U);
  EXPECT_EQ(result.output_nets, (std::vector<Net>{2, 0, 2}));
}

TEST(Passes, KeepInvertersForOutputsThatNeedThem) {
  const Netlist netlist = of_gates(2,
                                   {{.truth = 0b1000, .inputs = {0, 1}, .arity = 2},
                                    {.truth = 0b0111, .inputs = {1, 0}, .arity = 2},
                                    {.truth = 0b01, .inputs = {0}, .arity = 1}},
                                   {2, 3, 4});
  const Netlist result = simplify(netlist);
  EXPECT_EQ(gate_count(result), 3);
  EXPECT_FALSE(difference(netlist, result));
}

TEST(Passes, MergeEqualGates) {
  // x AND NOT y twice, with inputs in either order, and its complement.
  const Netlist netlist = of_gates(3,
                                   {{.truth = 0b0010, .inputs = {0, 1}, .arity = 2},
                                    {.truth = 0b0100, .inputs = {1, 0}, .arity = 2},
                                    {.truth = 0b1011, .inputs = {1, 0}, .arity = 2},
                                    {.truth = conjunction, .inputs = {3, 2}, .arity = 2},
                                    {.truth = conjunction, .inputs = {4, 2}, .arity = 2},
                                    {.truth = conjunction, .inputs = {5, 2}, .arity = 2}},
                                   {6, 7, 8});
  const Netlist result = structural_hashing(netlist);
  EXPECT_EQ(gate_count(result), 3);
  EXPECT_EQ(result.output_nets[0], result.output_nets[1]);
}

TEST(Passes, RemoveDanglingGates) {
  const Netlist netlist = of_gates(2,
                                   {{.truth = conjunction, .inputs = {0, 1}, .arity = 2},
                                    {.truth = 0b0110, .inputs = {0, 1}, .arity = 2},
                                    {.truth = conjunction, .inputs = {2, 1}, .arity = 2}},
                                   {3});
  const Netlist result = remove_dangling_gates(netlist);
  ASSERT_EQ(result.gates.size(), 1U);
  EXPECT_EQ(result.gates[0].truth, 0b0110U);
}

std::vector<std::int64_t> gates_after(const std::vector<PassStats>& stats) {
  std::vector<std::int64_t> counts;
  for (const PassStats& pass : stats) counts.push_back(pass.gates_after);
  return counts;
}

TEST(Passes, PinLife) {
  const Netlist netlist = harden(life_rule());
  std::vector<PassStats> stats;
  const Netlist result = simplify(netlist, {}, &stats);
  EXPECT_EQ(stats[0].gates_before, 11);
  EXPECT_EQ(gates_after(stats),
            (std::vector<std::int64_t>{11, 11, 11, 11, 11, 28, 28, 28, 26, 26, 26, 26, 26}));
  EXPECT_FALSE(difference(netlist, result));
  EXPECT_EQ(result.state, netlist.state);
}

TEST(Passes, PinAnUntrainedRule) {
  const automata::RuleShape shape{
      .channels = 3, .kernels = 2, .perceive = {8, 4, 2}, .update = {40, 20}};
  const automata::Rule rule =
      automata::Rule::make(shape, Border::zero, Parametrisation::softmax16, DType::float32,
                           {logic::Initialisation::gaussian, 1}, 7);
  const Netlist netlist = harden(rule);
  std::vector<PassStats> stats;
  const Netlist result = simplify(netlist, {}, &stats);
  EXPECT_EQ(gates_after(stats),
            (std::vector<std::int64_t>{123, 123, 84, 84, 26, 26, 26, 26, 17, 17, 17, 17, 17}));
  EXPECT_FALSE(difference(netlist, result)) << "by SAT: it has 27 inputs";
}

logic::BitMatrix samples_of(std::int64_t inputs, std::int64_t samples, std::uint64_t seed) {
  logic::BitMatrix matrix{inputs, samples, {}};
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(inputs * matrix.words_per_feature());
       ++i) {
    const auto bits = random_bits({.seed = seed, .index = i});
    matrix.words.push_back(std::uint64_t{bits[0]} << 32 | bits[1]);
  }
  return matrix;
}

TEST(RestrictToSamples, PreservesTheOutputsOnTheSamples) {
  EXPECT_TRUE(rc::check("on every sample", [](std::uint64_t seed) {
    const Netlist netlist = random_netlist(10, 80, 6, 1 + static_cast<int>(seed % 6), seed);
    const auto count = static_cast<std::int64_t>(1 + seed % 150);
    const logic::BitMatrix samples = samples_of(10, count, seed);
    PassStats stats;
    const Netlist result = restrict_to_samples(netlist, samples, &stats);
    RC_ASSERT(stats.changes_function);
    const auto words = static_cast<std::size_t>(samples.words_per_feature());
    for (std::int64_t s = 0; s < count; ++s) {
      std::vector<std::uint64_t> inputs;
      for (std::size_t i = 0; i < 10; ++i) {
        inputs.push_back(samples.words[i * words + static_cast<std::size_t>(s / 64)] >> (s % 64) &
                         1);
      }
      const auto expected = evaluate(netlist, inputs);
      const auto received = evaluate(result, inputs);
      for (std::size_t o = 0; o < 6; ++o) {
        RC_ASSERT(((expected[o] ^ received[o]) & 1) == 0);
      }
    }
  }));
}

TEST(RestrictToSamples, UsesCombinationsThatDoNotOccur) {
  // XOR of inputs that are never both 1 is OR. With one input always 0 it is the other.
  const Netlist netlist = of_gates(2, {{.truth = 0b0110, .inputs = {0, 1}, .arity = 2}}, {2});
  EXPECT_EQ(gate_count(restrict_to_samples(netlist, {2, 3, {0b010, 0b100}})), 1);
  EXPECT_EQ(gate_count(restrict_to_samples(netlist, {2, 2, {0b10, 0b00}})), 0);
  EXPECT_EQ(gate_count(restrict_to_samples(netlist, {2, 2, {0b10, 0b01}})), 0);
}

TEST(RestrictToSamples, RejectsSamplesOfOtherInputs) {
  const Netlist netlist = of_gates(2, {}, {0});
  expect_error(
      [&] {
        restrict_to_samples(netlist, {3, 1, {0, 0, 0}});
      },
      "[restrict_to_samples] expected samples of 2 inputs, received 1 of 3");
}

}  // namespace
}  // namespace boolgrad::circuit
