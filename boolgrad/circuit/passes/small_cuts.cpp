#include "boolgrad/circuit/passes/small_cuts.h"

#include <algorithm>
#include <optional>
#include <span>

namespace boolgrad {
namespace {

std::span<const std::uint32_t> leaves_of(const SmallCut& cut) {
  return std::span(cut.leaves).first(cut.size);
}

SmallCut itself(std::uint32_t node) { return {{node}, 1, small_variables[0]}; }

std::optional<SmallCut> joined(const SmallCut& a, const SmallCut& b) {
  SmallCut cut;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size || j < b.size) {
    if (cut.size == cut.leaves.size()) return {};
    const bool from_a = j == b.size || (i < a.size && a.leaves[i] <= b.leaves[j]);
    const std::uint32_t leaf = from_a ? a.leaves[i] : b.leaves[j];
    if (i < a.size && a.leaves[i] == leaf) ++i;
    if (j < b.size && b.leaves[j] == leaf) ++j;
    cut.leaves[cut.size++] = leaf;
  }
  return cut;
}

/// What a cut says, of the leaves of a larger one.
SmallTruth truth_over(const SmallCut& cut, const SmallCut& larger) {
  std::array<unsigned, 4> places{};
  for (std::size_t j = 0, k = 0; j < cut.size; ++j) {
    while (larger.leaves[k] != cut.leaves[j]) ++k;
    places[j] = static_cast<unsigned>(k);
  }
  unsigned result = 0;
  for (unsigned i = 0; i < 16; ++i) {
    unsigned from = 0;
    for (std::size_t j = 0; j < cut.size; ++j) from |= (i >> places[j] & 1) << j;
    result |= (unsigned{cut.truth} >> from & 1) << i;
  }
  return static_cast<SmallTruth>(result);
}

bool is_within(const SmallCut& small, const SmallCut& large) {
  return std::ranges::includes(leaves_of(large), leaves_of(small));
}

/// Adds a cut unless one that is there needs fewer of the same leaves.
void add(std::vector<SmallCut>& cuts, const SmallCut& cut) {
  for (const SmallCut& other : cuts) {
    if (is_within(other, cut)) return;
  }
  std::erase_if(cuts, [&](const SmallCut& other) { return is_within(cut, other); });
  cuts.push_back(cut);
}

}  // namespace

const std::vector<SmallCut>& SmallCuts::of(std::uint32_t node) {
  if (known_.size() <= node) known_.resize(circuit_.nodes().size());
  if (known_[node].empty()) known_[node] = found(node);
  return known_[node];
}

std::vector<SmallCut> SmallCuts::found(std::uint32_t node) {
  const BitNode gate = circuit_.nodes()[node];
  std::vector<SmallCut> cuts;
  if (gate.kind == BitNodeKind::conjunction || gate.kind == BitNodeKind::exclusive_or) {
    const std::vector<SmallCut> of_a = of(gate.a.node());
    const std::vector<SmallCut> of_b = of(gate.b.node());
    for (const SmallCut& a : of_a) {
      for (const SmallCut& b : of_b) {
        std::optional<SmallCut> cut = joined(a, b);
        if (!cut) continue;
        const int x = truth_over(a, *cut) ^ (gate.a.complemented() ? 0xFFFF : 0);
        const int y = truth_over(b, *cut) ^ (gate.b.complemented() ? 0xFFFF : 0);
        cut->truth = static_cast<SmallTruth>(gate.kind == BitNodeKind::conjunction ? x & y : x ^ y);
        add(cuts, *cut);
      }
    }
    std::ranges::stable_sort(cuts, {}, &SmallCut::size);
    if (cuts.size() > most_) cuts.resize(most_);
  }
  cuts.push_back(itself(node));
  return cuts;
}

}  // namespace boolgrad
