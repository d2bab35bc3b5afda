// The layout of a rule for automaton kernels on a GPU: the order of its gates and the rows of their
// outputs and gradients. Runs on the host, for any device.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/plan/automaton_layout.h"
#include "boolgrad/backend/plan/lut_wires.h"

namespace boolgrad {

/// The wires of a rule. `perceive` stacks all kernels over nine inputs: gate g of kernel k has
/// index g * kernels + k.
struct RuleWires {
  std::int64_t channels = 0;
  std::int64_t kernels = 1;
  std::span<const LutWires> perceive;
  std::span<const LutWires> update;
};

/// The limits of a device.
struct PlanLimits {
  int layers = 0;        ///< maximal number of layers
  int tree_kernels = 0;  ///< maximal number of kernels that are evaluated as trees
  /// Rows r and r + `classes` of a layer share the same banks of shared memory. Gates are ordered
  /// such that groups of `classes` gates read from different banks.
  int classes = 1;
};

/// The layout of a rule.
struct RulePlan {
  int perceive_layers = 0;
  int tree_outputs = 0;  ///< outputs per kernel (1 or 2) if kernels are trees; otherwise 0
  std::array<int, layout::neighbourhood> neighbours{};  ///< the neighbour in each row of the patch
  std::array<layout::Reads, layout::neighbourhood> patch_reads{};
  int own_row = 0;         ///< row of the patch with the cell itself
  int kernel_outputs = 0;  ///< of all kernels together
  std::vector<layout::Layer> layers;
  std::vector<int> inputs;     ///< number of inputs of each layer
  std::vector<int> edge_rows;  ///< number of edge rows of each layer
  std::vector<layout::Wires> wires;
  std::vector<std::uint32_t> short_wires;  ///< compressed `wires`
  std::vector<layout::Rest> rest;
  std::vector<std::uint32_t> origin;  ///< parameter index of each gate, with `swapped_inputs`
  std::vector<std::uint32_t>
      layer_of;  ///< layer of each parameter and, from bit 8 on, the first gate of that layer
  std::vector<layout::Reads> input_reads;

  int gates() const { return static_cast<int>(origin.size()); }
  /// The width of the widest layer of the update.
  int update_width() const;
  /// Whether the update fits the compressed wires: input rows below 4096, and edges of gate g of n
  /// only in rows 1 + g, 1 + n + g and, for at most one gate per layer, 1 + 2 n.
  bool edges_are_in_place() const;
};

/// Lays out a rule. Throws for more layers than the limit, for gates that do not have two inputs,
/// and for layers of more than 16384 inputs or gates.
RulePlan plan_rule(const RuleWires& rule, const PlanLimits& limits);

/// Orders edges (a, b), both below `classes`, such that consecutive groups of `classes` edges have
/// distinct a and distinct b, as far as possible. By König's theorem a bipartite graph of degree d
/// decomposes into d matchings.
std::vector<int> in_matchings(const std::vector<std::array<int, 2>>& edges, int classes);

}  // namespace boolgrad
