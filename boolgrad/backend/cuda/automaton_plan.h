// How a rule is laid out for the automaton's kernels: the order of its gates, the places of their
// outputs and of the gradients that come back. Pure bookkeeping, on the host. Inside of `cuda/`.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "boolgrad/backend/cuda/automaton.h"
#include "boolgrad/backend/cuda/automaton_code.h"

namespace boolgrad::cuda {

struct RulePlan {
  int perceive_layers = 0;
  /// Kernels that are trees have 1 or 2 outputs here, all others 0.
  int tree_outputs = 0;
  std::array<int, neighbourhood> places{};
  std::array<Reads, neighbourhood> patch_reads{};
  int own_row = 0;
  int kernel_outputs = 0;  ///< of all kernels together
  std::vector<Layer> layers;
  std::vector<int> inputs;     ///< of each layer
  std::vector<int> edge_rows;  ///< of the inputs of each layer
  std::vector<Wires> wires;
  std::vector<std::uint32_t> short_wires;
  std::vector<Rest> rest;
  std::vector<std::uint32_t> origin;
  std::vector<std::uint32_t> layer_of;  ///< as `Code` says
  std::vector<Reads> input_reads;

  int gates() const { return static_cast<int>(origin.size()); }
  /// The most gates of a layer of the update.
  int update_width() const;
};

/// Lays out a rule. Rows r and r + `classes` lie on the same banks of shared memory: gates are
/// ordered so that those of a group of as many read from different ones.
RulePlan plan_rule(const AutomatonShape& shape, int classes);

/// An order of edges (a, b), both below `classes`, in which groups of `classes` in a row have
/// different a and different b each, as far as there are such groups. By König's theorem, a graph
/// of two sides and degree d falls into d matchings.
std::vector<int> in_matchings(const std::vector<std::array<int, 2>>& edges, int classes);

}  // namespace boolgrad::cuda
