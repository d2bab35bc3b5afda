// Which inputs each gate reads, and which gates read each input.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/backend/plan/lut_wires.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Gates have 1 to 6 inputs.
inline constexpr int most_inputs_per_gate = 6;

/// The wires of one layer. Immutable: the list of consumers, through which gradients are gathered,
/// is made once, here.
class Wiring {
 public:
  /// `wires` is [arity, groups], int32: wire (j, q) is what input j of every gate of group q reads.
  /// Each group has `group_size` gates. Refuses wires that are not below `inputs`.
  Wiring(std::int64_t inputs, const Tensor& wires, std::int64_t group_size = 1);

  std::int64_t inputs() const { return inputs_; }
  std::int64_t gates() const { return gates_; }
  std::int64_t group_size() const { return group_size_; }
  int arity() const { return arity_; }

  /// What input `slot` of `gate` reads.
  std::int32_t source(std::int64_t gate, int slot) const {
    return sources_[static_cast<std::size_t>(gate * arity_ + slot)];
  }
  /// All sources, gate by gate: [gates, arity].
  std::span<const std::int32_t> sources() const { return sources_; }

  /// All of it as kernels read it, valid as long as the wiring lives.
  LutWires view() const {
    return {inputs_, gates_, arity_, sources_, first_consumer_, consumers_, partners_};
  }

  /// Who reads `input`, by slot and gate in ascending order.
  std::span<const Consumer> consumers(std::int64_t input) const {
    const auto i = static_cast<std::size_t>(input);
    return std::span(consumers_)
        .subspan(first_consumer_[i], first_consumer_[i + 1] - first_consumer_[i]);
  }

  /// The wires as given: [arity, groups].
  const Tensor& wires() const { return wires_; }

 private:
  void take_sources();
  void list_consumers();

  std::int64_t inputs_;
  std::int64_t gates_ = 0;
  std::int64_t group_size_;
  int arity_ = 0;
  Tensor wires_;
  std::vector<std::int32_t> sources_;
  std::vector<std::size_t> first_consumer_;
  std::vector<Consumer> consumers_;
  std::vector<std::int32_t> partners_;
};

using WiringPtr = std::shared_ptr<const Wiring>;

/// Sizes that every way of wiring needs.
struct WiringSize {
  std::int64_t inputs = 0;
  std::int64_t gates = 0;
  int arity = 2;
  std::int64_t group_size = 1;
};

/// Every wire anywhere. The inputs of one gate differ where there are enough, and all inputs are
/// read about equally often. `layer` keeps the layers of one network apart.
WiringPtr random_wiring(const WiringSize& size, std::uint64_t seed, std::uint32_t layer);

/// Two inputs a gate, never the same pair twice as long as there are enough pairs.
WiringPtr unique_pairs(const WiringSize& size, std::uint64_t seed, std::uint32_t layer);

/// Two inputs a gate, next to each other or nearly so: all pairs (0,1), (2,3), ..., then (1,2),
/// (3,4), ..., then pairs two places apart, three and so on until there is one a gate (and all over
/// again where there are more gates than pairs), dealt out in random order. A layer as wide as its
/// input so passes nearly all of it on when its gates give their first input.
WiringPtr adjacent_pairs(const WiringSize& size, std::uint64_t seed, std::uint32_t layer);

/// Nine inputs, a 3 by 3 neighbourhood in row-major order: eight groups of gates, each reading one
/// of the eight neighbours, in random order, and then the centre.
WiringPtr moore_wiring(std::int64_t group_size, std::uint64_t seed, std::uint32_t layer);

/// `count` copies of a layer side by side, gate g of copy k at place g * count + k. Each reads its
/// own copy of the inputs, which lie in the same order.
WiringPtr interleaved(const Wiring& one, std::int64_t count);

/// Gate i reads inputs around its own place i * inputs / gates: normally distributed with a
/// standard deviation of `noise` inputs, wrapping around at the ends.
WiringPtr local_wiring(const WiringSize& size, double noise, std::uint64_t seed,
                       std::uint32_t layer);

}  // namespace boolgrad
