// The wires of a layer of look-up tables, as kernels of all devices read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace boolgrad {

/// A reader of an input: input `slot` of `gate`.
struct Consumer {
  std::int32_t gate;
  std::int32_t slot;
};

/// A non-owning view of the candidate sources of learned wires. Input j of gate g is slot
/// g * arity + j; candidate k of slot s has index s * count + k.
struct CandidateWires {
  std::int64_t inputs = 0;     ///< of the layer
  std::int64_t slots = 0;      ///< gates * arity
  std::int64_t count = 0;      ///< candidates per slot; 0 if wires are fixed
  std::int64_t positions = 1;  ///< consecutive gates that share their logits
  /// Whether the last input is a place outside of an image: a row of zeros that is not one of the
  /// outputs of the layer below.
  bool has_outside = false;
  /// [slots, count]; empty if all inputs are candidates.
  std::span<const std::int32_t> sources = {};
  /// [inputs + 1], into `uses`; empty if all inputs are candidates.
  std::span<const std::int32_t> first_use = {};
  /// The candidates that are an input, in ascending order.
  std::span<const std::int32_t> uses = {};

  /// Whether candidate k of every slot is input k.
  bool has_all() const { return count > 0 && sources.empty(); }
  /// Number of slots with logits of their own.
  std::int64_t logit_slots() const { return slots / positions; }
  /// Number of inputs that are outputs of the layer below.
  std::int64_t real_inputs() const { return inputs - (has_outside ? 1 : 0); }
};

/// A non-owning view of a wiring. If wires are learned, the gates read slots: the inputs of the
/// view are the slots of `candidates`, each read once.
struct LutWires {
  std::int64_t inputs = 0;
  std::int64_t gates = 0;
  int arity = 0;
  std::span<const std::int32_t> sources;        ///< [gates, arity]
  std::span<const std::size_t> first_consumer;  ///< [inputs + 1], into `consumers`
  std::span<const Consumer> consumers;          ///< by input, then by slot, then by gate
  std::span<const std::int32_t> partners;  ///< two-input gates: the other input of each consumer
  CandidateWires candidates = {};
  bool pools = false;  ///< gates are maxima of their inputs and have no tables
  /// Pooling: whether the first of several largest inputs gets the gradient; else they share it.
  bool first_wins = false;
  std::int64_t positions = 1;                  ///< consecutive gates that share a table
  std::span<const std::uint8_t> outside = {};  ///< [gates] or empty: bit j is 1 if input j reads 0

  /// Number of different tables.
  std::int64_t tables() const { return pools ? 0 : gates / positions; }
  /// Whether each gate has a table of its own.
  bool has_own_tables() const { return !pools && positions == 1 && outside.empty(); }
  /// Whether gates have tables, but share them or ignore inputs.
  bool shares_tables() const { return !pools && !has_own_tables(); }
  std::size_t entries() const { return std::size_t{1} << arity; }
  bool learns_wires() const { return candidates.count > 0; }
  /// The inputs of the layer, before its slots.
  std::int64_t layer_inputs() const { return learns_wires() ? candidates.real_inputs() : inputs; }
};

}  // namespace boolgrad
