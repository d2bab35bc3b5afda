// Data structures that the network kernels of all devices read. Plain C++17.
#pragma once

#include <cstdint>

namespace boolgrad::layout {

// Activation buffers are [features][samples]. The rows of a layer's outputs are in the order in
// which the next layer reads them, so that memory access is sequential. Wires refer to rows of the
// buffers, parameters to gates.

/// A two-input gate, in the gate order of its layer.
struct alignas(16) PairGate {
  std::int32_t gate, row;  ///< index of its parameters; row of its output or of its group sum
  std::int32_t a, b;       ///< rows of its inputs
};

/// A gate that reads an input.
struct PairReader {
  std::int32_t gate;
  std::int32_t partner;  ///< row of its other input
  std::int32_t g;        ///< row of the gradient of its output
};

/// An input of a layer of two-input gates and two of its readers. More readers follow in
/// continuation entries. A missing reader is replaced by one that reads the input second and has a
/// zero gradient.
struct alignas(16) PairInput {
  std::int32_t row, flags;
  PairReader first, second;
};
constexpr std::int32_t first_reads_second = 1;   ///< the first reader reads it as its second input
constexpr std::int32_t second_reads_second = 2;  ///< the second reader reads it as its second input
constexpr std::int32_t continues = 4;            ///< continues the previous entry
constexpr std::int32_t ends = 8;                 ///< last entry of the input

/// An input that is 1 if a feature is above a threshold. For images, the feature is pixel (x, y).
struct alignas(16) InputBit {
  std::int32_t feature, x, y;
  float threshold;
};

/// The largest number of levels of a tree of gates that a kernel computes at once.
constexpr int max_tree_levels = 4;
/// The largest number of roots that an output of a tree pools.
constexpr int max_tree_pool = 6;

/// Outputs of a kernel of a convolution that are processed one after the other.
struct TreeSection {
  std::int32_t kernel;
  std::int32_t begin, end;  ///< positions in processing order
};

}  // namespace boolgrad::layout
