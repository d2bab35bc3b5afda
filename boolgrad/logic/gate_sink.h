// Hardened logic, emitted gate by gate: one traversal of a trained model that builds netlists, bit
// circuits and simulators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boolgrad/logic/network.h"

namespace boolgrad::logic {

/// A one-bit signal of a sink: an input, a constant or the output of a gate. Its number has a
/// meaning only within that sink.
using Signal = std::uint32_t;

/// Receives gates in topological order: each gate comes after its inputs.
class GateSink {
 public:
  GateSink() = default;
  GateSink(const GateSink&) = delete;
  GateSink& operator=(const GateSink&) = delete;
  virtual ~GateSink() = default;

  /// The constant 0 or 1.
  virtual Signal constant(bool value) = 0;

  /// A table of up to six inputs. Bit i of `truth` is the output where input j is bit j of i. A
  /// sink may simplify, so the result may be an existing signal.
  virtual Signal gate(std::span<const Signal> inputs, std::uint64_t truth) = 0;
};

/// Emits the hardened network over `inputs` and returns its outputs. Every gate is emitted exactly
/// once, layer by layer, in the order of the tables. A masked input is the constant 0, and a masked
/// gate has the table 0.
std::vector<Signal> emit(const Network& network, std::vector<Signal> inputs, GateSink& sink);

/// Emits the layers from `first` on. `inputs` are the outputs of the layer before.
std::vector<Signal> emit_layers(const Network& network, std::size_t first,
                                std::vector<Signal> inputs, GateSink& sink);

}  // namespace boolgrad::logic
