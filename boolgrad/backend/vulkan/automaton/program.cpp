#include "boolgrad/backend/vulkan/automaton/program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "boolgrad/backend/vulkan/runtime/draws.h"
#include "boolgrad/core/error.h"

namespace boolgrad::vulkan {

using namespace layout;

namespace {

constexpr int row_words = 4;
constexpr int most_loss_parts = 64;
constexpr int gates_a_finish_group = 8;
constexpr int sums_a_gather_group = 16;
constexpr int table_lanes = 16;  ///< threads that make the table of a gate
constexpr double work_back = 4;  ///< of a gate, in units of its way forward

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

int groups_for(std::int64_t items, int items_a_group) {
  return static_cast<int>((items + items_a_group - 1) / items_a_group);
}

std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

/// States that are there at once: those that are kept, those of a stretch between, and the last.
std::int64_t states_kept(const AutomatonShape& shape, Use use) {
  if (use != Use::training) return 4;
  return (shape.steps - 1) / shape.keep_every() + 1 + (shape.keep_every() - 1) + 1;
}

}  // namespace

// ------------------------------------------------------------------ making it

AutomatonProgram::AutomatonProgram(Context& context, const AutomatonShape& shape, Use use,
                                   std::int64_t samples, const AutomatonParameters& parameters)
    : context_(context),
      shape_(shape),
      parameters_(parameters),
      use_(use),
      samples_(samples),
      limits_(limits_of(context.physical())),
      places_(places_for(shape, limits_)),
      keeps_activations_(use == Use::training && shape.keeps_activations()) {
  const std::int64_t grid = shape.height * shape.width;
  sizes_.steps = static_cast<int>(shape.steps);
  sizes_.all_cells = static_cast<int>(samples * grid);
  sizes_.cells = use == Use::hard ? static_cast<int>(words_for(samples * grid)) : sizes_.all_cells;
  sizes_.width = static_cast<int>(shape.width);
  sizes_.height = static_cast<int>(shape.height);
  sizes_.grid_cells = static_cast<int>(grid);
  sizes_.loss_channels = static_cast<int>(shape.loss_channels);
  sizes_.gamma = static_cast<float>(shape.loss.focal_gamma);
  cut_work();
  sizes_.parts = std::clamp(
      groups_for(std::int64_t{sizes_.cells} * sizes_.loss_channels, row_words * list_threads), 1,
      most_loss_parts);
  sizes_.finish_groups = groups_for(places_.constants.gates, gates_a_finish_group);
  if (sizes_.finish_groups > most_groups) {
    fail("vulkan", "expected at most {} gates, received {}", most_groups * gates_a_finish_group,
         places_.constants.gates);
  }
  sizes_.last = state_at(shape.steps);
  allocate();
}

void AutomatonProgram::cut_work() {
  tiles_ = groups_for(sizes_.cells, tile_cells);
  const double work = places_.gates_of_tile * tiles_ * sizes_.steps *
                      (use_ == Use::training ? 1 + work_back : 1) / limits_.gates_a_submission;
  const bool has_a_shader = use_ == Use::training
                                ? places_.holds_gates
                                : use_ == Use::hard && places_.forward_rows <= limits_.shared_rows;
  const bool could_wait = context_.waiting_groups() > 0 && has_a_shader && work <= 1;
  takes_all_steps_ = could_wait && (use_ == Use::hard || keeps_activations_);
  // Slots decide the order of sums, which is to be the same for all memory policies.
  const bool waits = could_wait && sizes_.steps > 1;
  sizes_.slots = std::min(tiles_, waits ? context_.waiting_groups() : limits_.slots);
}

void AutomatonProgram::allocate() {
  const auto words = index(places_.constants.channels) * index(sizes_.cells);
  const auto slots = index(sizes_.slots);
  const auto gates = index(places_.constants.gates);
  numbers_ = {context_, 1, Place::from_host};
  wires_ = {context_, wire_words()};
  table_ = {context_, table_words()};
  if (use_ == Use::hard) around_ = {context_, around_masks()};
  states_ = {context_, words * index(states_kept(shape_, use_))};
  target_ = {context_, index(sizes_.loss_channels) * index(sizes_.cells)};
  fire_ = {context_, 4};
  coefficients_ = {context_, gates * row_words};
  loss_parts_ = {context_, index(sizes_.parts)};
  finite_ = {context_, 2, Place::to_host};
  if (use_ == Use::hard) seen_wrong_ = {context_, index(sizes_.cells), Place::to_host};
  else seen_loss_ = {context_, index(sizes_.parts), Place::to_host};
  int work_rows = places_.forward_rows;
  if (use_ == Use::training) {
    work_rows = std::max(work_rows, places_.backward_rows);
    read_ = {context_, 2 * neighbourhood * words};
    sums_ = {context_, (slots + 1) * index(places_.sums) * row_words};
    parts_ = {context_, 2 * index(sizes_.finish_groups)};
    const std::size_t kept = keeps_activations_ ? index(shape_.steps) * index(tiles_) : slots;
    acts_ = {context_, kept * index(places_.constants.acts_rows) * row_words};
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
  put(numbers_binding, numbers_);
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
  put(logits_binding, parameters_.logits);
  put(masks_binding, parameters_.masks);
  put(gradients_binding, parameters_.gradients);
  put(moments_binding, parameters_.moments);
  put(parts_binding, parts_);
  put(loss_parts_binding, loss_parts_);
  put(seen_binding, seen_loss_);
  put(seen_binding, seen_wrong_);
  put(finite_binding, finite_);
  put(around_binding, around_);
  put(waiting_binding, use_ == Use::hard ? parameters_.waiting_beside : parameters_.waiting);
  put(waiting_beside_binding, parameters_.waiting_beside);
  set_ = std::make_unique<BufferSet>(context_, buffers);
}

std::vector<std::uint32_t> AutomatonProgram::wire_words() const {
  const RulePlan& plan = places_.plan;
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
  const RulePlan& plan = places_.plan;
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
  for (const int place : plan.places) words.push_back(static_cast<std::uint32_t>(place));
  for (const int place : plan.places) {
    const auto found = std::ranges::find(plan.places, neighbourhood - 1 - place);
    words.push_back(static_cast<std::uint32_t>(found - plan.places.begin()));
  }
  return words;
}

/// Of every word of cells and every row of a patch: which cells see a neighbour within the grid
/// and, on a torus, which see it across the sides, above or below, or both.
std::vector<std::uint32_t> AutomatonProgram::around_masks() const {
  const std::size_t turns = shape_.periodic() ? 4 : 1;
  std::vector<std::uint32_t> masks(index(sizes_.cells) * neighbourhood * turns);
  const auto is_outside = [](int at, int size) { return at < 0 || at >= size; };
  for (int cell = 0; cell < sizes_.all_cells; ++cell) {
    const int x = cell % sizes_.width;
    const int y = cell / sizes_.width % sizes_.height;
    for (std::size_t row = 0; row < neighbourhood; ++row) {
      const int place = places_.plan.places[row];
      const std::size_t turn = (is_outside(x + place % 3 - 1, sizes_.width) ? 1U : 0U) +
                               (is_outside(y + place / 3 - 1, sizes_.height) ? 2U : 0U);
      if (turn >= turns) continue;
      const std::size_t word = index(cell / cells_a_word);
      masks[(word * neighbourhood + row) * turns + turn] |= 1U << (cell % cells_a_word);
    }
  }
  return masks;
}

// ------------------------------------------------------------------ what goes in

void AutomatonProgram::upload(Array<std::uint32_t>& to, const Tensor& grid) const {
  if (use_ == Use::hard) return to.upload(to_cell_words(grid, samples_));
  const std::vector<float> values = to_cells(grid, samples_);
  std::vector<std::uint32_t> words(values.size());
  std::ranges::transform(values, words.begin(),
                         [](float value) { return std::bit_cast<std::uint32_t>(value); });
  to.upload(words);
}

void AutomatonProgram::set_inputs(const AutomatonInputs& inputs) {
  if (inputs.starts.defined()) upload(states_, inputs.starts);
  if (inputs.target.defined()) upload(target_, inputs.target);
  if (!inputs.fire.defined()) return;
  const auto fire = inputs.fire.values<std::uint8_t>();
  fire_is_given_ = true;
  if (fire_.size() < fire.size()) {
    fire_ = {context_, fire.size()};
    bind();
  }
  fire_.upload(fire);
}

void AutomatonProgram::set_draws(const AutomatonDraws& draws) {
  AutomatonNumbers& to = numbers_.shared()[0];
  const std::int64_t samples = draws.samples > 0 ? draws.samples : samples_;
  to.seed_low = low(draws.seed);
  to.seed_high = high(draws.seed);
  to.start_stream = draws.start_stream;
  to.fire_stream = draws.fire_stream;
  to.hard_stream = draws.hardening.stream;
  to.draw = draws.draw;
  to.drawn_cells = static_cast<std::uint32_t>(samples * sizes_.grid_cells);
  to.random_starts = draws.random_starts ? 1 : 0;
  to.fire_mode = fire_is_given_ ? 2 : draws.fire_rate < 1 ? 1 : 0;
  const Below fire = drawn_below(draws.fire_rate);
  to.fire_always = fire.always;
  to.fire_below = fire.below;
  const bool hardens = use_ == Use::training && draws.hardening.share > 0;
  to.hard_form = static_cast<std::uint32_t>(hardens ? draws.hardening.kind : HardeningKind::none);
  to.share = static_cast<float>(draws.hardening.share);
  const Below share = drawn_below(draws.hardening.share);
  to.share_always = share.always;
  to.share_below = share.below;
  const auto gate_below = static_cast<std::uint64_t>(std::ceil(draws.hardening.share * 0x1.0p53));
  to.gate_below_high = high(gate_below);
  to.gate_below_low = low(gate_below);
}

void AutomatonProgram::set_update(const AdamWOptions& options, std::int64_t step,
                                  double learning_rate) {
  numbers_.shared()[0].update = update_arguments(options, step, learning_rate);
}

// ------------------------------------------------------------------ dispatches

/// Where the state before a step lies. Those that are not kept lie in the stretch that is worked
/// on; rollouts have two in turn.
int AutomatonProgram::state_at(std::int64_t step) const {
  const std::int64_t words = std::int64_t{places_.constants.channels} * sizes_.cells;
  const auto place = [&](std::int64_t number) { return static_cast<int>(number * words); };
  if (step == shape_.steps) return place(states_kept(shape_, use_) - 1);
  if (step == 0) return 0;
  if (use_ != Use::training) return place(1 + (step & 1));
  const std::int64_t within = step % shape_.keep_every();
  if (within == 0) return place(step / shape_.keep_every());
  return place((shape_.steps - 1) / shape_.keep_every() + within);
}

AutomatonPush AutomatonProgram::push_for(int step) const {
  AutomatonPush push = sizes_;
  push.step = step;
  push.from = state_at(step);
  push.to = state_at(step + 1);
  const int patches = neighbourhood * places_.constants.channels * sizes_.cells;
  push.read_from = (step + 1) % 2 * patches;
  push.read_to = step % 2 * patches;
  push.kept = -1;
  return push;
}

VkPipeline AutomatonProgram::pipeline(const std::string& shader, int threads, int work_rows) const {
  AutomatonConstants constants = places_.constants;
  constants.work_rows = work_rows;
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
  return pipeline(shader, places_.threads, rows);
}

/// All tiles, in as many dispatches as the device takes in a fraction of a second each. Parts are
/// whole rounds of the slots, so that a tile has the same slot however it is cut.
void AutomatonProgram::dispatch_tiles(Recording& to, VkPipeline pipeline, AutomatonPush push,
                                      bool is_back) const {
  const double share =
      places_.gates_of_tile * (is_back ? work_back : 1) / limits_.gates_a_submission;
  const bool has_slots = is_back || scratch_.size() > 0;
  const int most = std::clamp(static_cast<int>(1 / share), 1, most_groups);
  const int part = has_slots ? std::max(most / sizes_.slots, 1) * sizes_.slots : most;
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

void AutomatonProgram::dispatch_list(Recording& to, const std::string& shader,
                                     std::int64_t items) const {
  const AutomatonPush push = sizes_;
  const int groups = std::clamp(groups_for(items, list_threads), 1, most_groups);
  to.dispatch(pipeline(shader, list_threads, 1), *set_, std::as_bytes(std::span(&push, 1)),
              static_cast<std::uint32_t>(groups));
}

void AutomatonProgram::prepare(Recording& to) const {
  dispatch_list(to, use_ == Use::hard ? "automaton/prepare.hard" : "automaton/prepare",
                std::max(std::int64_t{places_.constants.gates} * table_lanes,
                         std::int64_t{sizes_.cells} * places_.constants.channels));
}

void AutomatonProgram::forward(Recording& to, int step) const {
  forward(to, step, keeps_activations_);
}

void AutomatonProgram::forward(Recording& to, int step, bool keeps) const {
  AutomatonPush push = push_for(step);
  if (keeps) push.kept = step * tiles_ * places_.constants.acts_rows;
  dispatch_tiles(to,
                 tile_pipeline(use_ == Use::hard ? "automaton/forward.hard" : "automaton/forward",
                               places_.forward_rows),
                 push, false);
}

void AutomatonProgram::judge(Recording& to) const {
  if (use_ == Use::hard) return dispatch_list(to, "automaton/wrong", sizes_.cells);
  dispatch_list(to, "automaton/loss", std::int64_t{sizes_.parts} * list_threads);
}

void AutomatonProgram::backward(Recording& to, int step) const {
  AutomatonPush push = push_for(step);
  push.begins_sums = step + 1 == sizes_.steps ? 1 : 0;
  if (keeps_activations_) push.kept = step * tiles_ * places_.constants.acts_rows;
  const VkPipeline pipeline =
      keeps_activations_ ? tile_pipeline("automaton/backward", places_.backward_rows)
                         : tile_pipeline("automaton/backward.again",
                                         std::max(places_.forward_rows, places_.backward_rows));
  dispatch_tiles(to, pipeline, push, true);
  to.barrier();
}

void AutomatonProgram::backward(Recording& to) const {
  const int stretch = static_cast<int>(shape_.keep_every());
  for (int first = (sizes_.steps - 1) / stretch * stretch; first >= 0; first -= stretch) {
    const int end = std::min(first + stretch, sizes_.steps);
    // The states of this stretch were written over, unless it is the last.
    for (int step = first; end < sizes_.steps && step + 1 < end; ++step) {
      forward(to, step, false);
      to.barrier();
    }
    for (int step = end - 1; step >= first; --step) backward(to, step);
  }
}

void AutomatonProgram::all_steps(Recording& to) const {
  const std::string shader = use_ == Use::hard ? "automaton/hard_steps" : "automaton/train";
  const int rows = use_ == Use::hard ? places_.forward_rows
                                     : std::max(places_.forward_rows, places_.backward_rows);
  const AutomatonPush push = sizes_;
  to.dispatch(pipeline(shader, places_.threads, rows), *set_, std::as_bytes(std::span(&push, 1)),
              static_cast<std::uint32_t>(sizes_.slots));
}

void AutomatonProgram::gather(Recording& to) const {
  dispatch_list(to, "automaton/gather",
                std::int64_t{groups_for(places_.sums, sums_a_gather_group)} * list_threads);
}

void AutomatonProgram::finish(Recording& to) const {
  dispatch_list(to, "automaton/finish", std::int64_t{sizes_.finish_groups} * list_threads);
}

void AutomatonProgram::update(Recording& to) const {
  dispatch_list(to, "automaton/update",
                std::int64_t{places_.constants.gates} * logit_count(shape_.parametrisation, 2));
}

// ------------------------------------------------------------------ what comes out

double AutomatonProgram::loss() const {
  const auto parts = seen_loss_.shared();
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

HardOutcome AutomatonProgram::outcome() const {
  return outcome_of(seen_wrong_.shared(), sizes_.grid_cells);
}

Tensor AutomatonProgram::state(std::int64_t step) const {
  const std::size_t count = index(places_.constants.channels) * index(sizes_.cells);
  const std::vector<std::uint32_t> words = states_.values(index(state_at(step)), count);
  const Shape shape{places_.constants.channels, samples_, shape_.height, shape_.width};
  if (use_ == Use::hard) return from_cell_words(words, shape);
  std::vector<float> values(words.size());
  std::ranges::transform(words, values.begin(),
                         [](std::uint32_t word) { return std::bit_cast<float>(word); });
  return from_cells(values, shape);
}

// ------------------------------------------------------------------ memory

namespace {

/// Bytes of the buffers that grow with the grid or with the slots.
std::vector<std::size_t> large_buffers(const AutomatonLimits& limits, const AutomatonShape& shape) {
  const AutomatonPlaces places = places_for(shape, limits);
  const std::size_t words = index(shape.channels) * index(shape.cells());
  const auto tiles = index(groups_for(shape.cells(), tile_cells));
  const std::size_t slots = std::min(tiles, index(limits.slots));
  const int work_rows = std::max(places.forward_rows, places.backward_rows);
  const std::size_t kept = shape.keeps_activations() ? index(shape.steps) * tiles : slots;
  std::vector<std::size_t> floats = {words * index(states_kept(shape, Use::training)),
                                     2 * neighbourhood * words,
                                     (slots + 1) * index(places.sums) * row_words,
                                     kept * index(places.constants.acts_rows) * row_words,
                                     index(places.constants.gates) * (16 * 4 + 8)};
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
