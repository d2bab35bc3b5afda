#include "boolgrad/backend/plan/automaton_cells.h"

#include <bit>

#include "boolgrad/backend/plan/automaton_layout.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Calls f(channel, cell, value) for all cells of a tensor [channels, samples, height, width]. A
/// single sample is broadcast to all `samples`.
template <class F>
void for_cells(const Tensor& tensor, std::int64_t samples, const F& f) {
  const std::int64_t grid = tensor.shape()[2] * tensor.shape()[3];
  const std::int64_t stored = tensor.shape()[1];
  visit_dtype(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto values = tensor.values<T>();
    for (std::int64_t c = 0; c < tensor.shape()[0]; ++c) {
      for (std::int64_t sample = 0; sample < samples; ++sample) {
        const auto from =
            values.subspan(index((c * stored + (stored == 1 ? 0 : sample)) * grid), index(grid));
        for (std::int64_t i = 0; i < grid; ++i) {
          f(c, sample * grid + i, convert<float>(from[index(i)]));
        }
      }
    }
  });
}

}  // namespace

std::int64_t words_for(std::int64_t cells) { return (cells + cells_per_word - 1) / cells_per_word; }

std::vector<float> to_cells(const Tensor& tensor, std::int64_t samples) {
  const std::int64_t channels = tensor.shape()[0];
  std::vector<float> result(index(samples * tensor.shape()[2] * tensor.shape()[3] * channels));
  for_cells(tensor, samples, [&](std::int64_t c, std::int64_t cell, float value) {
    result[index(cell * channels + c)] = value;
  });
  return result;
}

std::vector<std::uint32_t> to_cell_words(const Tensor& tensor, std::int64_t samples) {
  const std::int64_t channels = tensor.shape()[0];
  const std::int64_t cells = samples * tensor.shape()[2] * tensor.shape()[3];
  std::vector<std::uint32_t> result(index(channels * words_for(cells)));
  for_cells(tensor, samples, [&](std::int64_t c, std::int64_t cell, float value) {
    if (value > 0.5F) {
      result[index(cell / cells_per_word * channels + c)] |= 1U << (cell % cells_per_word);
    }
  });
  return result;
}

Tensor from_cells(std::span<const float> cells, const Shape& shape) {
  Tensor result(shape, DType::float32);
  const auto to = result.mutable_values<float>();
  const auto channels = index(shape[0]);
  const std::size_t count = cells.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t cell = 0; cell < count; ++cell) {
      to[c * count + cell] = cells[cell * channels + c];
    }
  }
  return result;
}

Tensor from_cell_words(std::span<const std::uint32_t> words, const Shape& shape) {
  Tensor result(shape, DType::uint8);
  const auto to = result.mutable_values<std::uint8_t>();
  const auto channels = index(shape[0]);
  const std::size_t count = to.size() / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t cell = 0; cell < count; ++cell) {
      to[c * count + cell] =
          words[cell / cells_per_word * channels + c] >> (cell % cells_per_word) & 1;
    }
  }
  return result;
}

HardErrors count_errors(std::span<const ErrorWord> words, std::int64_t grid_cells) {
  HardErrors errors;
  std::int64_t last_sample = -1;
  for (std::size_t word = 0; word < words.size(); ++word) {
    errors.bits += words[word][0];
    for (std::uint32_t left = words[word][1]; left != 0; left &= left - 1) {
      const std::int64_t cell =
          static_cast<std::int64_t>(word) * cells_per_word + std::countr_zero(left);
      if (cell / grid_cells == last_sample) continue;
      last_sample = cell / grid_cells;
      ++errors.samples;
    }
  }
  return errors;
}

void take_over(AutomatonInputs& kept, const AutomatonInputs& given) {
  if (given.starts.defined()) kept.starts = given.starts;
  if (given.fire.defined()) kept.fire = given.fire;
  if (given.target.defined()) kept.target = given.target;
}

// ------------------------------------------------------------------ shapes

OwnedShape::OwnedShape(const AutomatonShape& shape)
    : shape_(shape), perceive_(owned(shape.perceive)), update_(owned(shape.update)) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    (i < perceive_.size() ? perceive_[i] : update_[i - perceive_.size()]).sources = sources_[i];
  }
  shape_.perceive = perceive_;
  shape_.update = update_;
}

std::vector<LutWires> OwnedShape::owned(std::span<const LutWires> wires) {
  std::vector<LutWires> views;
  for (const LutWires& one : wires) {
    sources_.emplace_back(one.sources.begin(), one.sources.end());
    LutWires view;
    view.inputs = one.inputs;
    view.gates = one.gates;
    view.arity = one.arity;
    views.push_back(view);
  }
  return views;
}

std::size_t OwnedShape::gates() const {
  std::size_t count = 0;
  for (const auto& part : {perceive_, update_}) {
    for (const LutWires& wires : part) count += index(wires.gates);
  }
  return count;
}

// ------------------------------------------------------------------ memory

void check_training_memory(
    const std::string& device, const AutomatonShape& shape, std::size_t free,
    const std::function<std::size_t(const AutomatonShape&)>& training_bytes) {
  const std::size_t needed = training_bytes(shape);
  if (needed <= free) return;
  AutomatonShape other = shape;
  std::string advice = "no memory policy fits; try a smaller grid or batch";
  for (other.memory = {.policy = MemoryPolicy::some_states, .every = 1};
       other.memory.every <= shape.max_steps(); ++other.memory.every) {
    const std::size_t bytes = training_bytes(other);
    if (bytes > free) continue;
    const std::string kept = other.memory.every == 1
                                 ? "every state"
                                 : fmt::format("one state every {} steps", other.memory.every);
    advice = fmt::format("keeping {} takes {}", kept, bytes_text(bytes));
    break;
  }
  fail(device, "out of memory: training needs {}, {} free; {}", bytes_text(needed),
       bytes_text(free), advice);
}

void check_grid_size(const std::string& device, const AutomatonShape& shape) {
  constexpr double limit = 0x1.0p31;
  const double values = static_cast<double>(shape.cells()) * static_cast<double>(shape.channels) *
                        static_cast<double>(layout::neighbourhood);
  if (values < limit) return;
  fail(device, "expected fewer than 2^31 neighbourhood values, received {} cells of {} channels",
       shape.cells(), shape.channels);
}

}  // namespace boolgrad
