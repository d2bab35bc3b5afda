// How grids, parameters and wires of automata go to a device and come back, whichever it is.
//
// Devices keep grids as [cells][channels], samples one after another: a float a cell or, hardened,
// a bit a cell in words of 32 cells in a row.
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

constexpr int cells_a_word = 32;

/// Words that so many cells take.
std::int64_t words_for(std::int64_t cells);

/// A tensor [channels, samples, height, width] as devices keep it, one sample of which may stand
/// for all `samples`.
std::vector<float> to_cells(const Tensor& tensor, std::int64_t samples);
std::vector<std::uint32_t> to_cell_words(const Tensor& tensor, std::int64_t samples);

/// The way back, to float32 and to uint8. `shape` is [channels, samples, height, width].
Tensor from_cells(std::span<const float> cells, const Shape& shape);
Tensor from_cell_words(std::span<const std::uint32_t> words, const Shape& shape);

/// Wrong bits of a word of cells, and the cells that have some.
using WrongWord = std::array<std::uint32_t, 2>;
HardOutcome outcome_of(std::span<const WrongWord> wrong, std::int64_t grid_cells);

/// What is given takes the place of what is kept; undefined parts stay as they are.
void take_over(AutomatonInputs& kept, const AutomatonInputs& given);

/// A shape whose wires outlive those it was made from.
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

/// Refuses a shape that does not fit into `free` bytes, naming the policy that would.
/// `training_bytes` says what a shape takes.
void check_training_memory(const std::string& device, const AutomatonShape& shape, std::size_t free,
                           const std::function<std::size_t(const AutomatonShape&)>& training_bytes);

/// Refuses grids whose patches have more values than kernels count.
void check_grid_size(const std::string& device, const AutomatonShape& shape);

}  // namespace boolgrad
