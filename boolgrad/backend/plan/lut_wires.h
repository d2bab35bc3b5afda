// The wires of a layer of look-up tables, as kernels of any device read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace boolgrad {

/// One place where an input is read: input `slot` of `gate`.
struct Consumer {
  std::int32_t gate;
  std::int32_t slot;
};

/// A view of a wiring, valid as long as the wiring is.
struct LutWires {
  std::int64_t inputs = 0;
  std::int64_t gates = 0;
  int arity = 0;
  std::span<const std::int32_t> sources;        ///< [gates, arity]
  std::span<const std::size_t> first_consumer;  ///< [inputs + 1], into `consumers`
  std::span<const Consumer> consumers;          ///< by input, then by slot, then by gate
  std::span<const std::int32_t> partners;       ///< of two-input gates: what the other slot reads

  std::size_t entries() const { return std::size_t{1} << arity; }
};

}  // namespace boolgrad
