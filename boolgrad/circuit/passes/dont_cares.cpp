#include "boolgrad/circuit/passes/dont_cares.h"

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "boolgrad/circuit/passes/rebuilding.h"
#include "boolgrad/circuit/table.h"

namespace boolgrad::circuit {
namespace {

using Words = std::vector<std::uint64_t>;

/// A mutable node.
struct Gate {
  BitNodeKind kind = BitNodeKind::constant;
  BitLiteral a;
  BitLiteral b;
  bool flip = false;  ///< complements the output
};

bool is_gate(const Gate& gate) {
  return gate.kind == BitNodeKind::conjunction || gate.kind == BitNodeKind::exclusive_or;
}

/// A circuit whose gates change in place. A gate reads only earlier nodes. A gate that reads one
/// literal twice is an alias of it.
class DontCareOptimiser {
 public:
  DontCareOptimiser(const BitCircuit& circuit, const DontCareParams& params)
      : circuit_(circuit), params_(params), reads_(circuit.nodes().size(), 0) {
    for (const BitNode& node : circuit.nodes()) nodes_.push_back({node.kind, node.a, node.b});
    const auto inputs = static_cast<std::size_t>(circuit.inputs());
    words_ = inputs > max_variables ? std::size_t{1} << (inputs - max_variables) : 1;
    values_.assign(nodes_.size(), Words(words_, 0));
    changed_.assign(nodes_.size(), Words(words_, 0));
    for (std::size_t i = 0; i < inputs; ++i) values_[i + 1] = variable_values(i, words_);
    simulate_from(0);
    for (const BitLiteral output : circuit.outputs()) retain(output.node());
  }

  BitCircuit run() {
    for (auto n = static_cast<std::uint32_t>(nodes_.size()); n-- > 0;) {
      if (reads_[n] > 0 && is_gate(nodes_[n])) improve(n);
    }
    return rebuilt();
  }

 private:
  static std::uint64_t word_of(const Words& row, BitLiteral literal, std::size_t w) {
    return literal.complemented() ? ~row[w] : row[w];
  }

  static std::uint64_t joined(const Gate& gate, std::uint64_t a, std::uint64_t b) {
    const std::uint64_t value = gate.kind == BitNodeKind::conjunction ? a & b : a ^ b;
    return gate.flip ? ~value : value;
  }

  void simulate_from(std::size_t first) {
    for (std::size_t n = first; n < nodes_.size(); ++n) {
      const Gate& node = nodes_[n];
      if (!is_gate(node)) continue;
      const Words& a = values_[node.a.node()];
      const Words& b = values_[node.b.node()];
      for (std::size_t w = 0; w < words_; ++w) {
        values_[n][w] = joined(node, word_of(a, node.a, w), word_of(b, node.b, w));
      }
    }
  }

  void retain(std::uint32_t first) {
    std::vector<std::uint32_t> waiting{first};
    while (!waiting.empty()) {
      const std::uint32_t n = waiting.back();
      waiting.pop_back();
      if (reads_[n]++ > 0 || !is_gate(nodes_[n])) continue;
      waiting.push_back(nodes_[n].a.node());
      waiting.push_back(nodes_[n].b.node());
    }
  }

  /// Removes a reader and returns the number of gates that become dangling.
  int release(std::uint32_t first) {
    int gates = 0;
    std::vector<std::uint32_t> waiting{first};
    while (!waiting.empty()) {
      const std::uint32_t n = waiting.back();
      waiting.pop_back();
      if (--reads_[n] > 0 || !is_gate(nodes_[n])) continue;
      ++gates;
      waiting.push_back(nodes_[n].a.node());
      waiting.push_back(nodes_[n].b.node());
    }
    return gates;
  }

  /// The input combinations for which a node is observable at an output.
  Words observability(std::uint32_t own) {
    changed_[own].assign(words_, ~0ULL);
    std::vector<bool> touched(nodes_.size(), false);
    touched[own] = true;
    for (std::size_t n = own + 1; n < nodes_.size(); ++n) {
      const Gate& node = nodes_[n];
      if (reads_[n] == 0 || !is_gate(node)) continue;
      touched[n] = touched[node.a.node()] || touched[node.b.node()];
      if (touched[n]) propagate(n, touched);
    }
    Words observed(words_, 0);
    for (const BitLiteral output : circuit_.outputs()) {
      if (!touched[output.node()]) continue;
      for (std::size_t w = 0; w < words_; ++w) observed[w] |= changed_[output.node()][w];
    }
    return observed;
  }

  /// Propagates changes of the inputs to a gate.
  void propagate(std::size_t n, const std::vector<bool>& touched) {
    const Gate& node = nodes_[n];
    const auto changed_word = [&](BitLiteral literal, std::size_t w) {
      const std::uint64_t flips = touched[literal.node()] ? changed_[literal.node()][w] : 0;
      return word_of(values_[literal.node()], literal, w) ^ flips;
    };
    for (std::size_t w = 0; w < words_; ++w) {
      changed_[n][w] =
          values_[n][w] ^ joined(node, changed_word(node.a, w), changed_word(node.b, w));
    }
  }

  void improve(std::uint32_t n) {
    const Words care = observability(n);
    const int freed = 1 + release(nodes_[n].a.node()) + release(nodes_[n].b.node());
    std::optional<Gate> better = as_literal(n, care);
    if (!better && freed >= 2) better = as_exclusive_or(n, care);
    for (const bool flip : {false, true}) {
      if (!better && freed >= 2) better = as_conjunction(n, care, flip);
    }
    if (better) nodes_[n] = *better;
    retain(nodes_[n].a.node());
    retain(nodes_[n].b.node());
    if (better) simulate_from(n);
  }

  /// Constants, inputs, and gates with other readers.
  bool is_present(std::uint32_t n) const { return reads_[n] > 0 || !is_gate(nodes_[n]); }

  bool agrees(std::uint32_t n, BitLiteral other, const Words& care) const {
    for (std::size_t w = 0; w < words_; ++w) {
      const std::uint64_t differs = values_[n][w] ^ word_of(values_[other.node()], other, w);
      if ((differs & care[w]) != 0) return false;
    }
    return true;
  }

  std::optional<Gate> as_literal(std::uint32_t n, const Words& care) const {
    if (is_alias(nodes_[n])) return {};
    for (std::uint32_t other = 0; other < n; ++other) {
      if (!is_present(other)) continue;
      for (const bool flip : {false, true}) {
        const BitLiteral literal(other, flip);
        if (agrees(n, literal, care)) return Gate{BitNodeKind::conjunction, literal, literal};
      }
    }
    return {};
  }

  static bool is_alias(const Gate& node) { return node.a == node.b; }

  Words masked(const Words& row, const Words& care, const Words* other) const {
    Words result(words_);
    for (std::size_t w = 0; w < words_; ++w) {
      result[w] = (row[w] ^ (other != nullptr ? (*other)[w] : 0)) & care[w];
    }
    return result;
  }

  std::optional<Gate> as_exclusive_or(std::uint32_t n, const Words& care) const {
    std::map<Words, std::uint32_t> seen;
    const Words turned = masked(values_[n], care, &care);
    for (std::uint32_t other = 1; other < n; ++other) {
      if (!is_present(other)) continue;
      for (const bool flip : {false, true}) {
        const auto partner = seen.find(masked(values_[other], care, flip ? &turned : &values_[n]));
        if (partner == seen.end()) continue;
        return Gate{BitNodeKind::exclusive_or, BitLiteral(partner->second),
                    BitLiteral(other, flip)};
      }
      seen.emplace(masked(values_[other], care, nullptr), other);
    }
    return {};
  }

  /// The AND of two literals, or its complement.
  std::optional<Gate> as_conjunction(std::uint32_t n, const Words& care, bool flip) const {
    const Words ones = masked(values_[n], care, flip ? &care : nullptr);
    std::vector<BitLiteral> partners;
    for (std::uint32_t other = 1; other < n; ++other) {
      if (!is_present(other)) continue;
      for (const bool complemented : {false, true}) {
        const BitLiteral literal(other, complemented);
        if (partners.size() < params_.max_partners && covers(literal, ones)) {
          partners.push_back(literal);
        }
      }
    }
    for (std::size_t i = 0; i < partners.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (meet_in(partners[i], partners[j], ones, care)) {
          return Gate{BitNodeKind::conjunction, partners[j], partners[i], flip};
        }
      }
    }
    return {};
  }

  bool covers(BitLiteral literal, const Words& ones) const {
    for (std::size_t w = 0; w < words_; ++w) {
      if ((ones[w] & ~word_of(values_[literal.node()], literal, w)) != 0) return false;
    }
    return true;
  }

  bool meet_in(BitLiteral a, BitLiteral b, const Words& ones, const Words& care) const {
    for (std::size_t w = 0; w < words_; ++w) {
      const std::uint64_t both =
          word_of(values_[a.node()], a, w) & word_of(values_[b.node()], b, w);
      if ((both & care[w]) != ones[w]) return false;
    }
    return true;
  }

  BitCircuit rebuilt() const {
    BitCircuit result(circuit_.inputs());
    std::vector<BitLiteral> literals(nodes_.size());
    const auto literal_of = [&](BitLiteral old) {
      return literals[old.node()] ^ old.complemented();
    };
    for (std::size_t n = 1; n < nodes_.size(); ++n) {
      const Gate& node = nodes_[n];
      if (node.kind == BitNodeKind::input) {
        literals[n] = result.input(static_cast<std::int64_t>(n) - 1);
      } else if (reads_[n] > 0) {
        literals[n] = built(result, node.kind, literal_of(node.a), literal_of(node.b)) ^ node.flip;
      }
    }
    for (const BitLiteral output : circuit_.outputs()) result.add_output(literal_of(output));
    return compacted(result);
  }

  const BitCircuit& circuit_;
  const DontCareParams& params_;
  std::vector<Gate> nodes_;
  std::vector<int> reads_;
  std::size_t words_ = 1;
  std::vector<Words> values_;
  std::vector<Words> changed_;  ///< where each node changes with the current gate
};

}  // namespace

BitCircuit optimise_dont_cares(const BitCircuit& circuit, const DontCareParams& params) {
  if (circuit.inputs() > params.max_inputs || circuit.gates() > params.max_gates) return circuit;
  const BitCircuit small = compacted(circuit);
  const BitCircuit result = DontCareOptimiser(small, params).run();
  return result.gates() < circuit.gates() ? result : circuit;
}

}  // namespace boolgrad::circuit
