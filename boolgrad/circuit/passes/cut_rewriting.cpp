#include "boolgrad/circuit/passes/cut_rewriting.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "boolgrad/circuit/passes/optimal_implementations.h"
#include "boolgrad/circuit/passes/rebuilding.h"
#include "boolgrad/circuit/passes/small_cuts.h"
#include "boolgrad/core/random.h"

namespace boolgrad::circuit {
namespace {

/// One round over a circuit. It builds a new circuit, in which rejected candidates stay unread.
/// Future readers of a node count as readers.
class Round {
 public:
  Round(const BitCircuit& old, std::size_t max_cuts, std::optional<std::uint64_t> shuffle)
      : old_(old),
        new_(old.inputs()),
        readers_(new_),
        cuts_(new_, max_cuts),
        shuffle_(shuffle),
        literals_(old.nodes().size()) {
    // Most nodes of the new circuit are rejected candidates.
    new_.reserve(6 * old.nodes().size());
  }

  BitCircuit run() {
    const std::vector<bool> reachable = old_.reachable();
    count_reads(reachable);
    for (std::uint32_t n = 1; n < literals_.size(); ++n) {
      const BitNode& node = old_.nodes()[n];
      if (node.kind == BitNodeKind::input) literals_[n] = new_.input(std::int64_t{n} - 1);
      if (!reachable[n] || !is_gate(node)) continue;
      const BitLiteral a = literal_of(node.a);
      const BitLiteral b = literal_of(node.b);
      literals_[n] = best_for(built(new_, node.kind, a, b), a.node(), b.node(), n);
      for (std::uint32_t i = 0; i < reads_[n]; ++i) readers_.retain(literals_[n].node());
      readers_.release(a.node());
      readers_.release(b.node());
    }
    for (const BitLiteral output : old_.outputs()) new_.add_output(literal_of(output));
    return std::move(new_);
  }

 private:
  void count_reads(const std::vector<bool>& reachable) {
    reads_ = reads_of(old_, reachable);
    for (std::uint32_t n = 1; n <= old_.inputs(); ++n) {
      for (std::uint32_t i = 0; i < reads_[n]; ++i) readers_.retain(n);
    }
  }

  BitLiteral literal_of(BitLiteral old) const { return literals_[old.node()] ^ old.complemented(); }

  /// The implementation of a literal with the fewest gates. The literal reads nodes a and b.
  BitLiteral best_for(BitLiteral own, std::uint32_t a, std::uint32_t b, std::uint32_t index) {
    const bool takes_equal =
        shuffle_ && (random_bits({.seed = *shuffle_, .index = index})[0] & 1) != 0;
    BitLiteral best = own;
    int max_saved = takes_equal ? -1 : 0;
    for (const SmallCut& cut : cuts_.of(own.node())) {
      if (cut.size == 1 && cut.leaves[0] == own.node()) continue;
      build_implementations(cut);
      const auto leaves = std::span(cut.leaves).first(cut.size);
      // Keep the leaves in use while the old implementation is released.
      for (const std::uint32_t leaf : leaves) readers_.retain(leaf);
      readers_.release(a);
      readers_.release(b);
      const int old_cost = cost_of(own);
      for (const BitLiteral candidate : implementations_) {
        const int saved = old_cost - cost_of(candidate);
        if (saved <= max_saved || candidate.node() == own.node()) continue;
        max_saved = saved;
        best = candidate ^ own.complemented();
      }
      readers_.retain(a);
      readers_.retain(b);
      for (const std::uint32_t leaf : leaves) readers_.release(leaf);
    }
    return best;
  }

  int cost_of(BitLiteral literal) {
    const int cost = readers_.retain(literal.node());
    readers_.release(literal.node());
    return cost;
  }

  /// Builds all optimal implementations of a cut function.
  void build_implementations(const SmallCut& cut) {
    implementations_.clear();
    for (const Implementation& candidate : best_.implementations(cut.truth)) {
      implementations_.push_back(joined(candidate, cut) ^
                                 OptimalImplementations::is_complemented(cut.truth));
    }
    if (implementations_.empty()) implementations_.push_back(tree(cut.truth, cut));
  }

  BitLiteral joined(const Implementation& candidate, const SmallCut& cut) {
    const BitLiteral g = tree(candidate.g, cut);
    const BitLiteral h = tree(candidate.h, cut);
    return (candidate.exclusive ? new_.exclusive_or(g, h) : new_.conjunction(g, h)) ^
           candidate.complemented;
  }

  BitLiteral tree(SmallTruth f, const SmallCut& cut) {
    const bool complemented = OptimalImplementations::is_complemented(f);
    const SmallTruth plain = complemented ? static_cast<SmallTruth>(~f) : f;
    if (plain == 0) return new_.constant(complemented);
    for (std::size_t j = 0; j < 4; ++j) {
      if (plain == small_variables[j]) return BitLiteral(cut.leaves[j], complemented);
    }
    return joined(best_.implementations(plain)[0], cut) ^ complemented;
  }

  const BitCircuit& old_;
  const OptimalImplementations& best_ = OptimalImplementations::get();
  BitCircuit new_;
  Readers readers_;
  SmallCuts cuts_;
  std::vector<BitLiteral> implementations_;  ///< of the current cut
  std::optional<std::uint64_t> shuffle_;
  std::vector<BitLiteral> literals_;  ///< of the old nodes
  std::vector<std::uint32_t> reads_;  ///< of the old nodes
};

}  // namespace

int RewritingParams::rounds_for(std::int64_t gates) const {
  const std::int64_t affordable = max_visits / std::max<std::int64_t>(gates, 1);
  return static_cast<int>(
      std::clamp<std::int64_t>(affordable, std::min(max_rounds, 1), max_rounds));
}

BitCircuit rewrite_cuts(const BitCircuit& circuit, const RewritingParams& params) {
  BitCircuit best = compacted(circuit);
  const int rounds = params.rounds_for(best.gates());
  BitCircuit current = best;
  int idle = 0;
  for (int round = 0; round < rounds && idle < params.max_idle_rounds; ++round) {
    // Take replacements of equal cost once there is no improvement.
    std::optional<std::uint64_t> shuffle;
    if (idle > 0) shuffle = static_cast<std::uint64_t>(round);
    current = compacted(Round(current, params.max_cuts, shuffle).run());
    const bool better = current.gates() < best.gates();
    idle = better ? 0 : idle + 1;
    if (better) best = current;
  }
  return best;
}

}  // namespace boolgrad::circuit
