// Proofs of equivalence, checked by a checker of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "boolgrad/circuit/formats/blif.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/circuit/proof/equivalence.h"
#include "tests/support/built_in_netlists.h"
#include "tests/support/netlists.h"
#include "tests/support/proof_checker.h"

namespace boolgrad::circuit {
namespace {

using testing_support::ProofChecker;

constexpr EquivalenceParams recorded{.record_proof = true};

EquivalenceProof proof_of(const Netlist& a, const Netlist& b) {
  EquivalenceStats stats;
  EXPECT_FALSE(difference(a, b, recorded, &stats)) << "equivalent by construction";
  EXPECT_FALSE(stats.exhaustive);
  return stats.proof;
}

std::string fault_of(const EquivalenceProof& proof) {
  return ProofChecker::fault(proof.formula, proof.steps);
}

/// Whether values of the variables, from variable 1 on, satisfy a clause.
bool satisfies(const std::vector<bool>& values, const std::string& clause) {
  std::istringstream text(clause);
  for (int literal = 0; text >> literal && literal != 0;) {
    if (values[static_cast<std::size_t>(std::abs(literal)) - 1] == (literal > 0)) return true;
  }
  return false;
}

/// Values of all nets for one input, by the definition of a netlist.
void append_gates(const Netlist& netlist, const std::vector<bool>& inputs,
                  std::vector<bool>& values, std::vector<bool>& outputs) {
  std::vector<bool> nets = inputs;
  for (const NetlistGate& gate : netlist.gates) {
    std::size_t row = 0;
    for (std::size_t j = 0; j < gate.arity; ++j) {
      row |= std::size_t{nets[gate.inputs[j]]} << j;
    }
    nets.push_back((gate.truth >> row & 1) != 0);
  }
  values.insert(values.end(), nets.begin() + static_cast<std::ptrdiff_t>(inputs.size()),
                nets.end());
  for (const Net net : netlist.output_nets) outputs.push_back(nets[net]);
}

TEST(EquivalenceProof, IsAcceptedForRandomCircuitsAfterPasses) {
  EXPECT_TRUE(rc::check("on a simplified circuit", [](std::uint64_t seed) {
    const Netlist netlist = random_netlist(1 + seed % 11, seed / 16 % 50, 4, 6, seed);
    const EquivalenceProof proof = proof_of(netlist, simplify(netlist));
    RC_ASSERT(fault_of(proof) == "");
  }));
}

TEST(EquivalenceProof, IsAcceptedForExportsOfBuiltInModels) {
  for (const char* name : {"add", "multiply_gates", "popcount", "parity", "gray", "life"}) {
    SCOPED_TRACE(name);
    const Netlist netlist = built_in_netlist(name);
    const Netlist exported = netlist_from_blif(to_blif(simplify(netlist)), "export");
    EXPECT_EQ(fault_of(proof_of(netlist, exported)), "");
  }
}

// The formula is that of the two circuits: the values of all nets satisfy every clause but the
// last, which asks for outputs that differ.
TEST(EquivalenceProof, HasTheFormulaOfBothCircuits) {
  const Netlist a = random_netlist(6, 30, 4, 4, 5);
  const Netlist b = simplify(a);
  const EquivalenceProof proof = proof_of(a, b);
  for (std::size_t input = 0; input < 64; ++input) {
    std::vector<bool> inputs;
    for (std::size_t j = 0; j < 6; ++j) inputs.push_back((input >> j & 1) != 0);
    std::vector<bool> values{false};
    values.insert(values.end(), inputs.begin(), inputs.end());
    std::vector<bool> of_a;
    std::vector<bool> of_b;
    append_gates(a, inputs, values, of_a);
    append_gates(b, inputs, values, of_b);
    EXPECT_EQ(of_a, of_b);
    values.resize(values.size() + a.outputs.size(), false);
    std::istringstream lines(proof.formula);
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line.substr(0, fmt::format("p cnf {} ", values.size()).size()),
              fmt::format("p cnf {} ", values.size()));
    std::vector<std::string> clauses;
    while (std::getline(lines, line)) clauses.push_back(line);
    for (std::size_t i = 0; i + 1 < clauses.size(); ++i) {
      EXPECT_TRUE(satisfies(values, clauses[i])) << clauses[i];
    }
    EXPECT_FALSE(satisfies(values, clauses.back()));
  }
}

TEST(EquivalenceProof, DoesNotExistForABrokenExport) {
  const Netlist netlist = built_in_netlist("add");
  Netlist broken = netlist_from_blif(to_blif(netlist), "export");
  // One row of the table that drives an output.
  NetlistGate& gate = broken.gates[broken.output_nets[0] - broken.inputs.size()];
  gate.truth ^= 1;
  EquivalenceStats stats;
  const auto found = difference(netlist, broken, recorded, &stats);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->output, 0U);
  EXPECT_EQ(stats.proof.formula + stats.proof.steps, "");
}

TEST(EquivalenceProof, IsRefusedOnceItIsChanged) {
  const Netlist netlist = random_netlist(8, 40, 3, 3, 9);
  const EquivalenceProof proof = proof_of(netlist, simplify(netlist));
  ASSERT_EQ(fault_of(proof), "");
  EXPECT_EQ(ProofChecker::fault(proof.formula, ""), "the last step is not the empty clause");
  EXPECT_EQ(ProofChecker::fault(proof.formula, "0\n"), "step 1 does not follow");
  // Without the last clause, no output has to differ: there is nothing to refute.
  const std::size_t last = proof.formula.rfind('\n', proof.formula.size() - 2) + 1;
  EXPECT_NE(ProofChecker::fault(proof.formula.substr(0, last), proof.steps), "");
  // A step that is wrong: an input is always 1.
  EXPECT_EQ(ProofChecker::fault(proof.formula, "2 0\n" + proof.steps), "step 1 does not follow");
}

TEST(ProofChecker, DecidesByUnitPropagation) {
  const std::string formula = "p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n";
  EXPECT_EQ(ProofChecker::fault(formula, "2 0\n0\n"), "");
  EXPECT_EQ(ProofChecker::fault(formula, "2 0\n"), "the last step is not the empty clause");
  EXPECT_EQ(ProofChecker::fault(formula, "0\n"), "step 1 does not follow");
  EXPECT_EQ(ProofChecker::fault("p cnf 2 3\n1 2 0\n-1 2 0\n1 -2 0\n", "2 0\n1 0\n0\n"),
            "step 3 does not follow");
  EXPECT_EQ(ProofChecker::fault("p cnf 3 3\n1 0\n-1 2 3 0\n-2 0\n", "3 0\n-3 0\n"),
            "step 2 does not follow");
}

}  // namespace
}  // namespace boolgrad::circuit
