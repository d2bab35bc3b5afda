// The layout of activation, gradient and parameter buffers of a gate network, for all devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/backend/device/network.h"
#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/backend/plan/network_layout.h"

namespace boolgrad {

/// The gate and input order of a layer, and the rows of the activation and gradient buffers that it
/// reads and writes.
struct LayerBuffers {
  std::vector<std::int32_t> gate_order;   ///< two-input gates: ordered by shared inputs
  std::vector<std::int32_t> input_order;  ///< likewise
  std::vector<std::int32_t> input_rows;   ///< [inputs]
  std::vector<std::int32_t> output_rows;  ///< [gates]
  std::vector<std::int32_t>
      gradient_rows;  ///< [gates]: the output row, or the group for summed outputs
};

/// Plans the buffers of all layers. The outputs of a layer are stored in the order in which the
/// next layer reads them. If the last layer is only summed, in `groups` groups, its gates are
/// ordered by group. `groups` is 0 for outputs that are not summed.
std::vector<LayerBuffers> plan_network_buffers(std::span<const LutWires> layers,
                                               std::int64_t groups);

/// The gates and inputs of a layer of two-input gates, in order. `zero_row` is a row of zero
/// gradients.
std::vector<layout::PairGate> pair_gates_of(const LutWires& wires, const LayerBuffers& rows);
std::vector<layout::PairInput> pair_inputs_of(const LutWires& wires, const LayerBuffers& rows,
                                              std::int32_t zero_row);

/// The row that each wire [gates, arity] reads.
std::vector<std::int32_t> source_rows_of(const LutWires& wires, const LayerBuffers& rows);

/// The offsets of the parameters and tables of a layer among those of all layers.
struct LayerOffsets {
  std::size_t first_table = 0;
  std::size_t first_entry = 0;  ///< 2^arity per table
  std::size_t first_logit = 0;
  std::size_t first_wire_logit = 0;  ///< those of learned wires follow the logits of all tables
  double gradient_factor = 1;        ///< product of the gradient factors of all later layers
};

/// The offsets of all layers, and the totals.
struct NetworkOffsets {
  std::vector<LayerOffsets> layers;
  std::size_t tables = 0;
  std::size_t entries = 0;
  std::size_t logits = 0;            ///< of tables
  std::size_t wire_logits = 0;       ///< of learned wires
  double input_gradient_factor = 1;  ///< product of the gradient factors of all layers
};

/// Plans the offsets. Where the arity changes, tables are aligned to four entries.
NetworkOffsets plan_network_offsets(std::span<const LutWires> layers, const NetworkSpec& spec);

/// The shapes of the logits of all layers, then of learned wires.
std::vector<Shape> logit_shapes(std::span<const LutWires> layers, const NetworkSpec& spec);

/// The feature and threshold of each input.
std::vector<layout::InputBit> input_bits_of(const FeatureSamples& samples);

}  // namespace boolgrad
