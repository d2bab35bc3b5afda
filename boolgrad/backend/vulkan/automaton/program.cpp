#include "boolgrad/backend/vulkan/automaton/program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <string_view>

#include "boolgrad/backend/vulkan/runtime/rate_threshold.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::vulkan {

using namespace layout;

namespace {

constexpr int row_words = 4;
constexpr int max_loss_parts = 64;
constexpr int gates_per_finish_group = 8;
constexpr int sums_per_gather_group = 16;
constexpr int table_lanes = 16;  ///< threads per gate that compute its table
constexpr double work_back = 4;  ///< cost of a gate's backward pass, relative to forward

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

int groups_for(std::int64_t items, int items_per_group) {
  return static_cast<int>((items + items_per_group - 1) / items_per_group);
}

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

/// Sets constants that a shader does not read to 0, so that equal pipelines are shared.
void clear_unread(AutomatonConstants& constants, std::string_view shader) {
  const auto is = [&](std::string_view name) { return shader.substr(0, name.size()) == name; };
  const bool is_finish = is("automaton/finish");
  const bool makes_tables = is_finish || is("automaton/prepare");
  const bool goes_back = is("automaton/backward") || is("automaton/train");
  if (!makes_tables) constants.hardening = 0;
  if (!makes_tables && !is("automaton/update")) constants.parametrisation = 0;
  if (!is_finish) constants.penalises = 0;
  if (!goes_back) constants.several_losses = 0;
  if (!goes_back && !is("automaton/loss")) constants.loss_kind = 0;
}

/// Number of states stored at once: the kept ones, those of one segment, and the last.
std::int64_t states_kept(const AutomatonShape& shape, RolloutUse use, std::int64_t steps) {
  if (use != RolloutUse::training) return 4;
  return (steps - 1) / shape.keep_every() + 1 + (shape.keep_every() - 1) + 1;
}

}  // namespace

// ------------------------------------------------------------------ construction

AutomatonProgram::AutomatonProgram(Context& context, const AutomatonShape& shape, RolloutUse use,
                                   std::int64_t samples, const AutomatonParameters& parameters)
    : context_(context),
      shape_(shape),
      parameters_(parameters),
      use_(use),
      samples_(samples),
      limits_(limits_of(context.physical())),
      layout_(automaton_layout(shape, limits_)),
      keeps_activations_(use == RolloutUse::training && shape.keeps_activations()) {
  const std::int64_t grid = shape.height * shape.width;
  sizes_.all_cells = static_cast<int>(samples * grid);
  sizes_.cells =
      use == RolloutUse::hard ? static_cast<int>(words_for(samples * grid)) : sizes_.all_cells;
  sizes_.width = static_cast<int>(shape.width);
  sizes_.height = static_cast<int>(shape.height);
  sizes_.grid_cells = static_cast<int>(grid);
  sizes_.loss_channels = static_cast<int>(shape.loss_channels);
  sizes_.gamma = static_cast<float>(shape.loss.focal_gamma);
  cut_work();
  sizes_.parts = std::clamp(
      groups_for(std::int64_t{sizes_.cells} * sizes_.loss_channels, row_words * list_threads), 1,
      max_loss_parts);
  sizes_.finish_groups = groups_for(layout_.constants.gates, gates_per_finish_group);
  if (sizes_.finish_groups > max_groups) {
    fail("vulkan", "expected at most {} gates, received {}", max_groups * gates_per_finish_group,
         layout_.constants.gates);
  }
  set_steps(shape.steps);
  allocate();
}

std::int64_t AutomatonProgram::max_steps() const {
  return use_ == RolloutUse::training ? shape_.max_steps() : shape_.steps;
}

void AutomatonProgram::set_steps(std::int64_t steps) {
  sizes_.steps = static_cast<int>(steps);
  sizes_.loss_steps = static_cast<int>(loss_steps());
  sizes_.last = state_at(steps);
}

std::int64_t AutomatonProgram::loss_steps() const {
  return use_ == RolloutUse::training ? std::min<std::int64_t>(shape_.loss_steps, sizes_.steps) : 1;
}

void AutomatonProgram::cut_work() {
  tiles_ = groups_for(sizes_.cells, tile_cells);
  const double work = layout_.gates_of_tile * tiles_ * static_cast<double>(max_steps()) *
                      (use_ == RolloutUse::training ? 1 + work_back : 1) /
                      limits_.gates_per_submission;
  const bool has_shader =
      use_ == RolloutUse::training
          ? layout_.holds_gates
          : use_ == RolloutUse::hard && layout_.forward_rows <= limits_.shared_rows;
  const bool could_wait = context_.waiting_groups() > 0 && has_shader && work <= 1;
  takes_all_steps_ = could_wait && (use_ == RolloutUse::hard || keeps_activations_);
  // The slots determine the order of sums, which must be the same for all memory policies.
  const bool waits = could_wait && max_steps() > 1;
  sizes_.slots = std::min(tiles_, waits ? context_.waiting_groups() : limits_.slots);
}

void AutomatonProgram::allocate() {
  const auto words = index(layout_.constants.channels) * index(sizes_.cells);
  const auto slots = index(sizes_.slots);
  const auto gates = index(layout_.constants.gates);
  arguments_ = {context_, 1, MemoryUse::from_host};
  wires_ = {context_, wire_words()};
  table_ = {context_, table_words()};
  if (use_ == RolloutUse::hard) around_ = {context_, around_masks()};
  states_ = {context_, words * index(states_kept(shape_, use_, max_steps()))};
  target_ = {context_, index(sizes_.loss_channels) * index(sizes_.cells)};
  fire_ = {context_, 4};
  coefficients_ = {context_, gates * row_words};
  const std::size_t loss_states =
      use_ == RolloutUse::training ? index(std::min(shape_.loss_steps, max_steps())) : 1;
  const std::size_t loss_parts = index(sizes_.parts) * loss_states;
  loss_parts_ = {context_, loss_parts};
  finite_ = {context_, 2, MemoryUse::to_host};
  if (use_ == RolloutUse::hard) errors_ = {context_, index(sizes_.cells), MemoryUse::to_host};
  else host_loss_ = {context_, loss_parts + index(sizes_.finish_groups), MemoryUse::to_host};
  int work_rows = layout_.forward_rows;
  if (use_ == RolloutUse::training) {
    work_rows = std::max(work_rows, layout_.backward_rows);
    read_ = {context_, 2 * neighbourhood * words};
    sums_ = {context_, (slots + 1) * index(layout_.sums) * row_words};
    parts_ = {context_, 2 * index(sizes_.finish_groups)};
    const std::size_t kept = keeps_activations_ ? index(max_steps()) * index(tiles_) : slots;
    acts_ = {context_, kept * index(layout_.constants.acts_rows) * row_words};
  }
  if (work_rows > limits_.shared_rows) {
    scratch_ = {context_, slots * index(work_rows) * row_words};
  }
  bind();
}

void AutomatonProgram::bind() {
  std::array<const Buffer*, automaton_bindings> buffers{};
  const auto put = [&](AutomatonBinding binding, const auto& array) {
    if (array.buffer().handle() != nullptr) buffers[binding] = &array.buffer();
  };
  put(arguments_binding, arguments_);
  put(wires_binding, wires_);
  put(table_binding, table_);
  put(coefficients_binding, coefficients_);
  put(states_binding, states_);
  put(fire_binding, fire_);
  put(target_binding, target_);
  put(acts_binding, acts_);
  put(read_binding, read_);
  put(sums_binding, sums_);
  put(scratch_binding, scratch_);
  put(parameters_binding, parameters_.values);
  put(masks_binding, parameters_.masks);
  put(gradients_binding, parameters_.gradients);
  put(moments_binding, parameters_.moments);
  put(parts_binding, parts_);
  put(loss_parts_binding, loss_parts_);
  put(results_binding, host_loss_);
  put(results_binding, errors_);
  put(finite_binding, finite_);
  put(around_binding, around_);
  put(waiting_binding,
      use_ == RolloutUse::hard ? parameters_.concurrent_waiting : parameters_.waiting);
  put(concurrent_waiting_binding, parameters_.concurrent_waiting);
  set_ = std::make_unique<BufferSet>(context_, buffers);
}

std::vector<std::uint32_t> AutomatonProgram::wire_words() const {
  const RulePlan& plan = layout_.plan;
  std::vector<std::uint32_t> words;
  for (const Wires& wires : plan.wires) {
    words.insert(words.end(), {wires.sources, wires.edges, wires.reads.rows,
                               static_cast<std::uint32_t>(wires.reads.rest)});
  }
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    const Layer& layer = plan.layers[l];
    words.insert(
        words.end(),
        {static_cast<std::uint32_t>(layer.gates), static_cast<std::uint32_t>(layer.first_gate),
         static_cast<std::uint32_t>(layer.inputs_at), static_cast<std::uint32_t>(plan.inputs[l])});
  }
  return words;
}

std::vector<std::uint32_t> AutomatonProgram::table_words() const {
  const RulePlan& plan = layout_.plan;
  std::vector<std::uint32_t> words = plan.origin;
  words.insert(words.end(), plan.layer_of.begin(), plan.layer_of.end());
  for (const Rest& rest : plan.rest) {
    words.push_back(rest.first | static_cast<std::uint32_t>(rest.count) << 16);
  }
  const auto add = [&](const Reads& reads) {
    words.insert(words.end(), {reads.rows, static_cast<std::uint32_t>(reads.rest)});
  };
  for (const Reads& reads : plan.input_reads) add(reads);
  for (const Reads& reads : plan.patch_reads) add(reads);
  for (const int position : plan.neighbours) words.push_back(static_cast<std::uint32_t>(position));
  for (const int position : plan.neighbours) {
    const auto found = std::ranges::find(plan.neighbours, neighbourhood - 1 - position);
    words.push_back(static_cast<std::uint32_t>(found - plan.neighbours.begin()));
  }
  return words;
}

/// For each word of cells and each patch row: masks of the cells whose neighbour is inside the grid
/// and, on a torus, of those whose neighbour wraps horizontally, vertically, or both.
std::vector<std::uint32_t> AutomatonProgram::around_masks() const {
  const std::size_t turns = shape_.periodic() ? 4 : 1;
  std::vector<std::uint32_t> masks(index(sizes_.cells) * neighbourhood * turns);
  const auto is_outside = [](int at, int size) { return at < 0 || at >= size; };
  for (int cell = 0; cell < sizes_.all_cells; ++cell) {
    const int x = cell % sizes_.width;
    const int y = cell / sizes_.width % sizes_.height;
    for (std::size_t row = 0; row < neighbourhood; ++row) {
      const int position = layout_.plan.neighbours[row];
      const std::size_t turn = (is_outside(x + position % 3 - 1, sizes_.width) ? 1U : 0U) +
                               (is_outside(y + position / 3 - 1, sizes_.height) ? 2U : 0U);
      if (turn >= turns) continue;
      const std::size_t word = index(cell / cells_per_word);
      masks[(word * neighbourhood + row) * turns + turn] |= 1U << (cell % cells_per_word);
    }
  }
  return masks;
}

// ------------------------------------------------------------------ inputs

void AutomatonProgram::upload(Array<std::uint32_t>& to, const Tensor& grid) const {
  if (use_ == RolloutUse::hard) return to.upload(to_cell_words(grid, samples_));
  const std::vector<float> values = to_cells(grid, samples_);
  std::vector<std::uint32_t> words(values.size());
  std::ranges::transform(values, words.begin(),
                         [](float value) { return std::bit_cast<std::uint32_t>(value); });
  to.upload(words);
}

bool AutomatonProgram::set_inputs(const AutomatonInputs& inputs) {
  if (inputs.starts.defined()) upload(states_, inputs.starts);
  if (inputs.target.defined()) upload(target_, inputs.target);
  if (!inputs.fire.defined()) return false;
  const auto fire = inputs.fire.values<std::uint8_t>();
  fire_is_given_ = true;
  const bool grows = fire_.size() < fire.size();
  if (grows) {
    fire_ = {context_, fire.size()};
    bind();
  }
  fire_.upload(fire);
  return grows;
}

void AutomatonProgram::set_draws(const RolloutArguments& draws) {
  AutomatonArguments& to = arguments_.shared()[0];
  const std::int64_t samples = draws.samples > 0 ? draws.samples : samples_;
  const bool trains = use_ == RolloutUse::training;
  const std::int64_t steps = trains && draws.steps > 0 ? draws.steps : shape_.steps;
  if (steps > max_steps()) {
    fail("vulkan", "expected at most {} steps, received {}", max_steps(), steps);
  }
  set_steps(steps);
  to.seed_low = low(draws.seed);
  to.seed_high = high(draws.seed);
  to.start_stream = draws.start_stream;
  to.fire_stream = draws.fire_stream;
  to.draw = draws.random_step;
  to.sampled_cells = static_cast<std::uint32_t>(samples * sizes_.grid_cells);
  to.random_starts = draws.random_starts ? 1 : 0;
  to.fire_mode = fire_is_given_ ? 2 : draws.fire_rate < 1 ? 1 : 0;
  if (fire_is_given_ && fire_.size() < index(steps) * index(samples * sizes_.grid_cells)) {
    fail("vulkan", "expected fire masks for {} steps, received {}", steps,
         fire_.size() / index(samples * sizes_.grid_cells));
  }
  const RateThreshold fire = rate_threshold(draws.fire_rate);
  to.fire_always = fire.always;
  to.fire_below = fire.below;
  const HardeningStep hardening = trains ? draws.hardening : HardeningStep{};
  hardening_ = hardening_for_shaders(hardening);
  to.hardening = hardening_arguments(hardening);
  to.rounds_states = hardening.kind == HardeningKind::states && hardening.share > 0 ? 1 : 0;
  const RateThreshold round = rate_threshold(hardening.share);
  to.round_always = round.always;
  to.round_below = round.below;
  to.gate_penalty = static_cast<float>(shape_.gate_penalty);
}

void AutomatonProgram::set_update(const AdamWOptions& options, std::int64_t step,
                                  double learning_rate) {
  arguments_.shared()[0].update = update_arguments(options, step, learning_rate);
}

// ------------------------------------------------------------------ dispatches

/// Offset of the state before a step. States that are not kept are in the current segment; rollouts
/// alternate between two.
int AutomatonProgram::state_at(std::int64_t step) const {
  const std::int64_t words = std::int64_t{layout_.constants.channels} * sizes_.cells;
  const auto position = [&](std::int64_t number) { return static_cast<int>(number * words); };
  if (step == sizes_.steps) return position(states_kept(shape_, use_, step) - 1);
  if (step == 0) return 0;
  if (use_ != RolloutUse::training) return position(1 + (step & 1));
  const std::int64_t within = step % shape_.keep_every();
  if (within == 0) return position(step / shape_.keep_every());
  return position((sizes_.steps - 1) / shape_.keep_every() + within);
}

AutomatonPush AutomatonProgram::push_for(int step) const {
  AutomatonPush push = sizes_;
  push.step = step;
  push.from = state_at(step);
  push.to = state_at(step + 1);
  const int patches = neighbourhood * layout_.constants.channels * sizes_.cells;
  push.read_from = (step + 1) % 2 * patches;
  push.read_to = step % 2 * patches;
  push.kept = -1;
  return push;
}

VkPipeline AutomatonProgram::pipeline(const std::string& shader, int threads, int work_rows) const {
  AutomatonConstants constants = layout_.constants;
  constants.work_rows = work_rows;
  constants.hardening = static_cast<int>(hardening_);
  clear_unread(constants, shader);
  const auto words = std::bit_cast<std::array<std::uint32_t, sizeof(constants) / 4>>(constants);
  Constants all{static_cast<std::uint32_t>(threads)};
  all.insert(all.end(), words.begin(), words.end());
  return context_.pipeline(shader, all);
}

VkPipeline AutomatonProgram::tile_pipeline(std::string shader, int rows) const {
  if (rows > limits_.shared_rows) {
    shader += ".scratch";
    rows = static_cast<int>(scratch_.size()) / row_words / sizes_.slots;
  }
  return pipeline(shader, layout_.threads, rows);
}

/// All tiles, in dispatches of a fraction of a second each. A dispatch covers a multiple of the
/// slots, so that a tile has the same slot however the work is divided.
void AutomatonProgram::dispatch_tiles(CommandRecorder& to, VkPipeline pipeline, AutomatonPush push,
                                      bool is_back) const {
  const double share =
      layout_.gates_of_tile * (is_back ? work_back : 1) / limits_.gates_per_submission;
  const bool has_slots = is_back || scratch_.size() > 0;
  const int max_part = std::clamp(static_cast<int>(1 / share), 1, max_groups);
  const int part = has_slots ? std::max(max_part / sizes_.slots, 1) * sizes_.slots : max_part;
  for (int first = 0; first < tiles_; first += part) {
    push.first_tile = first;
    push.end_tile = std::min(first + part, tiles_);
    const int count = push.end_tile - first;
    push.slots = has_slots ? sizes_.slots : count;
    push.begins_sums = push.begins_sums != 0 && first == 0 ? 1 : 0;
    to.dispatch(pipeline, *set_, std::as_bytes(std::span(&push, 1)),
                static_cast<std::uint32_t>(std::min(count, push.slots)), share * count);
  }
}

void AutomatonProgram::dispatch_list(CommandRecorder& to, const std::string& shader,
                                     std::int64_t items) const {
  dispatch_list(to, shader, items, sizes_);
}

void AutomatonProgram::dispatch_list(CommandRecorder& to, const std::string& shader,
                                     std::int64_t items, const AutomatonPush& push) const {
  const int groups = std::clamp(groups_for(items, list_threads), 1, max_groups);
  to.dispatch(pipeline(shader, list_threads, 1), *set_, std::as_bytes(std::span(&push, 1)),
              static_cast<std::uint32_t>(groups));
}

void AutomatonProgram::prepare(CommandRecorder& to) const {
  dispatch_list(to, use_ == RolloutUse::hard ? "automaton/prepare.hard" : "automaton/prepare",
                std::max(std::int64_t{layout_.constants.gates} * table_lanes,
                         std::int64_t{sizes_.cells} * layout_.constants.channels));
}

void AutomatonProgram::forward(CommandRecorder& to, int step) const {
  forward(to, step, keeps_activations_);
}

void AutomatonProgram::forward(CommandRecorder& to, int step, bool keeps) const {
  AutomatonPush push = push_for(step);
  if (keeps) push.kept = step * tiles_ * layout_.constants.acts_rows;
  dispatch_tiles(
      to,
      tile_pipeline(use_ == RolloutUse::hard ? "automaton/forward.hard" : "automaton/forward",
                    layout_.forward_rows),
      push, false);
}

void AutomatonProgram::score(CommandRecorder& to, int step) const {
  const int state = step + 1;
  if (use_ == RolloutUse::hard) return dispatch_list(to, "automaton/errors", sizes_.cells);
  AutomatonPush push = sizes_;
  push.to = state_at(state);
  push.loss_at = (sizes_.steps - state) * sizes_.parts;
  dispatch_list(to, "automaton/loss", std::int64_t{sizes_.parts} * list_threads, push);
}

void AutomatonProgram::backward(CommandRecorder& to, int step) const {
  AutomatonPush push = push_for(step);
  push.begins_sums = step + 1 == sizes_.steps ? 1 : 0;
  if (keeps_activations_) push.kept = step * tiles_ * layout_.constants.acts_rows;
  const VkPipeline pipeline =
      keeps_activations_ ? tile_pipeline("automaton/backward", layout_.backward_rows)
                         : tile_pipeline("automaton/backward.recompute",
                                         std::max(layout_.forward_rows, layout_.backward_rows));
  dispatch_tiles(to, pipeline, push, true);
  to.barrier();
}

void AutomatonProgram::backward(CommandRecorder& to) const {
  const int segment = static_cast<int>(shape_.keep_every());
  for (int first = (sizes_.steps - 1) / segment * segment; first >= 0; first -= segment) {
    const int end = std::min(first + segment, sizes_.steps);
    // The states of this segment were overwritten, unless it is the last; recompute them.
    for (int step = first; end < sizes_.steps && step + 1 < end; ++step) {
      forward(to, step, false);
      to.barrier();
    }
    for (int step = end - 1; step >= first; --step) backward(to, step);
  }
}

void AutomatonProgram::all_steps(CommandRecorder& to) const {
  const std::string shader = use_ == RolloutUse::hard ? "automaton/hard_steps" : "automaton/train";
  const int rows = use_ == RolloutUse::hard ? layout_.forward_rows
                                            : std::max(layout_.forward_rows, layout_.backward_rows);
  const AutomatonPush push = sizes_;
  to.dispatch(pipeline(shader, layout_.threads, rows), *set_, std::as_bytes(std::span(&push, 1)),
              static_cast<std::uint32_t>(sizes_.slots));
}

void AutomatonProgram::gather(CommandRecorder& to) const {
  dispatch_list(to, "automaton/gather",
                std::int64_t{groups_for(layout_.sums, sums_per_gather_group)} * list_threads);
}

void AutomatonProgram::finish(CommandRecorder& to) const {
  dispatch_list(to, "automaton/finish", std::int64_t{sizes_.finish_groups} * list_threads);
}

void AutomatonProgram::update(CommandRecorder& to) const {
  dispatch_list(to, "automaton/update",
                std::int64_t{layout_.constants.gates} * logit_count(shape_.parametrisation, 2));
}

// ------------------------------------------------------------------ results

double AutomatonProgram::loss() const {
  const bool penalises = use_ == RolloutUse::training && shape_.gate_penalty > 0;
  const int count = sizes_.parts * sizes_.loss_steps + (penalises ? sizes_.finish_groups : 0);
  const auto parts = host_loss_.shared().first(index(count));
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

HardErrors AutomatonProgram::outcome() const {
  return count_errors(errors_.shared(), sizes_.grid_cells);
}

Tensor AutomatonProgram::state(std::int64_t step) const {
  const std::size_t count = index(layout_.constants.channels) * index(sizes_.cells);
  const std::vector<std::uint32_t> words = states_.values(index(state_at(step)), count);
  const Shape shape{layout_.constants.channels, samples_, shape_.height, shape_.width};
  if (use_ == RolloutUse::hard) return from_cell_words(words, shape);
  std::vector<float> values(words.size());
  std::ranges::transform(words, values.begin(),
                         [](std::uint32_t word) { return std::bit_cast<float>(word); });
  return from_cells(values, shape);
}

// ------------------------------------------------------------------ memory

namespace {

/// Sizes in bytes of the buffers that grow with the grid or with the slots.
std::vector<std::size_t> large_buffers(const AutomatonLimits& limits, const AutomatonShape& shape) {
  const AutomatonLayout layout = automaton_layout(shape, limits);
  const std::size_t words = index(shape.channels) * index(shape.cells());
  const auto tiles = index(groups_for(shape.cells(), tile_cells));
  const std::size_t slots = std::min(tiles, index(limits.slots));
  const int work_rows = std::max(layout.forward_rows, layout.backward_rows);
  const std::size_t kept = shape.keeps_activations() ? index(shape.max_steps()) * tiles : slots;
  std::vector<std::size_t> floats = {
      words * index(states_kept(shape, RolloutUse::training, shape.max_steps())),
      2 * neighbourhood * words, (slots + 1) * index(layout.sums) * row_words,
      kept * index(layout.constants.acts_rows) * row_words,
      index(layout.constants.gates) * (16 * 4 + 8)};
  if (work_rows > limits.shared_rows) floats.push_back(slots * index(work_rows) * row_words);
  for (std::size_t& size : floats) size *= sizeof(float);
  return floats;
}

}  // namespace

std::size_t training_bytes(const AutomatonLimits& limits, const AutomatonShape& shape) {
  const std::vector<std::size_t> buffers = large_buffers(limits, shape);
  return std::accumulate(buffers.begin(), buffers.end(), std::size_t{0});
}

bool buffers_are_allowed(const AutomatonLimits& limits, const AutomatonShape& shape) {
  return std::ranges::all_of(large_buffers(limits, shape),
                             [&](std::size_t bytes) { return bytes <= limits.buffer_bytes; });
}

}  // namespace boolgrad::vulkan
