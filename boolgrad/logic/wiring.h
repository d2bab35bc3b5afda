// Wirings: which inputs each gate reads, and which gates read each input.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

// Views for kernels.
struct Consumer;
struct LutWires;

}  // namespace boolgrad

namespace boolgrad::logic {

/// The largest arity: gates have 1 to 6 inputs.
inline constexpr int max_gate_inputs = 6;

/// Gates of a layer that share their tables, as the copies of a kernel in a convolution do.
struct TableSharing {
  /// Number of consecutive gates that share one table.
  std::int64_t positions = 1;
  /// uint8 [gates], or undefined: bit j of element g is 1 if input j of gate g lies outside of the
  /// image. The gate then reads 0 there, whatever its wire.
  Tensor outside = {};
};

/// The wires of one layer. Immutable, because the list of consumers, through which gradients are
/// gathered, is computed once.
class Wiring {
 public:
  /// `wires` is int32 [arity, groups]: element (j, q) is the source of input j of every gate in
  /// group q. Each group has `group_size` gates. Throws if a source is not below `inputs`.
  Wiring(std::int64_t inputs, const Tensor& wires, std::int64_t group_size = 1,
         TableSharing sharing = {});
  /// Pooling: gates without tables, each the maximum of its inputs (OR, if these are bits). Inputs
  /// that tie for the maximum share its gradient. With `first_wins`, the first of them gets it, as
  /// in PyTorch; only the CPU does this.
  static std::shared_ptr<const Wiring> pooling(std::int64_t inputs, const Tensor& wires,
                                               bool first_wins = false);
  Wiring(const Wiring&) = delete;
  Wiring& operator=(const Wiring&) = delete;
  ~Wiring();

  /// Number of inputs of the layer.
  std::int64_t inputs() const { return inputs_; }
  /// Number of gates.
  std::int64_t gates() const { return gates_; }
  /// Number of consecutive gates that share their wires.
  std::int64_t group_size() const { return group_size_; }
  /// Number of inputs per gate.
  int arity() const { return arity_; }
  /// Whether the gates are maxima of their inputs, which have no tables.
  bool pools() const { return pools_; }
  /// Number of consecutive gates that share a table.
  std::int64_t positions() const { return sharing_.positions; }
  /// Number of different tables: gates / positions, or 0 for pooling.
  std::int64_t tables() const { return pools_ ? 0 : gates_ / sharing_.positions; }
  /// Which gates share tables, and inputs that lie outside of an image.
  const TableSharing& sharing() const { return sharing_; }

  /// The source of input `slot` of `gate`.
  std::int32_t source(std::int64_t gate, int slot) const {
    return sources_[static_cast<std::size_t>(gate * arity_ + slot)];
  }
  /// All sources, gate by gate: [gates, arity].
  std::span<const std::int32_t> sources() const { return sources_; }

  /// A view for kernels, valid as long as the wiring exists.
  LutWires view() const;

  /// The gate inputs that read `input`, in ascending order of slot and gate.
  std::span<const Consumer> consumers(std::int64_t input) const;

  /// The wires as passed to the constructor: [arity, groups].
  const Tensor& wires() const { return wires_; }

 private:
  void check_sharing() const;
  void expand_sources();
  void list_consumers();

  std::int64_t inputs_;
  std::int64_t gates_ = 0;
  std::int64_t group_size_;
  int arity_ = 0;
  bool pools_ = false;
  bool first_wins_ = false;
  TableSharing sharing_;
  Tensor wires_;
  std::vector<std::int32_t> sources_;
  std::vector<std::size_t> first_consumer_;
  std::vector<Consumer> consumers_;
  std::vector<std::int32_t> partners_;
};

/// A shared, immutable wiring.
using WiringPtr = std::shared_ptr<const Wiring>;

/// The size of a layer to be wired.
struct WiringSize {
  std::int64_t inputs = 0;
  std::int64_t gates = 0;
  int arity = 2;                ///< inputs per gate
  std::int64_t group_size = 1;  ///< consecutive gates that share their wires
};

/// Random wires. All inputs are read about equally often, and the inputs of one gate differ if
/// there are enough. `layer` distinguishes the layers of a network that share a seed.
WiringPtr random_wiring(const WiringSize& size, std::uint64_t seed, std::uint32_t layer);

/// Random pairs of inputs. No pair occurs twice as long as there are enough pairs.
WiringPtr unique_pairs(const WiringSize& size, std::uint64_t seed, std::uint32_t layer);

/// Pairs of adjacent inputs, assigned to gates in random order: (0,1), (2,3), ..., then (1,2),
/// (3,4), ..., then pairs at distance 2, 3 and so on until every gate has one. If there are more
/// gates than pairs, pairs repeat. In a layer as wide as its input, pass-through gates thus pass on
/// nearly all inputs.
WiringPtr adjacent_pairs(const WiringSize& size, std::uint64_t seed, std::uint32_t layer);

/// Gates over a 3x3 (Moore) neighbourhood, nine inputs in row-major order. There are eight groups
/// of gates; each reads the centre as its second input and one of the eight neighbours, in random
/// order, as its first.
WiringPtr moore_wiring(std::int64_t group_size, std::uint64_t seed, std::uint32_t layer);

/// `count` interleaved copies of a layer: gate g of copy k has index g * count + k. Each copy reads
/// its own inputs, interleaved in the same way.
WiringPtr interleaved(const Wiring& one, std::int64_t count);

/// Gate g reads inputs g * arity to g * arity + arity - 1. `positions` consecutive gates share a
/// table.
WiringPtr slot_wiring(std::int64_t gates, int arity, std::int64_t positions = 1);

/// Balanced pairs, as in a butterfly network: layer l pairs inputs at distance 2^l, modulo the
/// powers below the number of inputs, so that after log2(inputs) layers an output can depend on all
/// inputs. Every input is read once before any is read twice, up to one pair; if there are more
/// gates than pairs at one distance, the next distances follow. The inputs of layer 0 are in random
/// order, because neighbours in data are alike.
WiringPtr butterfly_pairs(const WiringSize& size, std::uint64_t seed, std::uint32_t layer);

/// Gate i reads inputs near position i * inputs / gates, at normally distributed distances with a
/// standard deviation of `noise` inputs. Positions wrap around.
WiringPtr local_wiring(const WiringSize& size, double noise, std::uint64_t seed,
                       std::uint32_t layer);

/// The place of an input in an image.
struct ImagePosition {
  std::int32_t x = 0;  ///< column of the pixel
  std::int32_t y = 0;  ///< row of the pixel
};

/// The inputs of each gate are random ones from a square window of `window` pixels around a random
/// centre, over all channels and thresholds. `positions` has one element per input. A window with
/// fewer inputs than a gate needs grows until it has enough.
WiringPtr window_wiring(const WiringSize& size, std::span<const ImagePosition> positions,
                        std::int64_t window, std::uint64_t seed, std::uint32_t layer);

}  // namespace boolgrad::logic
