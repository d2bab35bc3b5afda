#include "boolgrad/model/circuit_evaluation.h"

#include <gtest/gtest.h>

#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

ModelSpec spec_of(data::TaskKind kind) {
  ModelSpec spec;
  spec.task.kind = kind;
  return spec;
}

/// The parity of x[1] and x[0], with the bits in the wrong order and possibly a wrong table.
circuit::Netlist parity(std::uint64_t truth) {
  return circuit::checked({.name = "parity",
                           .inputs = {"x[1]", "x[0]"},
                           .outputs = {"y[0]"},
                           .gates = {{.truth = truth, .inputs = {0, 1}, .arity = 2}},
                           .output_nets = {2},
                           .state = std::nullopt});
}

TEST(CircuitEvaluation, CountsWrongBitsAndNamesTheFirst) {
  const CircuitEvaluation right =
      evaluate_circuit(parity(0b0110), spec_of(data::TaskKind::parity), "p");
  EXPECT_EQ(right.cases, 4);
  EXPECT_EQ(right.wrong_bits, 0);
  EXPECT_TRUE(right.matches_names);
  EXPECT_FALSE(right.first_wrong);
  // x[1] and not x[0] for the parity.
  const CircuitEvaluation wrong =
      evaluate_circuit(parity(0b0010), spec_of(data::TaskKind::parity), "p");
  EXPECT_EQ(wrong.wrong_bits, 1);
  EXPECT_EQ(wrong.wrong_cases, 1);
  EXPECT_EQ(wrong.accuracy(), 0.75);
  ASSERT_TRUE(wrong.first_wrong);
  EXPECT_EQ(wrong.first_wrong->inputs, (std::vector<std::string>{"x[0]", "x[1]"}));
  EXPECT_EQ(wrong.first_wrong->values, (std::vector<bool>{true, false}));
  EXPECT_EQ(wrong.first_wrong->output, "y[0]");
  EXPECT_TRUE(wrong.first_wrong->expected);
}

TEST(CircuitEvaluation, UsesTheSizeOfTables) {
  const testing_support::ScratchFolder scratch;
  testing_support::write_bytes(scratch / "t.csv", "a,b,out\n0,0,1\n1,1,1\n");
  ModelSpec spec = spec_of(data::TaskKind::table);
  spec.task.file = (scratch / "t.csv").string();
  const CircuitEvaluation result = evaluate_circuit(parity(0b0111), spec, "p");
  EXPECT_EQ(result.cases, 2);
  EXPECT_EQ(result.wrong_bits, 1);
  EXPECT_FALSE(result.matches_names);
}

TEST(CircuitEvaluation, RefusesOtherTasks) {
  expect_error([] { evaluate_circuit(parity(6), spec_of(data::TaskKind::life), "p"); },
               "[eval] p: expected the experiment of a circuit, received life");
  expect_error([] { evaluate_circuit(parity(6), spec_of(data::TaskKind::add), "p"); },
               "[eval] p: expected 2 inputs and 2 outputs for add, received 2 and 1");
}

}  // namespace
}  // namespace boolgrad
