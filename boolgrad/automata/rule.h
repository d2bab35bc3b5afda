// The rule of a cellular automaton: one learned circuit that every cell runs.
#pragma once

#include <cstdint>
#include <vector>

#include "boolgrad/backend/options/border.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/tensor/safetensors.h"

namespace boolgrad {

/// Sizes of a rule.
struct RuleShape {
  std::int64_t channels = 1;
  std::int64_t kernels = 1;
  std::vector<std::int64_t> perceive;  ///< gates of a kernel's layers; the first has 8
  std::vector<std::int64_t> update;    ///< gates of the update's layers before the last

  /// Values that the update reads: the cell's channels, then for channel c, output s and kernel k
  /// the one at (c * S + s) * K + k.
  std::int64_t update_inputs() const { return channels * (1 + perceive.back() * kernels); }
};

/// How perception and update make the next state of a cell.
///
/// Perception: kernels, each a network over the 3 by 3 neighbourhood of one channel (row-major,
/// place 4 the cell itself). All share their wires and see every channel. They are one network
/// here, in which gate g of kernel k lies at g * kernels + k.
/// Update: a network over the cell's channels and what the kernels made of each, which gives the
/// new channels.
class Rule {
 public:
  /// Refuses networks that do not fit together.
  Rule(Border border, std::int64_t kernels, LogicNetwork perceive, LogicNetwork update);

  /// A rule to train: perception wired from neighbours to centre and then in adjacent pairs, the
  /// update in adjacent pairs, all drawn from `seed`.
  static Rule make(const RuleShape& shape, Border border, Parametrisation parametrisation,
                   DType dtype, const InitialOptions& initial, std::uint64_t seed);

  Border border() const { return border_; }
  std::int64_t channels() const { return update_.outputs(); }
  std::int64_t kernels() const { return kernels_; }
  DType dtype() const { return update_.dtype(); }
  const LogicNetwork& perceive() const { return perceive_; }
  const LogicNetwork& update() const { return update_; }
  std::int64_t gates() const;  ///< of one kernel set and the update; every channel shares them

  /// The logits of perception, then of the update.
  std::vector<Tensor> parameters() const;

  /// The tables of the same layers, soft and hardened (uint8).
  std::vector<Tensor> tables() const { return tables(parameters()); }
  /// The soft tables of other logits.
  std::vector<Tensor> tables(const std::vector<Tensor>& logits) const;
  std::vector<Tensor> hard_tables() const;

  /// Masks of the gates of all layers, in the order of `parameters`.
  void set_masks(const std::vector<Tensor>& masks);

  TensorFile to_file() const;
  static Rule from_file(const TensorFile& file);
  static bool is_in(const TensorFile& file);

 private:
  Border border_;
  std::int64_t kernels_;
  LogicNetwork perceive_;
  LogicNetwork update_;
};

}  // namespace boolgrad
