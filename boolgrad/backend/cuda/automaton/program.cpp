#include "boolgrad/backend/cuda/automaton/program.h"

#include <algorithm>
#include <utility>

#include "boolgrad/backend/cuda/runtime/check.h"
#include "boolgrad/backend/plan/automaton_cells.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::cuda {
namespace {

constexpr double two_to_32 = 0x1.0p32;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void AutomatonParameters::set_frozen(std::span<const Tensor> tensors) {
  std::vector<float> all = flat(tensors);
  if (all.size() != masks.size()) {
    fail("cuda", "expected frozen flags of {} gates, received {}", masks.size(), all.size());
  }
  if (all == host_frozen) return;
  if (frozen.size() == 0) frozen = DeviceArray<float>(all.size());
  frozen.upload(all.data(), all.size());
  host_frozen = std::move(all);
}

AutomatonProgram::AutomatonProgram(const AutomatonShape& shape, RolloutUse use,
                                   std::int64_t samples, const AutomatonParameters& parameters,
                                   cudaStream_t stream, int processors)
    : shape_(shape),
      parameters_(parameters),
      use_(use),
      samples_(samples),
      limits_(device_limits()) {
  const std::int64_t all_cells = samples * shape.height * shape.width;
  const std::int64_t cells = use == RolloutUse::hard ? words_for(all_cells) : all_cells;
  if (processors > 0) limits_.processors = processors;
  const TilePlan tiles = best_tiles(shape, use, static_cast<int>(cells), limits_);
  launch_.stream = stream;
  set_geometry(tiles);
  place_tables(tiles);
  place_second_acts(tiles);
  allocate_buffers(tiles.rule);
}

// ------------------------------------------------------------------ layout

void AutomatonProgram::set_geometry(const TilePlan& tiles) {
  const RulePlan& rule = tiles.rule;
  KernelArguments& args = arguments_;
  args.channels = tiles.channels;
  args.kernels = tiles.kernels;
  args.cells = tiles.cells;
  args.tile = tiles.tile;
  args.tile_bits = tiles.tile_bits;
  args.tiles = tiles.tiles;
  args.columns = tiles.columns;
  args.column_bits = tiles.column_bits;
  args.work = tiles.work;
  args.samples = static_cast<int>(samples_);
  args.height = static_cast<int>(shape_.height);
  args.width = static_cast<int>(shape_.width);
  args.grid_cells = args.height * args.width;
  args.steps = static_cast<int>(shape_.steps);
  args.loss_channels = static_cast<int>(shape_.loss_channels);
  args.periodic = shape_.periodic();
  args.parametrisation = shape_.parametrisation;
  args.perceive_layers = rule.perceive_layers;
  args.layers = static_cast<int>(rule.layers.size());
  args.gates = rule.gates();
  args.loss_kind = shape_.loss.kind;
  args.loss_gamma = static_cast<float>(shape_.loss.focal_gamma);
  args.loss_steps = trains() ? static_cast<int>(shape_.loss_steps) : 1;
  args.gate_penalty = trains() ? shape_.gate_penalty : 0;
  args.keep_every = trains() ? static_cast<int>(shape_.keep_every()) : 0;
  args.own_row = rule.own_row;
  args.input_rows = static_cast<int>(rule.input_reads.size());
  std::ranges::copy(rule.layers, args.layer);
  std::ranges::copy(rule.neighbours, args.positions);
  std::ranges::copy(rule.patch_reads, args.patch_reads);
  for (int row = 0; row < neighbourhood; ++row) {
    const auto* found = std::ranges::find(args.positions, neighbourhood - 1 - args.positions[row]);
    args.opposite[row] = static_cast<int>(found - args.positions);
  }
  launch_.blocks = std::min(args.tiles, limits_.processors);
  launch_.tree_outputs = rule.tree_outputs;
  args.one_tile = args.tiles <= launch_.blocks;
}

/// Tables go into the shared memory left by activations and edges.
void AutomatonProgram::place_tables(const TilePlan& tiles) {
  KernelArguments& args = arguments_;
  launch_.holding = holding_for(tiles, limits_.shared_words);
  const bool holds = launch_.holding != Holding::nothing;
  launch_.threads = holds ? held_threads(launch_.holding) : max_threads;
  args.narrow_from = narrow_layers_from(tiles.rule, launch_.threads);
  WordOffsets shared;
  shared.take(args.work.words);
  launch_.work_is_shared = index(shared.words()) <= limits_.shared_words;
  int used = launch_.work_is_shared ? shared.words() : 0;
  args.tables.gates = gates_with_tables(tiles.rule, launch_.holding);
  args.tables.coefficients = shared.take(std::int64_t{args.tables.gates} * 4);
  args.tables.short_wires = shared.take(holds ? 0 : args.tables.gates);
  args.tables.input_reads = shared.take(std::int64_t{args.input_rows} * 2);
  launch_.tables_are_shared = index(shared.words()) <= limits_.shared_words;
  if (launch_.tables_are_shared) used = shared.words();
  args.tables.sums = trains() && !holds ? shared.take(std::int64_t{args.gates} * 4) : -1;
  if (index(shared.words()) > limits_.shared_words) args.tables.sums = -1;
  if (args.tables.sums >= 0) used = shared.words();
  if (trains() && holds_coefficients(launch_.holding)) {
    args.tree_rows = shared.take(static_cast<std::int64_t>(spread_words(tiles)));
    used = shared.words();
  }
  launch_.shared_bytes = 4 * index(used);
  const bool one_gate = tiles.width * args.tile / 4 <= max_threads;
  launch_.row_bits = one_gate ? args.tile_bits - 2 : -1;
}

/// A second activation buffer lets copies overlap with computation.
void AutomatonProgram::place_second_acts(const TilePlan& tiles) {
  arguments_.second_acts = -1;
  if (!shape_.keeps_activations() || !trains() || !second_acts_fit(tiles, limits_)) return;
  arguments_.second_acts = static_cast<int>(launch_.shared_bytes / 4);
  launch_.shared_bytes += 4 * index(arguments_.work.acts_words);
}

void AutomatonProgram::allocate_buffers(const RulePlan& plan) {
  const KernelArguments& args = arguments_;
  wires_ = DeviceArray<Wires>(plan.wires);
  short_wires_ = DeviceArray<std::uint32_t>(plan.short_wires);
  rest_ = DeviceArray<Rest>(plan.rest);
  origin_ = DeviceArray<std::uint32_t>(plan.origin);
  layer_of_ = DeviceArray<std::uint32_t>(plan.layer_of);
  input_reads_ = DeviceArray<Reads>(plan.input_reads);
  const std::size_t words = index(args.channels) * index(args.cells);
  const auto blocks = index(launch_.blocks);
  const auto kept = (shape_.max_steps() - 1) / shape_.keep_every() + 1;
  states_ = DeviceArray<float>(words * (trains() ? index(kept) : 1));
  segment_ = DeviceArray<float>(words * (trains() ? index(shape_.keep_every() - 1) : 2));
  last_ = DeviceArray<float>(words);
  target_ = DeviceArray<float>(index(args.loss_channels) * index(args.cells));
  coefficients_ = DeviceArray<float4>(index(args.gates));
  loss_ = DeviceArray<float>(1);
  host_loss_ = PinnedArray<float>(1);
  block_losses_ = DeviceArray<double>(blocks);
  sync_ = DeviceArray<unsigned>(blocks + 4);
  sync_.clear();
  if (use_ == RolloutUse::hard) errors_ = PinnedArray<uint2>(index(args.cells));
  if (!launch_.work_is_shared) scratch_ = DeviceArray<float>(blocks * index(args.work.words));
  if (trains()) {
    read_ = DeviceArray<float>(2 * neighbourhood * words);
    block_sums_ = DeviceArray<float4>(index(args.gates) * blocks);
    if (args.loss_steps > 1) cell_losses_ = DeviceArray<double>(target_.size());
    if (args.gate_penalty > 0) penalties_ = DeviceArray<double>(index(args.gates));
    if (shape_.keeps_activations()) {
      kept_acts_ = DeviceArray<float>(index(shape_.max_steps()) * index(args.tiles) *
                                      index(args.work.acts_words));
    }
  }
  set_pointers();
}

void AutomatonProgram::set_pointers() {
  KernelArguments& args = arguments_;
  args.wires = wires_.data();
  args.short_wires = short_wires_.data();
  args.rest = rest_.data();
  args.origin = origin_.data();
  args.layer_of = layer_of_.data();
  args.input_reads = input_reads_.data();
  args.masks = parameters_.masks.data();
  args.logit_gradients = parameters_.gradients.data();
  args.coefficients = coefficients_.data();
  args.states = states_.data();
  args.segment = segment_.data();
  args.last = last_.data();
  args.kept_acts = kept_acts_.data();
  args.read = read_.data();
  args.target = target_.data();
  args.block_sums = block_sums_.data();
  args.block_losses = block_losses_.data();
  args.cell_losses = cell_losses_.data();
  args.penalties = penalties_.data();
  args.loss = loss_.data();
  args.host_loss = host_loss_.data();
  args.errors = errors_.data();
  args.barrier = sync_.data();
  args.counters = sync_.data() + 1;
  args.nonfinite_launch = sync_.data() + 3;
  args.flags = sync_.data() + 4;
  args.scratch = scratch_.data();
}

// ------------------------------------------------------------------ inputs and launches

/// Uploads a grid with any number of channels, as floats or as words.
void AutomatonProgram::upload(DeviceArray<float>& to, const Tensor& grid) {
  if (use_ == RolloutUse::hard) {
    const std::vector<std::uint32_t> words = to_cell_words(grid, samples_);
    return copy_to_device(to.data(), words.data(), words.size() * sizeof(std::uint32_t));
  }
  const std::vector<float> values = to_cells(grid, samples_);
  copy_to_device(to.data(), values.data(), values.size() * sizeof(float));
}

void AutomatonProgram::set_inputs(const AutomatonInputs& inputs) {
  if (inputs.starts.defined()) upload(states_, inputs.starts);
  if (inputs.target.defined()) upload(target_, inputs.target);
  if (!inputs.fire.defined()) return;
  const auto fires = inputs.fire.values<std::uint8_t>();
  if (fire_.size() < fires.size()) fire_ = DeviceArray<std::uint8_t>(fires.size());
  fire_.upload(fires.data(), fires.size());
  arguments_.fire = fire_.data();
}

void AutomatonProgram::set_draws(const RolloutArguments& draws) {
  KernelArguments& args = arguments_;
  HardeningStep hardening = draws.hardening;
  if (!trains() || !(hardening.share > 0)) hardening.kind = HardeningKind::none;
  args.draws = {.seed = draws.seed,
                .start_stream = draws.start_stream,
                .fire_stream = draws.fire_stream,
                .draw = draws.random_step,
                .cells = static_cast<std::uint64_t>(draws.samples > 0 ? draws.samples : samples_) *
                         static_cast<std::uint64_t>(args.grid_cells),
                .starts_are_random = draws.random_starts,
                .fires_by_chance = draws.fire_rate < 1,
                .fire_scaled = draws.fire_rate * two_to_32,
                .hardening = hardening,
                .share_scaled = hardening.share * two_to_32};
  args.frozen = hardening.kind == HardeningKind::freeze ? parameters_.frozen.data() : nullptr;
  const bool changes =
      args.parametrisation == Parametrisation::walsh || changes_logits(hardening.kind);
  if (changes && step_logits_.size() == 0) {
    step_logits_ = DeviceArray<float>(parameters_.logits().size());
  }
  args.logits = parameters_.logits().data();
  args.step_logits = changes ? step_logits_.data() : nullptr;
  args.table_logits = changes ? step_logits_.data() : args.logits;
}

void AutomatonProgram::run(const RolloutArguments& draws, const Update& update) {
  const std::int64_t steps = trains() && draws.steps > 0 ? draws.steps : shape_.steps;
  if (steps > shape_.max_steps()) {
    fail("cuda", "expected a rollout of 1 to {} steps, received {}", shape_.max_steps(), steps);
  }
  arguments_.steps = static_cast<int>(steps);
  arguments_.update = update;
  ++arguments_.launch;
  set_draws(draws);
  const auto launch = trains()                   ? launch_training
                      : use_ == RolloutUse::soft ? launch_soft_rollout
                                                 : launch_hard_rollout;
  check(launch(arguments_, launch_), "launch the automaton kernel");
}

HardErrors AutomatonProgram::outcome() const {
  static_assert(sizeof(ErrorWord) == sizeof(uint2));
  const std::span errors(reinterpret_cast<const ErrorWord*>(errors_.data()), errors_.size());
  return count_errors(errors, arguments_.grid_cells);
}

Tensor AutomatonProgram::state(std::int64_t step) const {
  const std::size_t words = index(arguments_.channels) * index(arguments_.cells);
  const bool is_last = step == arguments_.steps;
  const float* from = is_last ? last_.data() : states_.data() + words * index(step);
  const Shape shape{arguments_.channels, samples_, shape_.height, shape_.width};
  if (use_ == RolloutUse::hard) {
    std::vector<std::uint32_t> bits(words);
    copy_to_host(bits.data(), from, words * sizeof(std::uint32_t));
    return from_cell_words(bits, shape);
  }
  std::vector<float> values(words);
  copy_to_host(values.data(), from, words * sizeof(float));
  return from_cells(values, shape);
}

}  // namespace boolgrad::cuda
