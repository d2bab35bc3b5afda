// SAT sweeping. Nets that agree under simulation are candidates for equality. The solver proves
// candidates from the inputs up, and proven nets become one variable, which keeps the next query
// small. Where it finds a difference instead, the inputs that show it join the simulation, so that
// nets of the same kind are not asked about again. Every merge and every output is proven.
#include "boolgrad/circuit/proof/sat_miter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cadical.hpp>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "boolgrad/circuit/proof/proof_recorder.h"
#include "boolgrad/circuit/table.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"

namespace boolgrad::circuit {
namespace {

// Random words, then words of inputs for which candidates differed.
constexpr std::size_t random_words = 16;
constexpr std::size_t sample_words = 32;
constexpr std::size_t word_bits = 64;
using Samples = std::array<std::uint64_t, sample_words>;

constexpr int satisfiable = 10;
constexpr int unsatisfiable = 20;

Samples complement_of(Samples samples) {
  for (std::uint64_t& word : samples) word = ~word;
  return samples;
}

/// Random samples of an input. In every other word, all inputs are rarely 1, or rarely 0: uniform
/// bits alone make nets alike that differ only where many inputs agree.
Samples random_samples(std::size_t input) {
  Samples samples{};
  for (std::size_t w = 0; w < random_words; ++w) {
    const auto bits = random_bits({.index = input * random_words + w});
    const std::uint64_t word = std::uint64_t{bits[0]} << 32 | bits[1];
    const std::uint64_t second = std::uint64_t{bits[2]} << 32 | bits[3];
    const std::uint64_t third = std::rotl(word, 23) ^ std::rotl(second, 41);
    switch (w % 4) {
      case 1: samples[w] = word & second & (w % 8 == 1 ? third : ~0ULL); break;
      case 3: samples[w] = word | second | (w % 8 == 3 ? third : 0ULL); break;
      default: samples[w] = word;
    }
  }
  return samples;
}

/// Solver variables, each a function of the inputs. Variable 0 is the constant false.
class Miter {
 public:
  /// `proof` may be null.
  Miter(std::size_t inputs, const EquivalenceParams& params, EquivalenceStats& stats,
        ProofRecorder* proof)
      : params_(params), stats_(stats), proof_(proof) {
    if (proof_ != nullptr) {
      solver_.set("quiet", 1);
      solver_.set("binary", 0);
      solver_.trace_proof(proof_->steps(), "proof");
    }
    add_variable({});
    solver_.add(-name(BitLiteral(0)));
    solver_.add(0);
    for (std::size_t i = 0; i < inputs; ++i) {
      inputs_.push_back(add_variable(random_samples(i)));
    }
  }

  /// Adds a netlist and returns the literals of its outputs.
  std::vector<BitLiteral> add(const Netlist& netlist) {
    std::vector<BitLiteral> literals = inputs_;
    for (const NetlistGate& gate : netlist.gates) {
      TableGate table{stretched(gate.truth, gate.arity), {}, false};
      std::vector<int> sources;
      for (const Net net : gate.sources()) {
        table.inputs.push_back(literals[net]);
        sources.push_back(name(literals[net]));
      }
      literals.push_back(add_gate(canonical(std::move(table)), sources));
      prove_same(proof_gates_++, literals.back(), sources);
    }
    std::vector<BitLiteral> outputs;
    for (const Net net : netlist.output_nets) outputs.push_back(literals[net]);
    return outputs;
  }

  /// An input for which two literals differ, if there is one.
  std::optional<std::vector<bool>> difference(BitLiteral a, BitLiteral b) {
    if (a == b) return {};
    for (const bool value : {false, true}) {
      const int verdict = ask(a ^ value, !b ^ value, 0);
      if (verdict == satisfiable) return inputs_of_model();
      if (verdict != unsatisfiable) {
        fail("equivalence", "the SAT solver gave no answer (status {})", verdict);
      }
      prove({!a ^ value, b ^ value});
    }
    return {};
  }

  /// Whether literals are 1 together in some sample, or the solver cannot exclude it.
  bool may_hold(const std::vector<BitLiteral>& literals, std::int64_t& queries_left) {
    for (std::size_t w = 0; w < sample_words; ++w) {
      std::uint64_t here = ~0ULL;
      for (const BitLiteral literal : literals) {
        const std::uint64_t word = samples_[literal.node()][w];
        here &= literal.complemented() ? ~word : word;
      }
      if (here != 0) return true;
    }
    if (queries_left-- <= 0) return true;
    ++stats_.solver_calls;
    for (const BitLiteral literal : literals) solver_.assume(name(literal));
    solver_.limit("conflicts", params_.max_conflicts);
    const int verdict = solver_.solve();
    if (verdict == satisfiable) note_difference();
    return verdict != unsatisfiable;
  }

  /// Ends the steps of the solver.
  void close_proof() { solver_.close_proof_trace(); }

 private:
  /// The literal in clauses.
  int name(BitLiteral literal) const {
    const int variable = names_[literal.node()];
    return literal.complemented() ? -variable : variable;
  }

  /// The literal in clauses of the gate that is being added, without its complement. A proof has
  /// variables of all gates with their complements, also of those that equal an earlier one.
  int gate_name(const TableGate& gate) const {
    if (proof_ == nullptr) return static_cast<int>(names_.size()) + 1;
    const int variable = proof_->gate_variable(proof_gates_);
    return gate.complemented ? -variable : variable;
  }

  /// Adds a clause to the proof that unit propagation derives, or derives once `cases` have values.
  void prove(const std::vector<BitLiteral>& clause, std::span<const int> cases = {}) {
    if (proof_ == nullptr) return;
    solver_.flush_proof_trace();
    std::vector<int> names;
    for (const BitLiteral literal : clause) names.push_back(name(literal));
    proof_->lemma_by_cases(names, cases);
  }

  /// Proves that the variable of a gate in the proof is the literal that stands for it here.
  void prove_same(std::size_t gate, BitLiteral literal, std::span<const int> sources) {
    if (proof_ == nullptr) return;
    const int own = proof_->gate_variable(gate);
    if (name(literal) == own) return;
    solver_.flush_proof_trace();
    proof_->lemma_by_cases({own, -name(literal)}, sources);
    proof_->lemma_by_cases({-own, name(literal)}, sources);
  }

  BitLiteral add_variable(const Samples& samples) {
    const BitLiteral own(static_cast<std::uint32_t>(samples_.size()));
    samples_.push_back(samples);
    names_.push_back(static_cast<int>(names_.size()) + 1);
    gates_.emplace_back();
    is_merged_.push_back(false);
    alike_[key_of(own)].push_back(own);
    return own;
  }

  /// Adds a literal to those that agree with it, up to a limit.
  void remember(BitLiteral literal) {
    constexpr std::size_t max_alike = 4;
    std::vector<BitLiteral>& alike = alike_[key_of(literal)];
    const bool is_known = std::ranges::find(alike, literal) != alike.end();
    if (!is_known && alike.size() < max_alike) alike.push_back(literal);
  }

  /// Keeps the inputs of the solver's model, and simulates them once there are enough for a word.
  void note_difference() {
    if (differences_.empty()) differences_.assign(inputs_.size(), 0);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const bool value = solver_.val(name(inputs_[i])) > 0;
      differences_[i] |= std::uint64_t{value} << difference_count_;
    }
    if (++difference_count_ == word_bits) simulate_differences();
  }

  void simulate_differences() {
    const std::size_t word = random_words + refinements_++ % (sample_words - random_words);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      samples_[inputs_[i].node()][word] = differences_[i];
    }
    alike_.clear();
    for (std::size_t v = 0; v < samples_.size(); ++v) {
      if (!gates_[v].inputs.empty()) samples_[v][word] = value_of(gates_[v], word);
      if (!is_merged_[v]) remember(BitLiteral(static_cast<std::uint32_t>(v)));
    }
    differences_.clear();
    difference_count_ = 0;
  }

  /// The samples of a literal, complemented to begin with 0.
  Samples key_of(BitLiteral literal) const {
    const Samples& own = samples_[literal.node()];
    return (own[0] & 1) != 0 ? complement_of(own) : own;
  }

  /// `sources` are the inputs before the gate was made canonical, as they are in clauses.
  BitLiteral add_gate(const TableGate& gate, std::span<const int> sources) {
    if (gate.inputs.empty()) return BitLiteral(0, gate.complemented);
    if (gate.inputs.size() == 1) return gate.inputs[0] ^ gate.complemented;
    auto [known, added] = known_.try_emplace({gate.truth, gate.inputs});
    if (added) known->second = new_gate(gate, sources);
    return known->second ^ gate.complemented;
  }

  BitLiteral new_gate(const TableGate& gate, std::span<const int> sources) {
    const Samples samples = samples_of(gate);
    const BitLiteral own(static_cast<std::uint32_t>(samples_.size()));
    samples_.push_back(samples);
    names_.push_back(gate_name(gate));
    gates_.push_back(gate);
    is_merged_.push_back(false);
    encode(gate, own, sources);
    // A copy, because differences that are found change the map.
    const std::vector<BitLiteral> alike = alike_[key_of(own)];
    for (const BitLiteral other : alike) {
      if (key_of(own) != key_of(other)) continue;  // told apart in the meantime
      const bool flip = ((samples_[other.node()][0] ^ samples[0]) & 1) != 0;
      if (merge(own, other ^ flip)) {
        is_merged_[own.node()] = true;
        return other ^ flip;
      }
    }
    remember(own);
    return own;
  }

  /// Whether the solver proves two literals equal within the conflict limit.
  bool merge(BitLiteral own, BitLiteral other) {
    for (const bool value : {false, true}) {
      const int verdict = ask(own ^ value, !other ^ value, params_.max_conflicts);
      if (verdict == satisfiable) note_difference();
      if (verdict != unsatisfiable) return false;
      prove({!own ^ value, other ^ value});
    }
    add_clause({own, !other});
    add_clause({!own, other});
    ++stats_.merged;
    return true;
  }

  /// Whether two literals can both be 1. A `limit` above 0 bounds the conflicts.
  int ask(BitLiteral a, BitLiteral b, int limit) {
    ++stats_.solver_calls;
    solver_.assume(name(a));
    solver_.assume(name(b));
    if (limit > 0) solver_.limit("conflicts", limit);
    return solver_.solve();
  }

  void add_clause(const std::vector<BitLiteral>& literals) {
    for (const BitLiteral literal : literals) solver_.add(name(literal));
    solver_.add(0);
  }

  void encode(const TableGate& gate, BitLiteral own, std::span<const int> sources) {
    for (const bool value : {false, true}) {
      for (const Cube& cube : sum_of_products(value ? gate.truth : ~gate.truth)) {
        std::vector<BitLiteral> clause;
        for (std::size_t j = 0; j < gate.inputs.size(); ++j) {
          if ((cube.mask >> j & 1) == 0) continue;
          clause.push_back(gate.inputs[j] ^ ((cube.values >> j & 1) != 0));
        }
        clause.push_back(own ^ !value);
        prove(clause, sources);
        add_clause(clause);
      }
    }
  }

  Samples samples_of(const TableGate& gate) const {
    Samples result{};
    for (std::size_t w = 0; w < sample_words; ++w) result[w] = value_of(gate, w);
    return result;
  }

  /// One word of the samples of a gate, without its complement.
  std::uint64_t value_of(const TableGate& gate, std::size_t word) const {
    std::uint64_t result = 0;
    for (const Cube& cube : sum_of_products(gate.truth)) {
      std::uint64_t product = ~0ULL;
      for (std::size_t j = 0; j < gate.inputs.size(); ++j) {
        if ((cube.mask >> j & 1) == 0) continue;
        const std::uint64_t input = samples_[gate.inputs[j].node()][word];
        product &= (cube.values >> j & 1) != 0 ? input : ~input;
      }
      result |= product;
    }
    return result;
  }

  std::vector<bool> inputs_of_model() {
    std::vector<bool> values;
    for (const BitLiteral input : inputs_) values.push_back(solver_.val(name(input)) > 0);
    return values;
  }

  const EquivalenceParams& params_;
  EquivalenceStats& stats_;
  ProofRecorder* proof_;
  std::size_t proof_gates_ = 0;  ///< gates of the netlists that have been added
  CaDiCaL::Solver solver_;
  std::vector<BitLiteral> inputs_;
  std::vector<Samples> samples_;  ///< of every variable
  std::vector<int> names_;        ///< of every variable: its literal in clauses
  std::vector<TableGate> gates_;  ///< of every variable; without inputs for inputs
  std::vector<bool> is_merged_;   ///< whether another variable stands for it
  // Inputs for which candidates differed, not yet simulated.
  std::vector<std::uint64_t> differences_;  ///< one word per input
  std::size_t difference_count_ = 0;
  std::size_t refinements_ = 0;
  std::map<Samples, std::vector<BitLiteral>> alike_;
  std::map<std::pair<Truth, std::vector<BitLiteral>>, BitLiteral> known_;
};

}  // namespace

std::optional<Counterexample> sat_difference(const Netlist& a, const Netlist& b,
                                             const EquivalenceParams& params,
                                             EquivalenceStats& stats) {
  std::optional<ProofRecorder> proof;
  if (params.record_proof) proof.emplace(a, b);
  Miter miter(a.inputs.size(), params, stats, proof ? &*proof : nullptr);
  const std::vector<BitLiteral> of_a = miter.add(a);
  const std::vector<BitLiteral> of_b = miter.add(b);
  for (std::size_t o = 0; o < of_a.size(); ++o) {
    if (auto inputs = miter.difference(of_a[o], of_b[o])) {
      return Counterexample{*std::move(inputs), o};
    }
  }
  if (proof) {
    miter.close_proof();
    proof->conclude();
    stats.proof = proof->take();
  }
  return {};
}

NetFacts prove_net_facts(const Netlist& netlist, const EquivalenceParams& params,
                         std::int64_t max_queries) {
  EquivalenceStats stats;
  Miter miter(netlist.inputs.size(), params, stats, nullptr);
  Netlist all = netlist;
  all.output_nets.clear();
  for (Net net = 0; net < netlist.gate(netlist.gates.size()); ++net) all.output_nets.push_back(net);
  NetFacts facts{.classes = miter.add(all), .reads = {}};
  for (const NetlistGate& gate : netlist.gates) {
    std::uint64_t reads = 0;
    for (std::size_t entry = 0; entry < std::size_t{1} << gate.arity; ++entry) {
      std::vector<BitLiteral> literals;
      for (std::size_t j = 0; j < gate.arity; ++j) {
        literals.push_back(facts.classes[gate.inputs[j]] ^ ((entry >> j & 1) == 0));
      }
      if (miter.may_hold(literals, max_queries)) reads |= std::uint64_t{1} << entry;
    }
    facts.reads.push_back(reads);
  }
  return facts;
}

}  // namespace boolgrad::circuit
