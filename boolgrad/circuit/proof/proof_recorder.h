// Records a proof of equivalence as text that independent checkers read.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/circuit/proof/equivalence.h"

namespace boolgrad::circuit {

/// The formula of two netlists and the steps of its refutation.
///
/// Variable 1 is the constant false. Then follow the inputs, the gates of the first netlist, those
/// of the second, and one variable per output, which is false where the outputs agree. A literal is
/// a variable, or minus it for its complement.
class ProofRecorder {
 public:
  ProofRecorder(const Netlist& a, const Netlist& b);
  ProofRecorder(const ProofRecorder&) = delete;
  ProofRecorder& operator=(const ProofRecorder&) = delete;

  /// Where the SAT solver writes its own steps. Flush it before the next `lemma`.
  std::FILE* steps() { return steps_.get(); }

  /// The variable of a gate: those of the first netlist are followed by those of the second.
  int gate_variable(std::size_t gate) const { return first_gate_ + static_cast<int>(gate); }

  /// A clause that unit propagation derives from the clauses so far.
  void lemma(std::span<const int> clause);

  /// A clause that unit propagation derives once the variables in `cases` have values.
  void lemma_by_cases(const std::vector<int>& clause, std::span<const int> cases);

  /// Derives that no output differs, once it is proven for every pair of outputs.
  void conclude();

  /// What was recorded. The solver must have closed its file.
  EquivalenceProof take();

 private:
  struct Closing {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Buffer {
    char* text = nullptr;
    std::size_t size = 0;
    ~Buffer();
  };

  int variable_of(const Netlist& netlist, Net net, int first_gate) const;
  void add_clause(std::span<const int> clause);
  void add_gates(const Netlist& netlist, int first_gate);

  int inputs_;
  int first_gate_;
  int first_difference_;
  int last_variable_;
  std::size_t clauses_ = 0;
  std::string formula_;
  std::vector<std::pair<int, int>> outputs_;  ///< the literals of each pair
  Buffer buffer_;
  std::unique_ptr<std::FILE, Closing> steps_;
};

}  // namespace boolgrad::circuit
