// How a rule is laid out for the kernels of automata on a GPU: the order of its gates, the places
// of their outputs and of the gradients that come back. Pure bookkeeping, on the host, for any
// device.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/plan/automaton_layout.h"
#include "boolgrad/backend/plan/lut_wires.h"

namespace boolgrad {

/// What is laid out. `perceive` is all kernels stacked, over nine inputs, gate g of kernel k at
/// g * kernels + k.
struct RuleWires {
  std::int64_t channels = 0;
  std::int64_t kernels = 1;
  std::span<const LutWires> perceive;
  std::span<const LutWires> update;
};

struct PlanLimits {
  int layers = 0;        ///< at most
  int tree_kernels = 0;  ///< at most, for kernels to be taken as trees
  /// Rows r and r + `classes` of a layer lie on the same banks of shared memory: gates are ordered
  /// so that those of a group of as many read from different ones.
  int classes = 1;
};

struct RulePlan {
  int perceive_layers = 0;
  /// Kernels that are trees have 1 or 2 outputs here, all others 0.
  int tree_outputs = 0;
  std::array<int, layout::neighbourhood> places{};
  std::array<layout::Reads, layout::neighbourhood> patch_reads{};
  int own_row = 0;
  int kernel_outputs = 0;  ///< of all kernels together
  std::vector<layout::Layer> layers;
  std::vector<int> inputs;     ///< of each layer
  std::vector<int> edge_rows;  ///< of the inputs of each layer
  std::vector<layout::Wires> wires;
  std::vector<std::uint32_t> short_wires;
  std::vector<layout::Rest> rest;
  std::vector<std::uint32_t> origin;
  std::vector<std::uint32_t>
      layer_of;  ///< number of its layer and, from bit 8 on, the first gate there
  std::vector<layout::Reads> input_reads;

  int gates() const { return static_cast<int>(origin.size()); }
  /// The most gates of a layer of the update.
  int update_width() const;
  /// Whether in the update inputs lie in rows below 4096, and the edges of the output of gate g of
  /// n in rows 1 + g, 1 + n + g and, for one output of a layer at most, 1 + 2 n, and no more.
  bool edges_are_in_place() const;
};

/// Lays out a rule. Refuses more layers than the limit, gates that have other than two inputs, and
/// layers of more than 16384 inputs or gates.
RulePlan plan_rule(const RuleWires& rule, const PlanLimits& limits);

/// An order of edges (a, b), both below `classes`, in which groups of `classes` in a row have
/// different a and different b each, as far as there are such groups. By König's theorem, a graph
/// of two sides and degree d falls into d matchings.
std::vector<int> in_matchings(const std::vector<std::array<int, 2>>& edges, int classes);

}  // namespace boolgrad
