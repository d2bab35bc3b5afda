#include "boolgrad/backend/cpu/automaton/rollout.h"

#include <algorithm>
#include <cstring>

#include "boolgrad/backend/cpu/network/lut_stack.h"
#include "boolgrad/core/parallel.h"

namespace boolgrad::cpu {
namespace {

constexpr std::int64_t max_groups = 16;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The offsets of the activations of a tile, in rows of the tile length.
class TileLayout {
 public:
  /// Either every activation has its own row, or layers alternate between two buffers and each
  /// channel reuses the rows of perception.
  TileLayout(const RuleView& rule, bool keeps_all) : keeps_all_(keeps_all) {
    const std::size_t channels = keeps_all ? index(rule.channels) : 1;
    // One extra row, because reading a tile may write a vector beyond the last row.
    hidden_ = channels * neighbourhood + 1;
    hidden_per_channel_ = assign(rule.perceive.first(rule.perceive.size() - 1), hidden_of_layer_);
    input_ = hidden_ + channels * hidden_per_channel_;
    update_ = input_ + index(rule.update.front().inputs);
    rows_ = update_ + assign(rule.update, update_of_layer_);
  }

  std::size_t patch(std::size_t channel) const { return keeps_all_ ? channel * neighbourhood : 0; }
  std::size_t hidden(std::size_t channel, std::size_t layer) const {
    const std::size_t first = keeps_all_ ? channel * hidden_per_channel_ : 0;
    return hidden_ + first + hidden_of_layer_[layer];
  }
  std::size_t input() const { return input_; }
  std::size_t update(std::size_t layer) const { return update_ + update_of_layer_[layer]; }
  std::size_t rows() const { return rows_; }

 private:
  /// Assigns offsets to layers: consecutive, or alternating between two buffers. Returns the number
  /// of rows.
  std::size_t assign(std::span<const LutWires> layers, std::vector<std::size_t>& offsets) const {
    std::size_t widest = 0;
    for (const LutWires& wires : layers) widest = std::max(widest, index(wires.gates));
    std::size_t rows = 0;
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      offsets.push_back(keeps_all_ ? rows : layer % 2 * widest);
      rows += index(layers[layer].gates);
    }
    return keeps_all_ ? rows : 2 * widest;
  }

  bool keeps_all_;
  std::size_t hidden_ = 0;
  std::size_t hidden_per_channel_ = 0;
  std::vector<std::size_t> hidden_of_layer_;
  std::size_t input_ = 0;
  std::size_t update_ = 0;
  std::vector<std::size_t> update_of_layer_;
  std::size_t rows_ = 0;
};

/// Thread-local scratch memory of at least `bytes`, valid until the next call. A buffer shared by
/// threads would move between the caches of the cores.
void* scratch(std::size_t bytes) {
  thread_local Tensor memory;
  if (!memory.defined() || memory.bytes() < bytes) {
    memory = Tensor();
    memory = Tensor({static_cast<std::int64_t>(bytes)}, DType::uint8);
  }
  return memory.mutable_data();
}

/// Cells per tile. Larger tiles amortise the cost of a gate's coefficients and sums, but their
/// activations should stay in the cache. Depends on sizes only, and is a multiple of the vector
/// length.
std::size_t tile_length(const RuleView& rule, const Grid& grid, DType dtype) {
  constexpr std::size_t cache = std::size_t{2} << 20;
  const std::size_t column = TileLayout(rule, true).rows() * size_of(dtype);
  std::size_t tile = 64;
  while (tile > 16 && (column * tile > cache || index(grid.cells()) <= tile / 2)) tile /= 2;
  return tile;
}

std::int64_t tile_count(const Grid& grid, std::size_t tile) {
  const auto length = static_cast<std::int64_t>(tile);
  return (grid.cells() + length - 1) / length;
}

/// The number of kept states: 0, n, 2n, ... below `steps`.
std::int64_t kept_states(const RolloutShape& shape) {
  if (shape.keep_every == 0) return 0;
  return (shape.steps + shape.keep_every - 1) / shape.keep_every;
}

template <class T>
class Rollout {
 public:
  Rollout(const RuleView& rule, const RolloutShape& shape, const RolloutMasks& masks)
      : rule_(rule),
        shape_(shape),
        masks_(masks),
        dtype_(dtype_of<T>()),
        perceive_(rule.perceive, rule.coefficients.first(rule.perceive.size()), dtype_),
        update_(rule.update, rule.coefficients.subspan(rule.perceive.size()), dtype_),
        kernels_(grid_kernels(dtype_)),
        offsets_(shape.grid.offsets()),
        all_(rule, true),
        passing_(rule, false),
        tile_(tile_length(rule, shape.grid, dtype_)),
        groups_(tile_count(shape.grid, tile_), max_groups) {
    for (std::int64_t tile = 0; tile < groups_.tiles; ++tile) {
      runs_.push_back(shape.grid.runs(first_cell(tile), cells_of(tile)));
    }
  }

  void forward(const Tensor& initial, Tensor& out, RolloutTrace* trace) {
    const std::int64_t kept = trace == nullptr ? 0 : kept_states(shape_);
    if (kept > 0) trace->states = padded(kept);
    if (trace != nullptr && shape_.keep_every == 0) {
      trace->activations =
          Tensor({shape_.steps, groups_.tiles, static_cast<std::int64_t>(all_.rows()),
                  static_cast<std::int64_t>(tile_)},
                 dtype_);
    }
    Tensor passing = padded(2);
    // Kept states are computed directly in the trace.
    const auto state_of = [&](std::int64_t step) {
      const bool keep = kept > 0 && step % shape_.keep_every == 0 && step < shape_.steps;
      return keep ? state_at(trace->states, step / shape_.keep_every) : state_at(passing, step % 2);
    };
    pad(initial, state_of(0));
    for (std::int64_t step = 0; step < shape_.steps; ++step) {
      T* kept_tiles = trace != nullptr && trace->activations.defined()
                          ? activations_at(trace->activations, step)
                          : nullptr;
      take_step(state_of(step), state_of(step + 1), masks_at(step), kept_tiles,
                returned_at(out, step));
    }
  }

  void backward(const RolloutTrace& trace, const Tensor& upstream,
                std::vector<Tensor>& coefficients, Tensor* initial) {
    sums_.resize(groups_.size());
    for (auto& group : sums_) group = zeros_like(rule_.coefficients);
    // The gradients of neighbour reads, of this step and of the next one.
    Tensor read[2] = {read_gradients(), read_gradients()};
    const std::int64_t every = std::max<std::int64_t>(shape_.keep_every, 1);
    Tensor segment = every > 1 ? padded(every) : Tensor();
    for (std::int64_t step = shape_.steps; step-- > 0;) {
      if (every > 1 && (step + 1 == shape_.steps || (step + 1) % every == 0)) {
        recompute(trace.states, step / every, segment);
      }
      const StepBack back{
          .state = state_before(step, trace, segment),
          .masks = masks_at(step),
          .activations = shape_.keep_every == 0 ? activations_at(trace.activations, step) : nullptr,
          .upstream = upstream_at(upstream, step),
          .read_after = step + 1 < shape_.steps ? values(read[(step + 1) % 2]) : nullptr,
          .read = values(read[step % 2]),
          .wants_input = step > 0 || initial != nullptr};
      go_back(back);
    }
    if (initial != nullptr) gather_initial(values(read[0]), *initial);
    coefficients = zeros_like(rule_.coefficients);
    add_groups<T>(sums_, coefficients);
  }

 private:
  /// The masks of a step, or null.
  struct StepMasks {
    const std::uint8_t* fire;
    const std::uint8_t* round;
  };

  struct StepBack {
    const T* state;  ///< planes of the state before the step
    StepMasks masks;
    T* activations;       ///< of all tiles, if they were kept
    const T* upstream;    ///< gradient of the state after the step: [channels, cells]
    const T* read_after;  ///< gradients of the reads of the next step; null for the last step
    T* read;              ///< gradients of the reads of this step
    bool wants_input;
  };

  // ------------------------------------------------------------------ offsets

  static T* values(Tensor& tensor) { return tensor.mutable_values<T>().data(); }
  std::size_t channels() const { return index(rule_.channels); }
  std::size_t cells() const { return index(shape_.grid.cells()); }
  std::size_t plane() const { return index(shape_.grid.plane()); }

  std::int64_t first_cell(std::int64_t tile) const {
    return tile * static_cast<std::int64_t>(tile_);
  }
  std::int64_t cells_of(std::int64_t tile) const {
    return std::min(static_cast<std::int64_t>(tile_), shape_.grid.cells() - first_cell(tile));
  }
  std::size_t used(std::int64_t tile) const { return index(cells_of(tile)); }

  Tensor padded(std::int64_t count) const {
    return Tensor::zeros({count, rule_.channels, shape_.grid.plane()}, dtype_);
  }
  Tensor read_gradients() const {
    const std::int64_t planes = rule_.channels * static_cast<std::int64_t>(neighbourhood);
    return Tensor::zeros({planes, shape_.grid.plane()}, dtype_);
  }
  T* state_at(Tensor& states, std::int64_t at) const {
    return values(states) + index(at) * channels() * plane();
  }
  T* activations_at(const Tensor& activations, std::int64_t step) const {
    Tensor shared = activations;
    return values(shared) + index(step * groups_.tiles) * all_.rows() * tile_;
  }
  StepMasks masks_at(std::int64_t step) const {
    const auto at = [&](const Tensor& mask) {
      return mask.defined() ? mask.values<std::uint8_t>().data() + index(step) * cells() : nullptr;
    };
    return {at(masks_.fire), at(masks_.round)};
  }
  /// The output buffer of the state after `step`; null if it is not returned.
  T* returned_at(Tensor& out, std::int64_t step) const {
    const std::int64_t at = step - (shape_.steps - shape_.returned);
    return at < 0 ? nullptr : values(out) + index(at) * channels() * cells();
  }
  const T* upstream_at(const Tensor& upstream, std::int64_t step) const {
    Tensor shared = upstream;
    return returned_at(shared, step);
  }
  const T* state_before(std::int64_t step, const RolloutTrace& trace, Tensor& segment) const {
    if (shape_.keep_every == 0) return nullptr;
    if (shape_.keep_every > 1) return state_at(segment, step % shape_.keep_every);
    Tensor shared = trace.states;
    return state_at(shared, step);
  }

  /// Calls task(group, begin, end) for the tiles of every group, groups in parallel.
  template <class Task>
  void for_groups(Task task) const {
    parallel_for(groups_.size(),
                 [&](std::size_t group) { task(group, groups_.begin(group), groups_.end(group)); });
  }

  // ------------------------------------------------------------------ forward

  void pad(const Tensor& initial, T* planes) const {
    const T* from = initial.values<T>().data();
    for (std::int64_t tile = 0; tile < groups_.tiles; ++tile) {
      for (std::size_t c = 0; c < channels(); ++c) {
        kernels_.write(from + c * cells() + index(first_cell(tile)), runs_[index(tile)],
                       shape_.grid, planes + c * plane());
      }
    }
  }

  void take_step(const T* state, T* next, const StepMasks& masks, T* kept, T* returned) const {
    const TileLayout& layout = kept == nullptr ? passing_ : all_;
    for_groups([&](std::size_t, std::int64_t begin, std::int64_t end) {
      for (std::int64_t tile = begin; tile < end; ++tile) {
        T* a = kept == nullptr ? rows_of_scratch(layout.rows())
                               : kept + index(tile) * layout.rows() * tile_;
        forward_tile(layout, state, masks, tile, a);
        store_state(a + layout.update(update_.size() - 1) * tile_, tile, next, returned);
      }
    });
  }

  void store_state(const T* rows, std::int64_t tile, T* next, T* returned) const {
    for (std::size_t c = 0; c < channels(); ++c) {
      kernels_.write(rows + c * tile_, runs_[index(tile)], shape_.grid, next + c * plane());
      if (returned != nullptr) {
        std::memcpy(returned + c * cells() + index(first_cell(tile)), rows + c * tile_,
                    used(tile) * sizeof(T));
      }
    }
  }

  /// Computes a whole step of one tile. The new state is the output of the last layer.
  void forward_tile(const TileLayout& layout, const T* state, const StepMasks& masks,
                    std::int64_t tile, T* a) const {
    T* input = a + layout.input() * tile_;
    for (std::size_t c = 0; c < channels(); ++c) {
      perceive_hidden(layout, state, tile, c, a);
      std::memcpy(input + c * tile_, a + (layout.patch(c) + centre_cell) * tile_,
                  tile_ * sizeof(T));
      const std::size_t last = perceive_.size() - 1;
      perceive_.forward(last, perception_input(layout, last, c, a),
                        input + (channels() + c * index(rule_.perceived())) * tile_, tile_);
    }
    const T* x = input;
    for (std::size_t layer = 0; layer < update_.size(); ++layer) {
      T* out = a + layout.update(layer) * tile_;
      update_.forward(layer, x, out, tile_);
      x = out;
    }
    T* next = a + layout.update(update_.size() - 1) * tile_;
    stay_between_0_and_1(next);
    if (masks.round != nullptr) round(masks.round + first_cell(tile), tile, next);
    if (masks.fire != nullptr) blend(input, masks.fire + first_cell(tile), tile, next);
  }

  /// The outputs of gates are between 0 and 1 up to rounding. Beyond that range, two inputs that
  /// are equal double their distance from it in an XOR, and in hundreds of layers it would become
  /// infinite.
  void stay_between_0_and_1(T* next) const {
    for (std::size_t i = 0; i < channels() * tile_; ++i) {
      next[i] = next[i] < T{0} ? T{0} : next[i] > T{1} ? T{1} : next[i];  // NaN stays NaN
    }
  }

  /// Reads the neighbourhoods of channel c and computes all layers of perception but the last.
  void perceive_hidden(const TileLayout& layout, const T* state, std::int64_t tile, std::size_t c,
                       T* a) const {
    read_patch(state + c * plane(), tile, a + layout.patch(c) * tile_);
    for (std::size_t layer = 0; layer + 1 < perceive_.size(); ++layer) {
      perceive_.forward(layer, perception_input(layout, layer, c, a),
                        a + layout.hidden(c, layer) * tile_, tile_);
    }
  }

  const T* perception_input(const TileLayout& layout, std::size_t layer, std::size_t c,
                            const T* a) const {
    return a + (layer > 0 ? layout.hidden(c, layer - 1) : layout.patch(c)) * tile_;
  }

  void read_patch(const T* state, std::int64_t tile, T* patch) const {
    for (std::size_t n = 0; n < neighbourhood; ++n) {
      kernels_.read(state, runs_[index(tile)], offsets_[n], patch + n * tile_);
    }
    for (std::size_t n = 0; n < neighbourhood; ++n) clear_rest(tile, patch + n * tile_);
  }

  /// Clears the elements of the last tile beyond the last cell.
  void clear_rest(std::int64_t tile, T* row) const {
    std::fill(row + used(tile), row + tile_, T{0});
  }

  void round(const std::uint8_t* rounds, std::int64_t tile, T* next) const {
    for (std::size_t c = 0; c < channels(); ++c) {
      for (std::size_t i = 0; i < used(tile); ++i) {
        if (rounds[i] != 0) next[c * tile_ + i] = next[c * tile_ + i] > T{0.5} ? T{1} : T{0};
      }
    }
  }

  /// Restores cells that do not fire.
  void blend(const T* before, const std::uint8_t* fire, std::int64_t tile, T* after) const {
    for (std::size_t c = 0; c < channels(); ++c) {
      for (std::size_t i = 0; i < used(tile); ++i) {
        if (fire[i] == 0) after[c * tile_ + i] = before[c * tile_ + i];
      }
    }
  }

  // ------------------------------------------------------------------ backward

  /// Recomputes the states of segment `at` from its kept state.
  void recompute(const Tensor& kept, std::int64_t at, Tensor& segment) const {
    Tensor shared = kept;
    const std::int64_t first = at * shape_.keep_every;
    const std::int64_t end = std::min(first + shape_.keep_every, shape_.steps);
    std::copy_n(state_at(shared, at), channels() * plane(), state_at(segment, 0));
    for (std::int64_t step = first; step + 1 < end; ++step) {
      take_step(state_at(segment, step - first), state_at(segment, step - first + 1),
                masks_at(step), nullptr, nullptr);
    }
  }

  T* rows_of_scratch(std::size_t rows) const {
    return static_cast<T*>(scratch(rows * tile_ * sizeof(T)));
  }

  /// The gradient buffers of a tile.
  struct GradientRows {
    GradientRows(const Rollout& of, T* memory) {
      const auto take = [&](std::size_t rows) {
        T* begin = memory;
        memory += rows * of.tile_;
        return begin;
      };
      state = take(of.channels() + 1);
      stays = take(of.channels());
      for (T*& rows : update) rows = take(widest(of.update_));
      for (T*& rows : perceive) rows = take(widest(of.perceive_));
    }
    static std::size_t count(const Rollout& of) {
      return 2 * of.channels() + 1 + 2 * widest(of.update_) + 2 * widest(of.perceive_);
    }

    T* state;  ///< gradient of the state after the step; one extra row
    T* stays;  ///< its part for cells that did not fire
    T* update[2];
    T* perceive[2];
  };

  static std::size_t widest(const LayerStack& stack) {
    std::int64_t rows = 0;
    for (const LutWires& wires : stack.layers) rows = std::max({rows, wires.inputs, wires.gates});
    return index(rows);
  }

  void go_back(const StepBack& step) {
    const bool kept = step.activations != nullptr;
    for_groups([&](std::size_t group, std::int64_t begin, std::int64_t end) {
      const std::size_t rows = kept ? 0 : all_.rows();
      T* memory = rows_of_scratch(rows + GradientRows::count(*this));
      GradientRows g(*this, memory + rows * tile_);
      for (std::int64_t tile = begin; tile < end; ++tile) {
        T* a = kept ? step.activations + index(tile) * all_.rows() * tile_ : memory;
        if (!kept) forward_tile(all_, step.state, step.masks, tile, a);
        gather_state(step, tile, g);
        backward_tile(step, tile, a, g, sums_[group]);
      }
    });
  }

  /// Computes the gradient of the state after the step.
  void gather_state(const StepBack& step, std::int64_t tile, GradientRows& g) const {
    for (std::size_t c = 0; c < channels(); ++c) {
      T* row = g.state + c * tile_;
      if (step.read_after != nullptr) {
        kernels_.gather(step.read_after + c * neighbourhood * plane(), plane(), shape_.grid,
                        runs_[index(tile)], row);
        clear_rest(tile, row);
      } else {
        std::fill_n(row, tile_, T{0});
      }
      if (step.upstream == nullptr) continue;
      const T* from = step.upstream + c * cells() + index(first_cell(tile));
      for (std::size_t i = 0; i < used(tile); ++i) row[i] += from[i];
    }
    if (step.masks.fire != nullptr) split(step.masks.fire + first_cell(tile), tile, g);
  }

  void split(const std::uint8_t* fire, std::int64_t tile, GradientRows& g) const {
    for (std::size_t c = 0; c < channels(); ++c) {
      T* row = g.state + c * tile_;
      T* stays = g.stays + c * tile_;
      std::fill_n(stays, tile_, T{0});
      for (std::size_t i = 0; i < used(tile); ++i) {
        if (fire[i] == 0) std::swap(row[i], stays[i]);
      }
    }
  }

  void backward_tile(const StepBack& step, std::int64_t tile, const T* a, GradientRows& g,
                     std::vector<Tensor>& sums) const {
    const T* upstream = g.state;
    for (std::size_t layer = update_.size(); layer-- > 0;) {
      const T* x = a + (layer > 0 ? all_.update(layer - 1) : all_.input()) * tile_;
      T* gx = g.update[layer % 2];
      update_.backward(layer, x, upstream, gx, sums[perceive_.size() + layer], tile_);
      upstream = gx;
    }
    for (std::size_t c = 0; c < channels(); ++c) {
      const T* perceived = upstream + (channels() + c * index(rule_.perceived())) * tile_;
      const T* patch = backward_perception(step, c, a, perceived, g, sums);
      if (step.wants_input) store_read(step, c, tile, upstream + c * tile_, g, patch);
    }
  }

  /// Computes the gradient of the neighbourhoods of channel c.
  const T* backward_perception(const StepBack& step, std::size_t c, const T* a, const T* upstream,
                               GradientRows& g, std::vector<Tensor>& sums) const {
    for (std::size_t layer = perceive_.size(); layer-- > 0;) {
      T* gx = layer > 0 || step.wants_input ? g.perceive[layer % 2] : nullptr;
      perceive_.backward(layer, perception_input(all_, layer, c, a), upstream, gx, sums[layer],
                         tile_);
      upstream = gx;
    }
    return upstream;
  }

  void store_read(const StepBack& step, std::size_t c, std::int64_t tile, const T* direct,
                  GradientRows& g, const T* patch) const {
    T* own = g.perceive[0] + centre_cell * tile_;
    for (std::size_t i = 0; i < tile_; ++i) own[i] += direct[i];
    if (step.masks.fire != nullptr) {
      const T* stays = g.stays + c * tile_;
      for (std::size_t i = 0; i < tile_; ++i) own[i] += stays[i];
    }
    for (std::size_t n = 0; n < neighbourhood; ++n) {
      kernels_.write(patch + n * tile_, runs_[index(tile)], shape_.grid,
                     step.read + (c * neighbourhood + n) * plane());
    }
  }

  void gather_initial(const T* read, Tensor& initial) const {
    Tensor rows({2 * static_cast<std::int64_t>(tile_)}, dtype_);
    for (std::int64_t tile = 0; tile < groups_.tiles; ++tile) {
      for (std::size_t c = 0; c < channels(); ++c) {
        kernels_.gather(read + c * neighbourhood * plane(), plane(), shape_.grid,
                        runs_[index(tile)], values(rows));
        std::copy_n(values(rows), used(tile),
                    values(initial) + c * cells() + index(first_cell(tile)));
      }
    }
  }

  const RuleView& rule_;
  const RolloutShape& shape_;
  const RolloutMasks& masks_;
  DType dtype_;
  LayerStack perceive_;
  LayerStack update_;
  GridKernels kernels_;
  std::array<std::ptrdiff_t, neighbourhood> offsets_;
  TileLayout all_;
  TileLayout passing_;
  std::size_t tile_;
  TileGroups groups_;
  std::vector<std::vector<GridRun>> runs_;
  GroupSums sums_;
};

}  // namespace

std::size_t trace_bytes(const RuleView& rule, const RolloutShape& shape, DType dtype) {
  const std::size_t tile = tile_length(rule, shape.grid, dtype);
  if (shape.keep_every == 0) {
    return index(shape.steps * tile_count(shape.grid, tile)) * TileLayout(rule, true).rows() *
           tile * size_of(dtype);
  }
  const std::int64_t segment = shape.keep_every > 1 ? shape.keep_every : 0;
  return index((kept_states(shape) + segment) * rule.channels * shape.grid.plane()) *
         size_of(dtype);
}

void rollout_forward(const RuleView& rule, const RolloutShape& shape, const Tensor& initial,
                     const RolloutMasks& masks, Tensor& out, RolloutTrace* trace) {
  if (initial.dtype() == DType::float32) {
    Rollout<float>(rule, shape, masks).forward(initial, out, trace);
  } else {
    Rollout<double>(rule, shape, masks).forward(initial, out, trace);
  }
}

void rollout_backward(const RuleView& rule, const RolloutShape& shape, const RolloutMasks& masks,
                      const RolloutTrace& trace, const Tensor& upstream,
                      std::vector<Tensor>& coefficients, Tensor* initial) {
  if (upstream.dtype() == DType::float32) {
    Rollout<float>(rule, shape, masks).backward(trace, upstream, coefficients, initial);
  } else {
    Rollout<double>(rule, shape, masks).backward(trace, upstream, coefficients, initial);
  }
}

}  // namespace boolgrad::cpu
