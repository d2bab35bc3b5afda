// Conversion of grids between tensors and the layout on devices, and size checks.
//
// Devices store grids as [cells][channels], one sample after another: one float per cell or, for
// hardened rules, one bit per cell in words of 32 consecutive cells.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "boolgrad/backend/device/automaton.h"
#include "boolgrad/backend/plan/flat_tensors.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

constexpr int cells_per_word = 32;

/// The number of words for `cells` cells.
std::int64_t words_for(std::int64_t cells);

/// Converts a tensor [channels, samples, height, width] to the device layout, as floats and as
/// bits. A single sample is broadcast to all `samples`.
std::vector<float> to_cells(const Tensor& tensor, std::int64_t samples);
std::vector<std::uint32_t> to_cell_words(const Tensor& tensor, std::int64_t samples);

/// The inverse, to float32 and to uint8. `shape` is [channels, samples, height, width].
Tensor from_cells(std::span<const float> cells, const Shape& shape);
Tensor from_cell_words(std::span<const std::uint32_t> words, const Shape& shape);

/// The number of wrong bits in a word of cells, and the mask of cells with wrong bits.
using ErrorWord = std::array<std::uint32_t, 2>;
HardErrors count_errors(std::span<const ErrorWord> words, std::int64_t grid_cells);

/// Replaces the tensors of `kept` by those of `given` that are defined.
void take_over(AutomatonInputs& kept, const AutomatonInputs& given);

/// A shape with its own copy of the wires.
class OwnedShape {
 public:
  explicit OwnedShape(const AutomatonShape& shape);
  OwnedShape(const OwnedShape&) = delete;
  OwnedShape& operator=(const OwnedShape&) = delete;

  const AutomatonShape& get() const { return shape_; }
  std::size_t gates() const;

 private:
  std::vector<LutWires> owned(std::span<const LutWires> wires);

  AutomatonShape shape_;
  std::vector<std::vector<std::int32_t>> sources_;
  std::vector<LutWires> perceive_, update_;
};

/// Throws if training does not fit into `free` bytes, and suggests a memory policy that does.
/// `training_bytes` computes the memory of a shape.
void check_training_memory(const std::string& device, const AutomatonShape& shape, std::size_t free,
                           const std::function<std::size_t(const AutomatonShape&)>& training_bytes);

/// Throws for grids whose neighbourhoods have more values than kernels can index.
void check_grid_size(const std::string& device, const AutomatonShape& shape);

}  // namespace boolgrad
