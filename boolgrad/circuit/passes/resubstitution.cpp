#include "boolgrad/circuit/passes/resubstitution.h"

#include <algorithm>
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

/// Values of all nodes of a growing circuit, for all input combinations.
class Values {
 public:
  explicit Values(const BitCircuit& circuit) : circuit_(circuit) {
    const auto inputs = static_cast<std::size_t>(circuit.inputs());
    words_ = inputs > max_variables ? std::size_t{1} << (inputs - max_variables) : 1;
    update();
  }

  /// Simulates nodes added since the last call.
  void update() {
    for (std::size_t n = rows_.size(); n < circuit_.nodes().size(); ++n) rows_.push_back(row_of(n));
  }

  const Words& of(std::uint32_t node) const { return rows_[node]; }
  Words of(BitLiteral literal) const {
    Words row = rows_[literal.node()];
    if (literal.complemented()) flip(row);
    return row;
  }

  static void flip(Words& row) {
    for (std::uint64_t& word : row) word = ~word;
  }

 private:
  Words row_of(std::size_t n) const {
    const BitNode& node = circuit_.nodes()[n];
    if (node.kind == BitNodeKind::constant) return Words(words_, 0);
    if (node.kind == BitNodeKind::input) return variable_values(n - 1, words_);
    Words a = of(node.a);
    const Words b = of(node.b);
    for (std::size_t w = 0; w < words_; ++w) {
      a[w] = node.kind == BitNodeKind::conjunction ? a[w] & b[w] : a[w] ^ b[w];
    }
    return a;
  }

  const BitCircuit& circuit_;
  std::size_t words_ = 1;
  std::vector<Words> rows_;
};

class Resubstitution {
 public:
  Resubstitution(const BitCircuit& old, const ResubstitutionParams& params)
      : old_(old),
        params_(params),
        new_(old.inputs()),
        readers_(new_),
        values_(new_),
        literals_(old.nodes().size()) {}

  BitCircuit run() {
    const std::vector<bool> reachable = old_.reachable();
    count_reads(reachable);
    list_new_nodes();
    for (std::uint32_t n = 1; n < literals_.size(); ++n) {
      const BitNode& node = old_.nodes()[n];
      if (node.kind == BitNodeKind::input) literals_[n] = new_.input(std::int64_t{n} - 1);
      if (!reachable[n] || !is_gate(node)) continue;
      const BitLiteral a = literal_of(node.a);
      const BitLiteral b = literal_of(node.b);
      const BitLiteral own = built(new_, node.kind, a, b);
      list_new_nodes();
      // Gates that only this node reads count as free.
      readers_.release(a.node());
      readers_.release(b.node());
      literals_[n] = best_for(own);
      for (std::uint32_t i = 0; i < reads_[n]; ++i) readers_.retain(literals_[n].node());
    }
    for (const BitLiteral output : old_.outputs()) new_.add_output(literal_of(output));
    return std::move(new_);
  }

 private:
  void count_reads(const std::vector<bool>& reachable) {
    reads_ = reads_of(old_, reachable);
    // Inputs and the constant are always in use.
    for (std::uint32_t n = 0; n <= old_.inputs(); ++n) {
      for (std::uint32_t i = 0; i <= reads_[n]; ++i) readers_.retain(n);
    }
  }

  BitLiteral literal_of(BitLiteral old) const { return literals_[old.node()] ^ old.complemented(); }

  /// Indexes new nodes by their values.
  void list_new_nodes() {
    values_.update();
    for (; listed_ < new_.nodes().size(); ++listed_) {
      const BitLiteral own(listed_);
      nodes_with_[key_of(values_.of(listed_))].push_back(own ^ begins_with_1(values_.of(listed_)));
    }
  }

  static bool begins_with_1(const Words& row) { return (row[0] & 1) != 0; }
  static Words key_of(Words row) {
    if (begins_with_1(row)) Values::flip(row);
    return row;
  }

  /// A literal in use with these values.
  std::optional<BitLiteral> present(const Words& row) const {
    const auto entry = nodes_with_.find(key_of(row));
    if (entry == nodes_with_.end()) return {};
    for (const BitLiteral literal : entry->second) {
      if (readers_.is_read(literal.node())) return literal ^ begins_with_1(row);
    }
    return {};
  }

  BitLiteral best_for(BitLiteral own) {
    const int cost = readers_.retain(own.node());
    readers_.release(own.node());
    if (cost == 0) return own;
    const Words row = values_.of(own);
    if (const auto same = present(row)) return *same;
    if (cost < 2) return own;
    std::optional<BitLiteral> found = as_exclusive_or(row);
    if (!found) found = as_conjunction(row, false);
    if (!found) found = as_conjunction(row, true);
    list_new_nodes();
    return found.value_or(own);
  }

  std::optional<BitLiteral> as_exclusive_or(const Words& row) {
    for (std::uint32_t n = 1; n < listed_; ++n) {
      if (!readers_.is_read(n)) continue;
      Words other = row;
      for (std::size_t w = 0; w < row.size(); ++w) other[w] ^= values_.of(n)[w];
      if (const auto partner = present(other)) return new_.exclusive_or(BitLiteral(n), *partner);
    }
    return {};
  }

  /// The AND of two literals with these values, or the complement of one.
  std::optional<BitLiteral> as_conjunction(Words row, bool complemented) {
    if (complemented) Values::flip(row);
    std::vector<std::pair<BitLiteral, Words>> partners;
    for (std::uint32_t n = 1; n < listed_; ++n) {
      if (!readers_.is_read(n)) continue;
      for (const bool flip : {false, true}) {
        if (partners.size() < params_.max_partners && covers(n, flip, row)) {
          partners.emplace_back(BitLiteral(n, flip), values_.of(BitLiteral(n, flip)));
        }
      }
    }
    for (std::size_t i = 0; i < partners.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!meet_in(partners[i].second, partners[j].second, row)) continue;
        return new_.conjunction(partners[i].first, partners[j].first) ^ complemented;
      }
    }
    return {};
  }

  bool covers(std::uint32_t node, bool flip, const Words& row) const {
    const Words& own = values_.of(node);
    for (std::size_t w = 0; w < row.size(); ++w) {
      if ((row[w] & (flip ? own[w] : ~own[w])) != 0) return false;
    }
    return true;
  }

  static bool meet_in(const Words& a, const Words& b, const Words& row) {
    for (std::size_t w = 0; w < row.size(); ++w) {
      if ((a[w] & b[w]) != row[w]) return false;
    }
    return true;
  }

  const BitCircuit& old_;
  const ResubstitutionParams& params_;
  BitCircuit new_;
  Readers readers_;
  Values values_;
  std::vector<BitLiteral> literals_;  ///< of the old nodes
  std::vector<std::uint32_t> reads_;  ///< of the old nodes
  std::uint32_t listed_ = 0;
  std::map<Words, std::vector<BitLiteral>>
      nodes_with_;  ///< by values, complemented to begin with 0
};

}  // namespace

BitCircuit resubstitute(const BitCircuit& circuit, const ResubstitutionParams& params) {
  if (circuit.inputs() > params.max_inputs || circuit.gates() > params.max_gates) return circuit;
  const BitCircuit result = compacted(Resubstitution(circuit, params).run());
  return result.gates() < circuit.gates() ? result : circuit;
}

}  // namespace boolgrad::circuit
