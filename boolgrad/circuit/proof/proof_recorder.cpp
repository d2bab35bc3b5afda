#include "boolgrad/circuit/proof/proof_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"

namespace boolgrad::circuit {
namespace {

std::string text_of(std::span<const int> clause) {
  std::string text;
  for (const int literal : clause) text += fmt::format("{} ", literal);
  return text + "0\n";
}

}  // namespace

ProofRecorder::Buffer::~Buffer() { std::free(text); }  // NOLINT: `open_memstream` allocates it

ProofRecorder::ProofRecorder(const Netlist& a, const Netlist& b)
    : inputs_(static_cast<int>(a.inputs.size())),
      first_gate_(inputs_ + 2),
      first_difference_(first_gate_ + static_cast<int>(a.gates.size() + b.gates.size())),
      last_variable_(first_difference_ + static_cast<int>(a.outputs.size()) - 1),
      steps_(open_memstream(&buffer_.text, &buffer_.size)) {
  if (steps_ == nullptr) fail("equivalence", "cannot record a proof: {}", system_message());
  add_clause(std::array{-1});
  add_gates(a, first_gate_);
  const int first_gate_of_b = first_gate_ + static_cast<int>(a.gates.size());
  add_gates(b, first_gate_of_b);
  for (std::size_t o = 0; o < a.outputs.size(); ++o) {
    outputs_.emplace_back(variable_of(a, a.output_nets[o], first_gate_),
                          variable_of(b, b.output_nets[o], first_gate_of_b));
  }
  std::vector<int> differs;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const auto [of_a, of_b] = outputs_[o];
    const int difference = first_difference_ + static_cast<int>(o);
    add_clause(std::array{-difference, of_a, of_b});
    add_clause(std::array{-difference, -of_a, -of_b});
    differs.push_back(difference);
  }
  add_clause(differs);
}

int ProofRecorder::variable_of(const Netlist& netlist, Net net, int first_gate) const {
  if (netlist.is_input(net)) return 2 + static_cast<int>(net);
  return first_gate + static_cast<int>(net - netlist.inputs.size());
}

void ProofRecorder::add_clause(std::span<const int> clause) {
  formula_ += text_of(clause);
  ++clauses_;
}

/// One clause per row of every table.
void ProofRecorder::add_gates(const Netlist& netlist, int first_gate) {
  for (std::size_t g = 0; g < netlist.gates.size(); ++g) {
    const NetlistGate& gate = netlist.gates[g];
    const int own = first_gate + static_cast<int>(g);
    for (std::uint64_t row = 0; row < std::uint64_t{1} << gate.arity; ++row) {
      std::vector<int> clause;
      for (std::size_t j = 0; j < gate.arity; ++j) {
        const int input = variable_of(netlist, gate.inputs[j], first_gate);
        clause.push_back((row >> j & 1) != 0 ? -input : input);
      }
      clause.push_back((gate.truth >> row & 1) != 0 ? own : -own);
      add_clause(clause);
    }
  }
}

void ProofRecorder::lemma(std::span<const int> clause) {
  const std::string text = text_of(clause);
  std::fwrite(text.data(), 1, text.size(), steps_.get());
}

void ProofRecorder::lemma_by_cases(const std::vector<int>& clause, std::span<const int> cases) {
  if (cases.empty()) return lemma(clause);
  const int variable = cases.front();
  const auto is_it = [&](int literal) { return std::abs(literal) == std::abs(variable); };
  if (std::ranges::any_of(clause, is_it)) return lemma_by_cases(clause, cases.subspan(1));
  for (const int literal : {variable, -variable}) {
    std::vector<int> longer = clause;
    longer.push_back(literal);
    lemma_by_cases(longer, cases.subspan(1));
  }
  lemma(clause);
}

void ProofRecorder::conclude() {
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const int difference = first_difference_ + static_cast<int>(o);
    lemma(std::array{-difference, outputs_[o].first});
    lemma(std::array{-difference});
  }
  lemma({});
}

EquivalenceProof ProofRecorder::take() {
  if (std::fflush(steps_.get()) != 0) {
    fail("equivalence", "cannot record a proof: {}", system_message());
  }
  EquivalenceProof proof;
  proof.formula = fmt::format("p cnf {} {}\n", last_variable_, clauses_) + formula_;
  // Deletions are left out. The solver may bring back an original clause that it has deleted, which
  // its steps do not say; and every clause of a refutation may stay.
  std::istringstream lines(std::string(buffer_.text, buffer_.size));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('d')) proof.steps += line + '\n';
  }
  return proof;
}

}  // namespace boolgrad::circuit
