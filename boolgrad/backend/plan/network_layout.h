// How kernels read the wires of gate networks. Plain C++17: kernels include it.
#pragma once

#include <cstdint>

namespace boolgrad::layout {

// Activations are rows of samples, one per feature. The rows of a layer's outputs lie in the order
// in which the next layer reads them, so that memory is read from one end to the other. Wires name
// rows, parameters gates.

/// A two-input gate, in the order in which a layer's gates are taken.
struct alignas(16) PairGate {
  std::int32_t gate, row;  ///< of its parameters, and of its output or what sums it
  std::int32_t a, b;       ///< rows that it reads
};

/// A gate that reads an input.
struct PairReader {
  std::int32_t gate;
  std::int32_t partner;  ///< the row that it reads next to the input's
  std::int32_t g;        ///< the row of its output's gradient
};

/// An input of a layer of two-input gates and two of its readers. Where there are more, entries
/// that continue this one follow; in place of one that is not there stands one that reads the input
/// second and has a row of zeros as its gradient.
struct alignas(16) PairInput {
  std::int32_t row, flags;
  PairReader first, second;
};
constexpr std::int32_t first_reads_second = 1;   ///< the first reader reads it as its second input
constexpr std::int32_t second_reads_second = 2;  ///< so does the second reader
constexpr std::int32_t continues = 4;            ///< the entry before
constexpr std::int32_t ends = 8;                 ///< no entry continues this one

/// An input that is 1 where a feature is above a threshold. Of images, the feature is the pixel
/// (x, y).
struct alignas(16) InputBit {
  std::int32_t feature, x, y;
  float threshold;
};

}  // namespace boolgrad::layout
