// Hardened logic, emitted gate by gate: one traversal of trained models that serves netlists, bit
// circuits and trials.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/logic/network.h"

namespace boolgrad {

/// A bit in a sink: an input, a constant or the output of a gate. Each sink numbers its own.
using Signal = std::uint32_t;

/// Receives gates in an order in which each comes after what it reads.
class GateSink {
 public:
  GateSink() = default;
  GateSink(const GateSink&) = delete;
  GateSink& operator=(const GateSink&) = delete;
  virtual ~GateSink() = default;

  virtual Signal constant(bool value) = 0;

  /// A table of up to six inputs: bit i of `truth` is the output where input j is bit j of i. A
  /// sink may simplify: the signal need not belong to a new gate.
  virtual Signal gate(std::span<const Signal> inputs, std::uint64_t truth) = 0;
};

/// Emits the hardened network over `inputs` and returns its outputs. A masked input is the constant
/// 0. Every gate is emitted exactly once, layer by layer in the order of the tables; the table of a
/// masked gate is 0.
std::vector<Signal> emit(const LogicNetwork& network, std::vector<Signal> inputs, GateSink& sink);

}  // namespace boolgrad
