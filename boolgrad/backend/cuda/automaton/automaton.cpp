#include "boolgrad/backend/cuda/automaton/automaton.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "boolgrad/backend/plan/automaton_cells.h"
#include "boolgrad/backend/plan/automaton_plan.h"
#include "boolgrad/backend/cuda/automaton/arguments.h"
#include "boolgrad/backend/cuda/runtime/check.h"
#include "boolgrad/backend/cuda/runtime/device.h"
#include "boolgrad/backend/cuda/optimiser/optimiser.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cuda {

class Automaton final : public DeviceAutomaton {
 public:
  Automaton(const AutomatonShape& shape, const AdamWOptions& options);
  ~Automaton() override;

  void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) override;
  void get_parameters(std::span<Tensor> logits) const override;
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) override;
  void get_moments(std::span<Tensor> first, std::span<Tensor> second) const override;
  void set_inputs(const AutomatonInputs& inputs) override;
  double gradients(const AutomatonDraws& draws) override;
  std::vector<Tensor> logit_gradients() const override;
  Tensor states() const override;
  AutomatonOutcome step(const AutomatonDraws& draws, std::int64_t step, double learning_rate,
                        bool with_hard) override;
  double soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                      const AutomatonDraws& draws, Tensor& last) override;
  HardOutcome hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                           const AutomatonDraws& draws) override;
  Tensor hard_state() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace {

enum class Use : std::uint8_t { training, soft, hard };

constexpr double two_to_32 = 0x1.0p32;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Limits of the device that decide how work is cut.
struct Limits {
  int processors = 1;
  std::size_t shared_words = 0;
  bool copies_by_itself = false;  ///< between shared and global memory, while threads go on
};

Limits limits_of_device() {
  int device = 0;
  check(cudaGetDevice(&device), "find the device");
  Limits limits;
  check(cudaDeviceGetAttribute(&limits.processors, cudaDevAttrMultiProcessorCount, device),
        "count multiprocessors");
  int bytes = 0;
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "find the size of shared memory");
  // The kernels have some of their own: the layers, and what losses are added up in.
  constexpr std::size_t own = most_layers * sizeof(Layer) + most_warps * sizeof(double) + 128;
  limits.shared_words = (static_cast<std::size_t>(bytes) - own) / 4;
  int generation = 0;
  check(cudaDeviceGetAttribute(&generation, cudaDevAttrComputeCapabilityMajor, device),
        "ask for the compute capability");
  limits.copies_by_itself = generation >= 9;
  return limits;
}

/// Hands out places in words, each on a boundary of 16 bytes.
class Places {
 public:
  int take(std::int64_t words) {
    const auto place = static_cast<int>(at_);
    at_ += (words + 3) / 4 * 4;
    return place;
  }
  int words() const { return static_cast<int>(at_); }

 private:
  std::int64_t at_ = 0;
};

// ------------------------------------------------------------------ how work is cut

/// A layout of a rule for tiles of some cells: fills the plan's layers and the code's places.
struct Layout {
  RulePlan plan;
  Code code{};
  int width = 0;  ///< of the widest layer of the update
};

void place_work(Layout& layout, Use use) {
  Code& code = layout.code;
  RulePlan& plan = layout.plan;
  const int columns = code.channels << code.tile_bits;
  Places acts;
  code.work.patch = acts.take(neighbourhood * columns);
  int inputs_at = code.work.patch;
  for (int l = 0; l < plan.perceive_layers; ++l) {
    Layer& layer = plan.layers[index(l)];
    layer.inputs_at = inputs_at;
    if (l + 1 == plan.perceive_layers || plan.tree_outputs > 0) continue;
    layer.outputs_at = acts.take(std::int64_t{layer.gates} * columns);
    inputs_at = layer.outputs_at;
  }
  code.work.update_inputs = acts.take(std::int64_t{1 + plan.kernel_outputs} * columns);
  plan.layers[index(plan.perceive_layers - 1)].outputs_at = code.work.update_inputs + columns;
  inputs_at = code.work.update_inputs;
  for (std::size_t l = index(plan.perceive_layers); l < plan.layers.size(); ++l) {
    plan.layers[l].inputs_at = inputs_at;
    plan.layers[l].outputs_at = acts.take(std::int64_t{plan.layers[l].gates} << code.tile_bits);
    inputs_at = plan.layers[l].outputs_at;
  }
  code.work.acts_words = acts.words();

  Places work;
  code.work.around = work.take(neighbourhood * code.tile * (use == Use::hard ? cells_a_word : 1));
  code.work.fires = work.take(code.tile);
  code.work.acts = work.take(code.work.acts_words);
  if (use == Use::training) {
    // The edges of a layer's inputs while those of its outputs are read; the last layer's outputs
    // have a row each.
    std::array<std::int64_t, 2> rows{1, 1};  // row 0 is always there
    std::array<std::int64_t, 2> perceive_rows{1, 1};
    for (std::size_t l = 0; l < plan.layers.size(); ++l) {
      auto& most = l < index(plan.perceive_layers) ? perceive_rows : rows;
      most[l & 1] = std::max<std::int64_t>(most[l & 1], plan.edge_rows[l]);
    }
    auto& above = rows[plan.layers.size() & 1];
    above = std::max<std::int64_t>(above, 1 + code.channels);
    for (std::size_t i = 0; i < 2; ++i) code.work.edges[i] = work.take(rows[i] << code.tile_bits);
    code.work.leftover = work.take(columns);
    code.work.perceive_edges[0] = -1;
    if (plan.tree_outputs > 0) {
      // What kernels give back to patches takes the place of activations that are done with.
      constexpr std::int64_t sums = most_warps * 64;
      const std::int64_t needed =
          std::max(sums, std::int64_t{code.kernels} * neighbourhood * columns);
      code.work.staging_in_acts = needed <= code.work.acts_words - code.work.update_inputs;
      code.work.staging =
          code.work.staging_in_acts ? code.work.acts + code.work.update_inputs : work.take(needed);
    } else {
      for (std::size_t i = 0; i < 2; ++i) {
        code.work.perceive_edges[i] = work.take(perceive_rows[i] * columns);
      }
    }
  }
  code.work.words = work.words();
}

/// Gates that have tables in shared memory: where threads hold coefficients, those of perception.
int gates_with_tables(const RulePlan& plan, Holding holding) {
  return holds_coefficients(holding) ? plan.layers[index(plan.perceive_layers)].first_gate
                                     : plan.gates();
}

/// Words of the rows that trees are spread over.
std::size_t spread_words(const Code& code, int tree_outputs) {
  return index(code.kernels) * index(spread_rows(tree_outputs)) *
         index(tree_row_words(code.columns));
}

/// Words of tables in shared memory: coefficients, who reads the inputs and, where threads do not
/// hold them, wires.
std::size_t table_words(const RulePlan& plan, Holding holding) {
  return index(gates_with_tables(plan, holding)) * (holding == Holding::nothing ? 5 : 4) +
         plan.input_reads.size() * 2 + 12;  // and what aligning them takes
}

/// Words of shared memory of a form that holds.
std::size_t held_words(const Layout& layout, Holding holding) {
  const std::size_t spread =
      holds_coefficients(holding) ? spread_words(layout.code, layout.plan.tree_outputs) : 0;
  return index(layout.code.work.words) + table_words(layout.plan, holding) + spread;
}

/// The first of the last layers of the update that have at most so many gates together. The first
/// layer is never one of them.
int narrow_layers_from(const RulePlan& plan, int threads) {
  int first = static_cast<int>(plan.layers.size());
  int gates = 0;
  while (first > plan.perceive_layers + 1) {
    gates += plan.layers[index(first - 1)].gates;
    if (gates > threads) break;
    --first;
  }
  return first;
}

/// What threads keep in registers. Rows must be four cells long, kernels trees, and activations,
/// edges and tables in shared memory.
Holding holding_for(const Layout& layout, std::size_t shared_words) {
  const RulePlan& plan = layout.plan;
  if (layout.code.tile != 4 || plan.tree_outputs == 0 || !plan.edges_are_in_place()) {
    return Holding::nothing;
  }
  const bool sizes_are_known = layout.code.kernels == 16 && layout.code.columns == 32;
  for (const Holding holding :
       {Holding::ten, Holding::fourteen, Holding::fourteen_of_any, Holding::eight}) {
    const int wide = narrow_layers_from(plan, held_threads(holding)) - plan.perceive_layers;
    const bool fits = wide <= held_layers(holding) && layout.width <= held_threads(holding) &&
                      held_words(layout, holding) <= shared_words;
    const bool is_for_any = holding == Holding::fourteen_of_any || holding == Holding::eight;
    if (fits && (sizes_are_known || is_for_any)) return holding;
  }
  return Holding::nothing;
}

Layout layout_for(const AutomatonShape& shape, Use use, int tile, int cells) {
  Layout layout;
  constexpr int words_on_all_banks = 32;
  layout.plan = plan_rule({shape.channels, shape.kernels, shape.perceive, shape.update},
                          {.layers = most_layers,
                           .tree_kernels = most_warps,
                           .classes = std::max(1, words_on_all_banks / tile)});
  layout.width = layout.plan.update_width();
  Code& code = layout.code;
  code.channels = static_cast<int>(shape.channels);
  code.kernels = static_cast<int>(shape.kernels);
  code.cells = cells;
  code.tile = tile;
  code.tile_bits = std::countr_zero(static_cast<unsigned>(tile));
  code.tiles = (cells + tile - 1) / tile;
  code.columns = code.channels * tile;
  code.column_bits = std::has_single_bit(static_cast<unsigned>(code.columns))
                         ? std::countr_zero(static_cast<unsigned>(code.columns))
                         : -1;
  place_work(layout, use);
  return layout;
}

/// The tile with the least work for the busiest block, of those that shared memory holds, if there
/// are any.
Layout best_layout(const AutomatonShape& shape, Use use, int cells, const Limits& limits) {
  std::optional<Layout> best;
  double least = 0;
  bool best_is_shared = false;
  for (int tile = 4; tile <= 64; tile *= 2) {
    Layout layout = layout_for(shape, use, tile, cells);
    const int rounds = (layout.code.tiles + limits.processors - 1) / limits.processors;
    const double items =
        (static_cast<double>(layout.width) * tile / 4 + most_threads - 1) / most_threads;
    const bool is_shared = index(layout.code.work.words) <= limits.shared_words;
    // Tables that lie further away cost more than a few more rounds.
    const std::size_t tables = table_words(layout.plan, holding_for(layout, limits.shared_words));
    const bool tables_fit = index(layout.code.work.words) + tables <= limits.shared_words;
    const double cost = rounds * (1 + items) * (tables_fit ? 1 : 3);
    if (!best || (is_shared && !best_is_shared) || (is_shared == best_is_shared && cost < least)) {
      best = std::move(layout);
      least = cost;
      best_is_shared = is_shared;
    }
  }
  return std::move(*best);
}

/// Whether there is a second place for activations, for a device that copies them by itself.
bool other_acts_fit(const Layout& layout, const Limits& limits) {
  const Code& code = layout.code;
  const Holding holding = holding_for(layout, limits.shared_words);
  const std::size_t needed = held_words(layout, holding) + index(code.work.acts_words);
  return limits.copies_by_itself && holding != Holding::nothing &&
         code.tiles <= limits.processors && needed <= limits.shared_words;
}

}  // namespace

// ------------------------------------------------------------------ one kernel's memory

namespace {

/// What all kernels of an automaton share.
struct Shared {
  /// A training step reads the one and writes the other, so that a rollout beside it may still
  /// read.
  std::array<DeviceArray<float>, 2> both_logits;
  std::size_t current = 0;
  DeviceArray<float> masks, logit_gradients;
  std::vector<Shape> logit_shapes;

  DeviceArray<float>& logits() { return both_logits[current]; }
  const DeviceArray<float>& logits() const { return both_logits[current]; }
  DeviceArray<float>& next_logits() { return both_logits[1 - current]; }
};

class Program {
 public:
  /// On `processors` of the device's, or on all where that is 0.
  Program(const AutomatonShape& shape, Use use, std::int64_t samples, const Shared& shared,
          int processors = 0)
      : shape_(shape), shared_(shared), use_(use), samples_(samples) {
    const std::int64_t all_cells = samples * shape.height * shape.width;
    const std::int64_t cells = use == Use::hard ? words_for(all_cells) : all_cells;
    limits_ = limits_of_device();
    if (processors > 0) limits_.processors = processors;
    Layout layout = best_layout(shape, use, static_cast<int>(cells), limits_);
    code_ = layout.code;
    describe(layout.plan);
    place_tables(layout);
    place_other_acts(layout);
    allocate_all(layout.plan);
  }

  const Code& code() const { return code_; }
  Launch& launch_options() { return launch_; }
  int blocks() const { return launch_.blocks; }

  void set_starts(const Tensor& starts) { upload(states_, starts); }
  void set_target(const Tensor& target) { upload(target_, target); }

  void set_fire(const Tensor& fire) {
    const auto values = fire.values<std::uint8_t>();
    if (fire_.size() < values.size()) fire_ = DeviceArray<std::uint8_t>(values.size());
    fire_.upload(values.data(), values.size());
    code_.fire = fire_.data();
  }

  void set_inputs(const AutomatonInputs& inputs) {
    if (inputs.starts.defined()) set_starts(inputs.starts);
    if (inputs.target.defined()) set_target(inputs.target);
    if (inputs.fire.defined()) set_fire(inputs.fire);
  }

  /// Launches what this is for. Training also updates the parameters where `update` says how.
  void run(const AutomatonDraws& draws, const Update& update = {}) {
    code_.logits = shared_.logits().data();
    code_.update = update;
    ++code_.launch;
    code_.draws = {
        .seed = draws.seed,
        .start_stream = draws.start_stream,
        .fire_stream = draws.fire_stream,
        .hard_stream = draws.hardening.stream,
        .draw = draws.draw,
        .cells = static_cast<std::uint64_t>(draws.samples > 0 ? draws.samples : samples_) *
                 static_cast<std::uint64_t>(code_.grid_cells),
        .starts_are_random = draws.random_starts,
        .fires_by_chance = draws.fire_rate < 1,
        .fire_scaled = draws.fire_rate * two_to_32,
        .hard = use_ == Use::training && draws.hardening.share > 0 ? draws.hardening.kind
                                                                    : HardeningKind::none,
        .share = draws.hardening.share,
        .share_scaled = draws.hardening.share * two_to_32};
    const auto launch = use_ == Use::training ? launch_training
                        : use_ == Use::soft   ? launch_soft_rollout
                                              : launch_hard_rollout;
    check(launch(code_, launch_), "launch an automaton");
  }

  const float* loss_on_device() const { return loss_.data(); }

  /// The loss and the wrong bits of the last launch, once it is done.
  float loss() const { return seen_loss_[0]; }
  HardOutcome outcome() const {
    static_assert(sizeof(WrongWord) == sizeof(uint2));
    const std::span wrong(reinterpret_cast<const WrongWord*>(wrong_.data()), wrong_.size());
    return outcome_of(wrong, code_.grid_cells);
  }

  /// The state after so many steps, [channels, samples, height, width]: of floats, or of bits.
  Tensor state(std::int64_t step) const {
    const std::size_t words = index(code_.channels) * index(code_.cells);
    const bool is_last = step == code_.steps;
    const float* from = is_last ? last_.data() : states_.data() + words * index(step);
    const Shape shape{code_.channels, samples_, shape_.height, shape_.width};
    if (use_ == Use::hard) {
      std::vector<std::uint32_t> bits(words);
      copy_to_host(bits.data(), from, words * sizeof(std::uint32_t));
      return from_cell_words(bits, shape);
    }
    std::vector<float> values(words);
    copy_to_host(values.data(), from, words * sizeof(float));
    return from_cells(values, shape);
  }

 private:
  void describe(const RulePlan& plan) {
    code_.samples = static_cast<int>(samples_);
    code_.height = static_cast<int>(shape_.height);
    code_.width = static_cast<int>(shape_.width);
    code_.grid_cells = code_.height * code_.width;
    code_.steps = static_cast<int>(shape_.steps);
    code_.loss_channels = static_cast<int>(shape_.loss_channels);
    code_.periodic = shape_.periodic();
    code_.softmax = shape_.parametrisation == Parametrisation::softmax16;
    code_.perceive_layers = plan.perceive_layers;
    code_.layers = static_cast<int>(plan.layers.size());
    code_.gates = plan.gates();
    code_.loss_form = shape_.loss.kind;
    code_.loss_gamma = static_cast<float>(shape_.loss.focal_gamma);
    code_.keep_every = use_ == Use::training ? static_cast<int>(shape_.keep_every()) : 0;
    code_.own_row = plan.own_row;
    code_.input_rows = static_cast<int>(plan.input_reads.size());
    std::ranges::copy(plan.layers, code_.layer);
    std::ranges::copy(plan.places, code_.places);
    std::ranges::copy(plan.patch_reads, code_.patch_reads);
    for (int row = 0; row < neighbourhood; ++row) {
      const auto* found = std::ranges::find(code_.places, neighbourhood - 1 - code_.places[row]);
      code_.opposite[row] = static_cast<int>(found - code_.places);
    }
    launch_.blocks = std::min(code_.tiles, limits_.processors);
    launch_.tree_outputs = plan.tree_outputs;
    code_.one_tile = code_.tiles <= launch_.blocks;
  }

  /// Tables lie in what shared memory activations and edges leave.
  void place_tables(const Layout& layout) {
    launch_.holding = holding_for(layout, limits_.shared_words);
    const bool holds = launch_.holding != Holding::nothing;
    launch_.threads = holds ? held_threads(launch_.holding) : most_threads;
    code_.narrow_from = narrow_layers_from(layout.plan, launch_.threads);
    Places shared;
    shared.take(code_.work.words);
    launch_.work_is_shared = index(shared.words()) <= limits_.shared_words;
    int used = launch_.work_is_shared ? shared.words() : 0;
    code_.tables.gates = gates_with_tables(layout.plan, launch_.holding);
    code_.tables.coefficients = shared.take(std::int64_t{code_.tables.gates} * 4);
    code_.tables.short_wires = shared.take(holds ? 0 : code_.tables.gates);
    code_.tables.input_reads = shared.take(std::int64_t{code_.input_rows} * 2);
    launch_.tables_are_shared = index(shared.words()) <= limits_.shared_words;
    if (launch_.tables_are_shared) used = shared.words();
    code_.tables.sums =
        use_ == Use::training && !holds ? shared.take(std::int64_t{code_.gates} * 4) : -1;
    if (index(shared.words()) > limits_.shared_words) code_.tables.sums = -1;
    if (code_.tables.sums >= 0) used = shared.words();
    if (use_ == Use::training && holds_coefficients(launch_.holding)) {
      code_.work.tree_rows =
          shared.take(static_cast<std::int64_t>(spread_words(code_, launch_.tree_outputs)));
      used = shared.words();
    }
    launch_.shared_bytes = 4 * index(used);
    const bool one_gate = layout.width * code_.tile / 4 <= most_threads;
    launch_.row_bits = one_gate ? code_.tile_bits - 2 : -1;
  }

  /// A second place for activations, so that they are copied while threads go on.
  void place_other_acts(const Layout& layout) {
    code_.work.other_acts = -1;
    if (!shape_.keeps_activations() || use_ != Use::training || !other_acts_fit(layout, limits_)) {
      return;
    }
    code_.work.other_acts = static_cast<int>(launch_.shared_bytes / 4);
    launch_.shared_bytes += 4 * index(code_.work.acts_words);
  }

  void allocate_all(const RulePlan& plan) {
    wires_ = DeviceArray<Wires>(plan.wires);
    short_wires_ = DeviceArray<std::uint32_t>(plan.short_wires);
    rest_ = DeviceArray<Rest>(plan.rest);
    origin_ = DeviceArray<std::uint32_t>(plan.origin);
    layer_of_ = DeviceArray<std::uint32_t>(plan.layer_of);
    input_reads_ = DeviceArray<Reads>(plan.input_reads);
    const std::size_t words = index(code_.channels) * index(code_.cells);
    const auto blocks = index(launch_.blocks);
    const bool keeps = use_ == Use::training;
    states_ =
        DeviceArray<float>(words * (keeps ? index((shape_.steps - 1) / shape_.keep_every() + 1) : 1));
    stretch_ = DeviceArray<float>(words * (keeps ? index(shape_.keep_every() - 1) : 2));
    last_ = DeviceArray<float>(words);
    target_ = DeviceArray<float>(index(code_.loss_channels) * index(code_.cells));
    coefficients_ = DeviceArray<float4>(index(code_.gates));
    loss_ = DeviceArray<float>(1);
    seen_loss_ = PinnedArray<float>(1);
    block_losses_ = DeviceArray<double>(blocks);
    sync_ = DeviceArray<unsigned>(blocks + 4);
    sync_.clear();
    if (use_ == Use::hard) wrong_ = PinnedArray<uint2>(index(code_.cells));
    if (!launch_.work_is_shared) {
      scratch_ = DeviceArray<float>(blocks * index(code_.work.words));
    }
    if (use_ == Use::training) {
      read_ = DeviceArray<float>(2 * neighbourhood * words);
      block_sums_ = DeviceArray<float4>(index(code_.gates) * blocks);
      if (shape_.keeps_activations()) {
        kept_acts_ = DeviceArray<float>(index(code_.steps) * index(code_.tiles) *
                                        index(code_.work.acts_words));
      }
    }
    point_at_all();
  }

  void point_at_all() {
    code_.wires = wires_.data();
    code_.short_wires = short_wires_.data();
    code_.rest = rest_.data();
    code_.origin = origin_.data();
    code_.layer_of = layer_of_.data();
    code_.input_reads = input_reads_.data();
    code_.masks = shared_.masks.data();
    code_.logit_gradients = shared_.logit_gradients.data();
    code_.coefficients = coefficients_.data();
    code_.states = states_.data();
    code_.stretch = stretch_.data();
    code_.last = last_.data();
    code_.kept_acts =
        shape_.keeps_activations() && use_ == Use::training ? kept_acts_.data() : nullptr;
    code_.read = read_.data();
    code_.target = target_.data();
    code_.block_sums = block_sums_.data();
    code_.block_losses = block_losses_.data();
    code_.loss = loss_.data();
    code_.seen_loss = seen_loss_.data();
    code_.wrong = wrong_.data();
    code_.barrier = sync_.data();
    code_.counted = sync_.data() + 1;
    code_.broken = sync_.data() + 3;
    code_.flags = sync_.data() + 4;
    code_.scratch = scratch_.data();
  }

  /// A grid of any number of channels, as floats or as words.
  void upload(DeviceArray<float>& to, const Tensor& grid) {
    if (use_ == Use::hard) {
      const std::vector<std::uint32_t> words = to_cell_words(grid, samples_);
      return copy_to_device(to.data(), words.data(), words.size() * sizeof(std::uint32_t));
    }
    const std::vector<float> values = to_cells(grid, samples_);
    copy_to_device(to.data(), values.data(), values.size() * sizeof(float));
  }

  const AutomatonShape& shape_;
  const Shared& shared_;
  Use use_;
  std::int64_t samples_;
  Limits limits_;
  Code code_{};
  Launch launch_{};
  DeviceArray<Wires> wires_;
  DeviceArray<Rest> rest_;
  DeviceArray<std::uint32_t> short_wires_, origin_, layer_of_;
  DeviceArray<Reads> input_reads_;
  DeviceArray<float> states_, stretch_, last_, target_, loss_, read_, kept_acts_, scratch_;
  DeviceArray<double> block_losses_;
  DeviceArray<float4> coefficients_, block_sums_;
  DeviceArray<unsigned> sync_;
  PinnedArray<float> seen_loss_;
  PinnedArray<uint2> wrong_;
  DeviceArray<std::uint8_t> fire_;
};

}  // namespace

// ------------------------------------------------------------------ memory

namespace {

std::size_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "ask for free memory");
  return free;
}

}  // namespace

std::size_t training_bytes(const AutomatonShape& shape) {
  const Limits limits = limits_of_device();
  const Layout layout = best_layout(shape, Use::training, static_cast<int>(shape.cells()), limits);
  const std::size_t words = index(shape.channels) * index(shape.cells());
  const auto gates = index(layout.plan.gates());
  const std::size_t blocks = index(std::min(layout.code.tiles, limits.processors));
  std::size_t floats = words * index((shape.steps - 1) / shape.keep_every() + 1);
  floats += words * index(shape.keep_every());    // the stretch and the last state
  floats += 2 * neighbourhood * words;          // gradients of patches
  floats += gates * (4 * blocks + 16 * 4 + 4);  // sums, parameters and moments
  if (shape.keeps_activations()) {
    floats += index(shape.steps) * index(layout.code.tiles) * index(layout.code.work.acts_words);
  }
  if (index(layout.code.work.words) > limits.shared_words) {
    floats += blocks * index(layout.code.work.words);
  }
  return floats * sizeof(float);
}

bool keeps_while_going_on(int index, const AutomatonShape& shape) {
  select_device(index);
  const Limits limits = limits_of_device();
  const Layout layout = best_layout(shape, Use::training, static_cast<int>(shape.cells()), limits);
  return other_acts_fit(layout, limits) && training_bytes(shape) <= free_memory() / 2;
}

// ------------------------------------------------------------------ the automaton

struct Automaton::State {
  OwnedShape owned;
  const AutomatonShape& shape = owned.get();
  Shared shared;
  std::optional<Optimiser> optimiser;
  std::optional<Program> training;
  std::map<std::pair<Use, std::int64_t>, Program> rollouts;
  Program* last_hard = nullptr;
  AutomatonInputs inputs;                  ///< of training
  std::optional<Program> beside_training;  ///< a hard rollout from the same starts
  PinnedArray<int> finite{1};
  cudaStream_t main = nullptr;
  cudaStream_t beside = nullptr;

  explicit State(const AutomatonShape& given) : owned(given) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    // Where a refusal came before they were made, destroying none would be an error, and the next
    // launch of anybody would be told of it.
    if (main != nullptr) cudaStreamDestroy(main);
    if (beside != nullptr) cudaStreamDestroy(beside);
  }

  Program& rollout(Use use, std::int64_t samples) {
    const auto [found, is_new] =
        rollouts.try_emplace(std::pair(use, samples), shape, use, samples, shared);
    if (is_new) found->second.launch_options().stream = use == Use::hard ? beside : main;
    return found->second;
  }

  /// Runs on the processors that training leaves where they are enough for two tiles each at most;
  /// on all, after or before it, where few are left.
  Program& hard_beside_training() {
    if (!beside_training) {
      const int left = limits_of_device().processors - training->blocks();
      constexpr std::int64_t cells_of_a_tile = std::int64_t{4} * cells_a_word;
      constexpr std::int64_t most_tiles_each = 2;
      const bool enough = left * most_tiles_each * cells_of_a_tile >= shape.cells();
      beside_training.emplace(shape, Use::hard, shape.batch, shared, enough ? left : 0);
      beside_training->launch_options().stream = beside;
      beside_training->set_inputs(inputs);
    }
    return *beside_training;
  }

  /// How training updates the parameters in its own launch.
  Update own_update(std::int64_t step, double learning_rate) {
    return {.parameters = shared.next_logits().data(),
            .first = optimiser->first().data(),
            .second = optimiser->second().data(),
            .finite = finite.data(),
            .factors = optimiser->factors(step, learning_rate)};
  }

  /// Where gradients are clipped by their norm, it must be known before any is used.
  void update_by_norm(std::int64_t step, double learning_rate) {
    check(cudaStreamSynchronize(beside), "wait for a hard rollout");
    optimiser->step(shared.logits().data(), shared.logit_gradients.data(),
                    training->loss_on_device(), step, learning_rate, main);
    check(cudaMemcpyAsync(finite.data(), optimiser->finite(), sizeof(int), cudaMemcpyDeviceToHost,
                          main),
          "fetch whether gradients are finite");
  }
};

Automaton::Automaton(const AutomatonShape& shape, const AdamWOptions& options)
    : state_(std::make_unique<State>(shape)) {
  State& s = *state_;
  check_grid_size("cuda", s.shape);
  check_training_memory("cuda", s.shape, free_memory(), training_bytes);
  check(cudaStreamCreate(&s.main), "make a stream");
  check(cudaStreamCreate(&s.beside), "make a stream");
  const std::size_t parameters = s.owned.gates() * index(logit_count(shape.parametrisation, 2));
  for (DeviceArray<float>& logits : s.shared.both_logits) logits = DeviceArray<float>(parameters);
  s.shared.logit_gradients = DeviceArray<float>(parameters);
  s.shared.masks = DeviceArray<float>(std::vector<float>(s.owned.gates(), 1.F));
  s.optimiser.emplace(parameters, options);
  s.training.emplace(s.shape, Use::training, shape.batch, s.shared);
  s.training->launch_options().stream = s.main;
}

Automaton::~Automaton() = default;

void Automaton::set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks) {
  State& s = *state_;
  s.shared.logit_shapes.clear();
  for (const Tensor& layer : logits) s.shared.logit_shapes.push_back(layer.shape());
  const std::vector<float> all = flat(logits);
  s.shared.logits().upload(all.data(), all.size());
  if (masks.empty()) return;
  const std::vector<float> all_masks = flat(masks);
  s.shared.masks.upload(all_masks.data(), all_masks.size());
}

void Automaton::get_parameters(std::span<Tensor> logits) const {
  write_into(logits, state_->shared.logits().values());
}

void Automaton::set_moments(std::span<const Tensor> first, std::span<const Tensor> second) {
  const std::vector<float> means = flat(first);
  const std::vector<float> squares = flat(second);
  state_->optimiser->first().upload(means.data(), means.size());
  state_->optimiser->second().upload(squares.data(), squares.size());
}

void Automaton::get_moments(std::span<Tensor> first, std::span<Tensor> second) const {
  write_into(first, state_->optimiser->first().values());
  write_into(second, state_->optimiser->second().values());
}

void Automaton::set_inputs(const AutomatonInputs& inputs) {
  State& s = *state_;
  s.training->set_inputs(inputs);
  take_over(s.inputs, inputs);
  s.beside_training.reset();
}

double Automaton::gradients(const AutomatonDraws& draws) {
  State& s = *state_;
  s.training->run(draws);
  check(cudaStreamSynchronize(s.main), "wait for the gradients");
  return s.training->loss();
}

std::vector<Tensor> Automaton::logit_gradients() const {
  return tensors_of(state_->shared.logit_shapes, state_->shared.logit_gradients.values());
}

Tensor Automaton::states() const {
  const AutomatonShape& shape = state_->shape;
  Tensor all({shape.steps + 1, shape.channels, shape.batch, shape.height, shape.width},
             DType::float32);
  const auto to = all.mutable_values<float>();
  for (std::int64_t step = 0; step <= shape.steps; ++step) {
    const Tensor one = state_->training->state(step);
    std::ranges::copy(one.values<float>(), to.begin() + step * one.size());
  }
  return all;
}

AutomatonOutcome Automaton::step(const AutomatonDraws& draws, std::int64_t step,
                                 double learning_rate, bool with_hard) {
  State& s = *state_;
  Program* hard = with_hard ? &s.hard_beside_training() : nullptr;
  const bool updates_itself = s.optimiser->options().clip_norm <= 0;
  s.training->run(draws, updates_itself ? s.own_update(step, learning_rate) : Update{});
  // Beside the training: both read the parameters of before.
  if (hard != nullptr) hard->run(draws);
  if (!updates_itself) s.update_by_norm(step, learning_rate);
  check(cudaStreamSynchronize(s.beside), "wait for a hard rollout");
  check(cudaStreamSynchronize(s.main), "wait for a training step");
  if (updates_itself) s.shared.current = 1 - s.shared.current;
  AutomatonOutcome outcome{.loss = s.training->loss(), .finite = s.finite[0] != 0, .hard = {}};
  if (hard != nullptr) outcome.hard = hard->outcome();
  return outcome;
}

double Automaton::soft_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                               const AutomatonDraws& draws, Tensor& last) {
  State& s = *state_;
  Program& program = s.rollout(Use::soft, samples);
  program.set_inputs(inputs);
  program.run(draws);
  check(cudaStreamSynchronize(s.main), "wait for a rollout");
  last = program.state(s.shape.steps);
  return program.loss();
}

HardOutcome Automaton::hard_rollout(std::int64_t samples, const AutomatonInputs& inputs,
                                    const AutomatonDraws& draws) {
  State& s = *state_;
  Program& program = s.rollout(Use::hard, samples);
  program.set_inputs(inputs);
  program.run(draws);
  check(cudaStreamSynchronize(s.beside), "wait for a rollout");
  s.last_hard = &program;
  return program.outcome();
}

Tensor Automaton::hard_state() const {
  if (state_->last_hard == nullptr) fail("cuda", "expected a hard rollout before, received none");
  return state_->last_hard->state(state_->shape.steps);
}

std::unique_ptr<DeviceAutomaton> make_automaton(int index, const AutomatonShape& shape,
                                                const AdamWOptions& options) {
  select_device(index);
  return std::make_unique<Automaton>(shape, options);
}

}  // namespace boolgrad::cuda
