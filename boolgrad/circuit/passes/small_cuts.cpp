#include "boolgrad/circuit/passes/small_cuts.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace boolgrad::circuit {
namespace {

constexpr std::size_t max_leaves = 4;

std::uint32_t signature_of(std::uint32_t leaf) { return std::uint32_t{1} << (leaf % 32); }

SmallCut trivial_cut(std::uint32_t node) {
  return {{node}, signature_of(node), small_variables[0], 1};
}

std::optional<SmallCut> joined(const SmallCut& a, const SmallCut& b) {
  SmallCut cut{.signature = a.signature | b.signature};
  if (static_cast<std::size_t>(std::popcount(cut.signature)) > max_leaves) return {};
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size || j < b.size) {
    if (cut.size == max_leaves) return {};
    const bool from_a = j == b.size || (i < a.size && a.leaves[i] <= b.leaves[j]);
    const std::uint32_t leaf = from_a ? a.leaves[i] : b.leaves[j];
    if (i < a.size && a.leaves[i] == leaf) ++i;
    if (j < b.size && b.leaves[j] == leaf) ++j;
    cut.leaves[cut.size++] = leaf;
  }
  return cut;
}

/// f with variables i < j exchanged.
unsigned swapped(unsigned f, std::size_t i, std::size_t j) {
  const unsigned only_i = small_variables[i] & ~unsigned{small_variables[j]};
  const unsigned only_j = small_variables[j] & ~unsigned{small_variables[i]};
  const unsigned distance = (1U << j) - (1U << i);
  return (f & ~(only_i | only_j)) | ((f & only_i) << distance) | ((f & only_j) >> distance);
}

/// The function of a cut over the leaves of a larger cut. The table does not depend on variables
/// beyond its leaves, so variables move up by exchanges, the last one first.
unsigned truth_over(const SmallCut& cut, const SmallCut& larger) {
  unsigned truth = cut.truth;
  std::size_t k = larger.size;
  for (std::size_t j = cut.size; j-- > 0;) {
    do --k;
    while (larger.leaves[k] != cut.leaves[j]);
    if (k != j) truth = swapped(truth, j, k);
  }
  return truth;
}

bool is_within(const SmallCut& small, const SmallCut& large) {
  if (small.size > large.size || (small.signature & ~large.signature) != 0) return false;
  std::size_t k = 0;
  for (std::size_t j = 0; j < small.size; ++j) {
    while (k < large.size && large.leaves[k] < small.leaves[j]) ++k;
    if (k == large.size || large.leaves[k] != small.leaves[j]) return false;
  }
  return true;
}

/// Whether no known cut dominates this one. Removes the cuts that it dominates.
bool is_needed(std::vector<SmallCut>& cuts, const SmallCut& cut) {
  for (const SmallCut& other : cuts) {
    if (is_within(other, cut)) return false;
  }
  std::erase_if(cuts, [&](const SmallCut& other) { return is_within(cut, other); });
  return true;
}

}  // namespace

void SmallCuts::find(std::uint32_t node) {
  if (ranges_.size() <= node) ranges_.resize(nodes().size());
  if (ranges_[node].count != 0) return;
  const BitNode gate = nodes()[node];
  const bool is_gate =
      gate.kind == BitNodeKind::conjunction || gate.kind == BitNodeKind::exclusive_or;
  if (is_gate) {
    find(gate.a.node());
    find(gate.b.node());
    find_of_gate(gate);
  }
  Range& range = ranges_[node];
  range.first = static_cast<std::uint32_t>(cuts_.size());
  if (is_gate) {
    // Smallest first; cuts of one size in the order found.
    for (std::uint8_t size = 1; size <= max_leaves; ++size) {
      for (const SmallCut& cut : found_) {
        if (cut.size == size && cuts_.size() - range.first < max_cuts_) cuts_.push_back(cut);
      }
    }
  }
  cuts_.push_back(trivial_cut(node));
  range.count = static_cast<std::uint32_t>(cuts_.size()) - range.first;
}

void SmallCuts::find_of_gate(const BitNode& gate) {
  found_.clear();
  for (const SmallCut& a : known(gate.a.node())) {
    for (const SmallCut& b : known(gate.b.node())) {
      std::optional<SmallCut> cut = joined(a, b);
      if (!cut || !is_needed(found_, *cut)) continue;
      const unsigned x = truth_over(a, *cut) ^ (gate.a.complemented() ? 0xFFFFU : 0);
      const unsigned y = truth_over(b, *cut) ^ (gate.b.complemented() ? 0xFFFFU : 0);
      cut->truth = static_cast<SmallTruth>(gate.kind == BitNodeKind::conjunction ? x & y : x ^ y);
      found_.push_back(*cut);
    }
  }
}

}  // namespace boolgrad::circuit
