// Where the activations, gradients and parameters of a gate network lie, for any device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/device/network.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/backend/plan/network_layout.h"

namespace boolgrad {

/// The order in which a layer's gates and inputs are taken, and the rows of what they read and
/// write.
struct LayerRows {
  std::vector<std::int32_t> gate_order;   ///< along shared inputs where gates have two
  std::vector<std::int32_t> input_order;  ///< likewise
  std::vector<std::int32_t> input_rows;   ///< [inputs]
  std::vector<std::int32_t> output_rows;  ///< [gates]
  std::vector<std::int32_t>
      gradient_rows;  ///< [gates]: the same, or the group's for summed outputs
};

/// Rows of all layers, each layer's outputs in the order in which the layer above reads them. Where
/// the last layer's outputs are only summed, in `groups` groups, its gates are taken group by
/// group; 0 stands for outputs that are not summed.
std::vector<LayerRows> plan_network_rows(std::span<const LutWires> layers, std::int64_t groups);

/// The entries of a layer of two-input gates, in the order in which they are taken. `zero_row` is a
/// row of gradients that are all 0.
std::vector<layout::PairGate> pair_gates_of(const LutWires& wires, const LayerRows& rows);
std::vector<layout::PairInput> pair_inputs_of(const LutWires& wires, const LayerRows& rows,
                                              std::int32_t zero_row);

/// Rows that each wire [gates, arity] reads.
std::vector<std::int32_t> source_rows_of(const LutWires& wires, const LayerRows& rows);

/// Where the parameters and tables of a layer begin among those of all layers.
struct LayerOffsets {
  std::size_t first_gate = 0;
  std::size_t first_entry = 0;  ///< of tables of 2^arity entries
  std::size_t first_logit = 0;
  double gradient_factor = 1;  ///< what the layers above multiply gradients by
};

struct NetworkOffsets {
  std::vector<LayerOffsets> layers;
  std::size_t gates = 0;
  std::size_t entries = 0;
  std::size_t logits = 0;
  double input_gradient_factor = 1;  ///< what all layers multiply gradients by
};

/// Tables of layers of different arity begin at multiples of four entries.
NetworkOffsets plan_network_offsets(std::span<const LutWires> layers, const NetworkSpec& spec);

/// The shapes of the logits of all layers.
std::vector<Shape> logit_shapes(std::span<const LutWires> layers, const NetworkSpec& spec);

/// What each input reads of a sample's features.
std::vector<layout::InputBit> input_bits_of(const FeatureSamples& samples);

}  // namespace boolgrad
