#include "boolgrad/backend/cuda/automaton/placement.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "boolgrad/backend/cuda/runtime/check.h"

namespace boolgrad::cuda {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Words of the tables in shared memory: coefficients, readers of the inputs and, unless threads
/// hold them, wires.
std::size_t table_words(const RulePlan& plan, Holding holding) {
  return index(gates_with_tables(plan, holding)) * (holding == Holding::nothing ? 5 : 4) +
         plan.input_reads.size() * 2 + 12;  // plus alignment padding
}

/// Shared memory of a kernel that holds gates in registers, in words.
std::size_t held_words(const TilePlan& tiles, Holding holding) {
  const std::size_t spread = holds_coefficients(holding) ? spread_words(tiles) : 0;
  return index(tiles.work.words) + table_words(tiles.rule, holding) + spread;
}

}  // namespace

AutomatonLimits device_limits() {
  int device = 0;
  check(cudaGetDevice(&device), "query the current device");
  AutomatonLimits limits;
  check(cudaDeviceGetAttribute(&limits.processors, cudaDevAttrMultiProcessorCount, device),
        "query the number of multiprocessors");
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "query the size of shared memory");
  // Static shared memory of the kernels: the layers, and the partial losses.
  constexpr std::size_t own = max_layers * sizeof(Layer) + max_warps * sizeof(double) + 128;
  limits.shared_words = (static_cast<std::size_t>(bytes) - own) / 4;
  int generation = 0;
  check(cudaDeviceGetAttribute(&generation, cudaDevAttrComputeCapabilityMajor, device),
        "query the compute capability");
  limits.has_async_copies = generation >= 9;
  return limits;
}

int gates_with_tables(const RulePlan& plan, Holding holding) {
  return holds_coefficients(holding) ? plan.layers[index(plan.perceive_layers)].first_gate
                                     : plan.gates();
}

std::size_t spread_words(const TilePlan& tiles) {
  return index(tiles.kernels) * index(spread_rows(tiles.rule.tree_outputs)) *
         index(tree_row_words(tiles.columns));
}

Holding holding_for(const TilePlan& tiles, std::size_t shared_words) {
  const RulePlan& plan = tiles.rule;
  if (tiles.tile != 4 || plan.tree_outputs == 0 || !plan.edges_are_in_place()) {
    return Holding::nothing;
  }
  const bool sizes_are_known = tiles.kernels == 16 && tiles.columns == 32;
  for (const Holding holding :
       {Holding::ten, Holding::fourteen, Holding::fourteen_of_any, Holding::eight}) {
    const int wide = narrow_layers_from(plan, held_threads(holding)) - plan.perceive_layers;
    const bool fits = wide <= held_layers(holding) && tiles.width <= held_threads(holding) &&
                      held_words(tiles, holding) <= shared_words;
    const bool is_for_any = holding == Holding::fourteen_of_any || holding == Holding::eight;
    if (fits && (sizes_are_known || is_for_any)) return holding;
  }
  return Holding::nothing;
}

TilePlan best_tiles(const AutomatonShape& shape, RolloutUse use, int cells,
                    const AutomatonLimits& limits) {
  std::optional<TilePlan> best;
  double least = 0;
  bool best_is_shared = false;
  for (int tile = 4; tile <= 64; tile *= 2) {
    TilePlan tiles = plan_tiles(shape, {.use = use,
                                        .tile = tile,
                                        .cells = cells,
                                        .max_layers = max_layers,
                                        .max_tree_kernels = max_warps,
                                        .sum_words = std::int64_t{max_warps} * 64});
    const int rounds = (tiles.tiles + limits.processors - 1) / limits.processors;
    const double items =
        (static_cast<double>(tiles.width) * tile / 4 + max_threads - 1) / max_threads;
    const bool is_shared = index(tiles.work.words) <= limits.shared_words;
    // Tables in global memory cost more than a few extra rounds.
    const std::size_t tables = table_words(tiles.rule, holding_for(tiles, limits.shared_words));
    const bool tables_fit = index(tiles.work.words) + tables <= limits.shared_words;
    const double cost = rounds * (1 + items) * (tables_fit ? 1 : 3);
    if (!best || (is_shared && !best_is_shared) || (is_shared == best_is_shared && cost < least)) {
      best = std::move(tiles);
      least = cost;
      best_is_shared = is_shared;
    }
  }
  return std::move(*best);
}

bool second_acts_fit(const TilePlan& tiles, const AutomatonLimits& limits) {
  const Holding holding = holding_for(tiles, limits.shared_words);
  const std::size_t needed = held_words(tiles, holding) + index(tiles.work.acts_words);
  return limits.has_async_copies && holding != Holding::nothing &&
         tiles.tiles <= limits.processors && needed <= limits.shared_words;
}

std::size_t training_bytes(const AutomatonShape& shape, const AutomatonLimits& limits) {
  const TilePlan tiles =
      best_tiles(shape, RolloutUse::training, static_cast<int>(shape.cells()), limits);
  const std::size_t words = index(shape.channels) * index(shape.cells());
  const auto gates = index(tiles.rule.gates());
  const std::size_t blocks = index(std::min(tiles.tiles, limits.processors));
  std::size_t floats = words * index((shape.max_steps() - 1) / shape.keep_every() + 1);
  floats += words * index(shape.keep_every());  // segment and last state
  floats += 2 * neighbourhood * words;          // gradients of patches
  floats += gates * (4 * blocks + 16 * 4 + 4);  // sums, parameters and moments
  if (shape.loss_steps > 1) floats += 2 * index(shape.loss_channels) * index(shape.cells());
  if (shape.keeps_activations()) {
    floats += index(shape.max_steps()) * index(tiles.tiles) * index(tiles.work.acts_words);
  }
  if (index(tiles.work.words) > limits.shared_words) floats += blocks * index(tiles.work.words);
  return floats * sizeof(float);
}

}  // namespace boolgrad::cuda
