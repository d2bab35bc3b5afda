// Circuits with shared parts: the kernels of convolutions once, and the positions that they have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/logic/network.h"

namespace boolgrad::circuit {

/// The integers from `begin` to `end` - 1.
struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool contains(std::int64_t i) const { return begin <= i && i < end; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// What one input of a kernel reads: a bit at a fixed offset from the position of the kernel.
struct SharedLeaf {
  std::int64_t channel = 0;
  /// The bit of the channel that position (0, 0) reads. Outside of the channel if it reads none.
  std::int64_t origin = 0;
  /// The rows and columns of positions that read a bit. The others read 0.
  Interval rows = {};
  Interval columns = {};

  friend bool operator==(const SharedLeaf&, const SharedLeaf&) = default;
};

/// A kernel, whose outputs are one channel.
struct SharedKernel {
  std::vector<SharedLeaf> leaves;
  Netlist function;  ///< one output; input i is leaf i
};

/// A convolution, or pooling. It reads channels of bits and computes channels of one bit per
/// position. Positions are a grid, in the order (row, column).
struct SharedStage {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_step = 0;     ///< between the bits that adjacent rows of positions read
  std::int64_t column_step = 0;  ///< between the bits that adjacent columns of positions read
  std::int64_t channels = 0;
  std::vector<SharedKernel> kernels;  ///< one per channel; empty for pooling
  /// Pooling: the bits that a position of channel 0 takes the OR of. Other channels do the same
  /// with their own bits.
  std::vector<SharedLeaf> pooled;

  /// Whether the stage is pooling.
  bool pools() const { return kernels.empty(); }
  /// Number of positions.
  std::int64_t positions() const { return rows * columns; }
  /// Number of outputs.
  std::int64_t bits() const { return channels * positions(); }
  /// The bit of its channel that a leaf reads at a position, or nothing if it reads 0.
  std::optional<std::int64_t> source(const SharedLeaf& leaf, std::int64_t row,
                                     std::int64_t column) const;
};

/// A circuit that begins with convolutions.
struct SharedCircuit {
  std::string name;
  std::vector<std::string> inputs;         ///< unique names; they are one channel
  std::vector<std::size_t> masked_inputs;  ///< inputs that the stages read as 0
  std::vector<SharedStage> stages;         ///< at least one; each reads the one before
  Netlist rest;  ///< reads the bits of the last stage, in the order (channel, row, column)

  /// Number of bits per channel that a stage reads.
  std::int64_t channel_bits(std::size_t stage) const;
  /// Number of kernels of each convolution.
  std::vector<std::int64_t> kernel_counts() const;
  /// Number of gates, those of a kernel counted once. Constants and pooling do not count.
  std::int64_t written_gates() const;
};

/// The hardened network with the kernels of its first convolutions once, or nothing if it does not
/// begin with a convolution. Masks are applied, and nothing is simplified. Names are those of
/// `harden`.
std::optional<SharedCircuit> shared_circuit_of(const logic::Network& network);

/// The same circuit with simplified kernels, without leaves that they do not need, and with a
/// simplified rest.
SharedCircuit simplified(const SharedCircuit& circuit);

/// The netlist with a copy of its kernel at every position. Constants, buffers and inverters are
/// absorbed.
Netlist flattened(const SharedCircuit& circuit);

}  // namespace boolgrad::circuit
