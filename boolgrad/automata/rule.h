// The rule of a neural cellular automaton: one learned circuit that every cell runs.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/logic/network.h"
#include "boolgrad/options/border.h"
#include "boolgrad/tensor/safetensors.h"

namespace boolgrad::automata {

/// The size of a rule.
struct RuleShape {
  std::int64_t channels = 1;
  std::int64_t kernels = 1;            ///< perception kernels, shared by all channels
  std::vector<std::int64_t> perceive;  ///< gates per layer of a kernel; 8 in the first
  std::vector<std::int64_t> update;    ///< gates per layer of the update, without the last

  /// Number of inputs of the update: the channels of the cell, then output s of kernel k for
  /// channel c at (c * S + s) * K + k.
  std::int64_t update_inputs() const { return channels * (1 + perceive.back() * kernels); }
};

/// The next state of a cell, in two parts.
///
/// Perception: kernels, each a network over the 3x3 neighbourhood of one channel (row-major, 4 is
/// the cell itself). All kernels have the same wiring and are applied to every channel. They are
/// stored as one network, in which gate g of kernel k has index g * kernels + k.
///
/// Update: a network from the channels of the cell and the kernel outputs to the new channels.
class Rule {
 public:
  /// Throws if the networks do not fit together.
  Rule(Border border, std::int64_t kernels, logic::Network perceive, logic::Network update);

  /// A random rule to train. The first layer of perception pairs neighbours with the centre
  /// (`moore_wiring`); all other layers use `adjacent_pairs`.
  static Rule make(const RuleShape& shape, Border border, Parametrisation parametrisation,
                   DType dtype, const logic::InitialOptions& initial, std::uint64_t seed);

  /// What cells at the edge of the grid see.
  Border border() const { return border_; }
  /// Number of channels per cell.
  std::int64_t channels() const { return update_.outputs(); }
  /// Number of perception kernels.
  std::int64_t kernels() const { return kernels_; }
  /// The dtype of logits and masks.
  DType dtype() const { return update_.dtype(); }
  /// The kernels as one network over nine inputs.
  const logic::Network& perceive() const { return perceive_; }
  /// The update network.
  const logic::Network& update() const { return update_; }
  /// Number of gates of all kernels and the update. Channels share them.
  std::int64_t gates() const;

  /// The trainable parameters: the logits of perception, then of the update.
  std::vector<Tensor> parameters() const;

  /// The soft tables of the same layers.
  std::vector<Tensor> tables() const { return tables(parameters()); }
  /// The soft tables that other logits would give.
  std::vector<Tensor> tables(const std::vector<Tensor>& logits) const;
  /// The hard tables of the same layers: uint8.
  std::vector<Tensor> hard_tables() const;

  /// Sets the gate masks of all layers, in the order of `parameters`.
  void set_masks(const std::vector<Tensor>& masks);

  /// Both networks as tensors, with border and kernels as metadata.
  TensorFile to_file() const;
  /// The rule of a file. Throws if a part is missing.
  static Rule from_file(const TensorFile& file);
  /// Whether a file contains a rule.
  static bool is_in(const TensorFile& file);

 private:
  Border border_;
  std::int64_t kernels_;
  logic::Network perceive_;
  logic::Network update_;
};

}  // namespace boolgrad::automata
