#include "boolgrad/backend/vulkan/network/program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "boolgrad/backend/plan/network_evaluation.h"
#include "boolgrad/backend/vulkan/automaton/placement.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::vulkan {

/// A shader and its specialisation, so that equal pipelines are shared.
struct NetworkShader {
  const char* name;
  bool by_arity = false;
  bool by_parametrisation = false;
  bool by_loss = false;
  bool by_lanes = false;
  bool by_head = false;
  bool by_hardening = false;
  bool by_thresholds = false;
  bool by_candidates = false;  ///< lanes are the threads per slot
  bool by_wire_forward = false;
  bool by_weights = false;
  bool by_sharing = false;
  bool by_levels = false;
};

namespace {

constexpr NetworkShader gather_shader{.name = "network/gather", .by_thresholds = true};
constexpr NetworkShader tables_shader{
    .name = "network/tables", .by_arity = true, .by_parametrisation = true, .by_hardening = true};
constexpr NetworkShader hard_tables_shader{
    .name = "network/tables.hard", .by_arity = true, .by_parametrisation = true};
constexpr NetworkShader forward_shader{
    .name = "network/forward", .by_arity = true, .by_sharing = true};
constexpr NetworkShader loss_shader{.name = "network/loss", .by_loss = true};
constexpr NetworkShader scores_shader{.name = "network/scores", .by_weights = true};
constexpr NetworkShader join_scores_shader{"network/join_scores"};
constexpr NetworkShader weights_shader{"network/weights"};
constexpr NetworkShader head_loss_shader{
    .name = "network/head_loss", .by_head = true, .by_weights = true};
constexpr NetworkShader weigh_shader{.name = "network/weigh", .by_head = true};
constexpr NetworkShader sums_shader{
    .name = "network/sums", .by_arity = true, .by_lanes = true, .by_sharing = true};
constexpr NetworkShader subgroup_sums_shader{
    .name = "network/sums.subgroups", .by_arity = true, .by_lanes = true, .by_sharing = true};
constexpr NetworkShader backward_shader{
    .name = "network/backward", .by_arity = true, .by_sharing = true};
constexpr NetworkShader trees_shader{.name = "network/trees", .by_arity = true, .by_levels = true};
constexpr NetworkShader trees_backward_shader{
    .name = "network/trees_backward", .by_arity = true, .by_levels = true};
constexpr NetworkShader trees_backward_inputs_shader{
    .name = "network/trees_backward.inputs", .by_arity = true, .by_levels = true};
constexpr NetworkShader leaves_backward_shader{"network/leaves_backward"};
constexpr NetworkShader pool_shader{.name = "network/pool", .by_arity = true};
constexpr NetworkShader hard_pool_shader{.name = "network/pool.hard", .by_arity = true};
constexpr NetworkShader pool_backward_shader{.name = "network/pool_backward", .by_arity = true};
constexpr NetworkShader finish_shader{
    .name = "network/finish", .by_arity = true, .by_parametrisation = true, .by_hardening = true};
constexpr NetworkShader thresholds_shader{.name = "network/thresholds", .by_thresholds = true};
constexpr NetworkShader update_shader{"network/update"};
constexpr NetworkShader choose_shader{.name = "network/choose", .by_candidates = true};
constexpr NetworkShader select_shader{
    .name = "network/select", .by_arity = true, .by_wire_forward = true, .by_sharing = true};
constexpr NetworkShader select_words_shader{
    .name = "network/select.hard", .by_arity = true, .by_sharing = true};
constexpr NetworkShader candidate_sums_shader{
    .name = "network/candidate_sums", .by_arity = true, .by_lanes = true, .by_sharing = true};
constexpr NetworkShader gather_uses_shader{
    .name = "network/gather_uses", .by_arity = true, .by_wire_forward = true, .by_sharing = true};
constexpr NetworkShader finish_wires_shader{.name = "network/finish_wires", .by_candidates = true};
constexpr NetworkShader pack_shader{"network/pack"};
constexpr NetworkShader hard_shader{.name = "network/hard", .by_arity = true, .by_sharing = true};
constexpr NetworkShader ones_shader{.name = "network/ones", .by_weights = true};

constexpr std::int64_t vector_samples = 4;
constexpr std::int64_t quad_floats = 4;
constexpr std::int64_t max_lanes = 32;
/// Vectors of samples that a thread sums before storing.
constexpr std::int64_t vectors_per_lane = 8;
/// Chunks of samples whose sums are stored, if gates share tables.
constexpr std::int64_t max_shared_chunks = 64;
/// Outputs per partial sum of a group: few enough to keep many threads busy, and enough to keep the
/// number of parts small.
constexpr std::int64_t gates_per_group_part = 64;
/// Candidates per thread and pass over the samples.
constexpr std::int64_t candidates_per_sum = 4;
constexpr std::int64_t max_loss_parts = 256;
constexpr std::int64_t max_update_groups = 1024;
/// Limit on the activations held during an evaluation, in bytes.
constexpr std::size_t evaluation_bytes = std::size_t{1} << 28;
/// Cost of a gate's backward pass, relative to forward.
constexpr double work_back = 4;

static_assert(sizeof(NetworkPush) <= push_bytes);
static_assert(static_cast<std::uint32_t>(network_bindings) <= max_bindings);

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t parts_of(std::int64_t items, std::int64_t items_per_part) {
  return (items + items_per_part - 1) / items_per_part;
}

/// Cost of a gate, in two-input gates.
double weight(const LayerLayout& layer) {
  return layer.levels > 0 ? static_cast<double>(layer.arity << layer.levels) : layer.quads();
}

/// Cost of a thread of those that share a slot.
double candidates_per_lane(const LayerLayout& slots) {
  return static_cast<double>(slots.candidates) / slots.lanes();
}

}  // namespace

void check_buffer(const Context& context, std::size_t bytes) {
  const std::uint64_t max_bytes = limits_of(context.physical()).buffer_bytes;
  if (bytes <= max_bytes) return;
  fail("vulkan",
       "expected a network and samples that need buffers of at most {} on this device, received "
       "{}",
       bytes_text(max_bytes), bytes_text(bytes));
}

std::int64_t evaluation_samples(const Context& context, const NetworkLayout& layout,
                                std::int64_t cases) {
  constexpr std::int64_t word = 32;
  const std::size_t max_bytes =
      std::min<std::size_t>(evaluation_bytes, limits_of(context.physical()).buffer_bytes);
  // The rows of all layers are kept, which is equivalent to two layers of half as many rows.
  return evaluation_batch(cases, (layout.rows + 1) / 2, max_bytes, word);
}

// ------------------------------------------------------------------ construction

NetworkProgram::NetworkProgram(Context& context, const NetworkSpec& spec,
                               const NetworkLayout& layout, const NetworkParameters& parameters,
                               const NetworkData& data, Use use, std::int64_t samples)
    : context_(context),
      spec_(spec),
      layout_(layout),
      parameters_(parameters),
      data_(data),
      use_(use),
      gates_per_submission_(limits_of(context.physical()).gates_per_submission) {
  sizes_.gates_per_row = 1;
  if (spec.head) {
    const std::int64_t groups = spec.head->groups();
    sizes_.groups = static_cast<std::int32_t>(groups);
    sizes_.group_parts =
        static_cast<std::int32_t>(parts_of(layout.outputs() / groups, gates_per_group_part));
  }
  first_exponent_part_ =
      layout.gradient_parts + (parameters.learns_thresholds ? layout.first().inputs : 0);
  sizes_.loss_part = first_exponent_part_ + layout.exponents;
  sizes_.all_tables = layout.tables;
  allocate(samples);
  set_constant_arguments(samples);
}

void NetworkProgram::allocate(std::int64_t samples) {
  const bool trains = use_ == Use::training;
  const std::int64_t vectors = parts_of(samples, vector_samples);
  const std::int64_t row = vectors * vector_samples;
  lanes_ = std::bit_ceil(static_cast<std::uint32_t>(std::min(vectors, max_lanes)));
  sizes_.samples = static_cast<std::int32_t>(samples);
  sizes_.vectors = static_cast<std::int32_t>(vectors);
  const auto floats = [&](std::int64_t count) {
    check_buffer(context_, index(count) * sizeof(float));
    return Array<float>(context_, index(count));
  };
  arguments_ = {context_, 1, MemoryUse::from_host};
  host_batch_ = {context_, index(samples), MemoryUse::from_host};
  batch_ = {context_, index(samples)};
  coefficients_ = floats(layout_.quads * quad_floats);
  coefficients_.clear();  // gates with one input use two of the four coefficients of a quad
  activations_ = floats(layout_.rows * row);
  parts_ = floats(2 * (sizes_.loss_part + loss_parts()));
  const std::int64_t results_per_part = spec_.head ? 3 : 1;
  results_ = {context_, 1 + index(results_per_part * loss_parts()), MemoryUse::to_host};
  if (spec_.head) scores_ = floats((group_parts() + 2 * sizes_.groups) * row);
  if (trains) {
    const int rows =
        std::max(layout_.widest, parameters_.learns_thresholds ? layout_.first().inputs : 0);
    for (Array<float>& gradients : gradients_) gradients = floats(rows * row);
    sums_ = floats(plan_sums() * quad_floats);
    sums_.clear();  // kernels may have fewer sections than others
    leaf_gradients_ = floats(leaf_rows() * row);
  } else {
    words_ = {context_, index(2 * sizes_.all_tables + layout_.hard_rows * words())};
    words_.clear();  // small tables use one of their two words
  }
  for (std::size_t turn = 0; turn < sets_.size(); ++turn) sets_[turn] = bound(turn);
}

std::int64_t NetworkProgram::plan_sums() {
  std::int64_t all = 0;
  for (const LayerLayout& layer : layout_.layers) {
    const std::int64_t vectors = std::int64_t{layer.positions} * sizes_.vectors;
    const std::int64_t least = layer.shares_tables ? parts_of(vectors, max_shared_chunks) : 0;
    const std::int64_t chunk_vectors =
        std::max(vectors_per_lane, parts_of(least, lanes_)) * std::int64_t{lanes_};
    const std::int64_t chunks =
        layer.sum_chunks > 0 ? layer.sum_chunks : parts_of(vectors, chunk_vectors);
    sums_of_layers_.push_back({.first = static_cast<std::int32_t>(all),
                               .chunks = static_cast<std::int32_t>(chunks),
                               .chunk_vectors = static_cast<std::int32_t>(chunk_vectors)});
    all += chunks * layer.tables * layer.quads();
  }
  return all;
}

bool NetworkProgram::wants_inputs(const StageLayout& stage) const {
  return stage.first > 0 || layout_.slots.front() || parameters_.learns_thresholds;
}

std::int64_t NetworkProgram::leaf_rows() const {
  std::int64_t rows = 0;
  for (const StageLayout& stage : layout_.stages) {
    if (stage.trees && wants_inputs(stage)) rows = std::max(rows, stage.trees->leaf_rows());
  }
  return rows;
}

void NetworkProgram::set_constant_arguments(std::int64_t samples) {
  const Head head = spec_.head.value_or(Head{});
  NetworkArguments& to = arguments_.shared()[0];
  to.gamma = static_cast<float>(spec_.loss.focal_gamma);
  to.smoothing = static_cast<float>(spec_.label_smoothing);
  to.mean = 1 / static_cast<float>(head.has_votes() ? samples * head.groups() : samples);
  to.low = static_cast<float>(head.low);
  to.target_scale = static_cast<float>(1 / (head.high - head.low));
  to.width_share = parameters_.width_share;
  to.first_threshold = layout_.logits;
  to.max_exponent = static_cast<float>(spec_.max_exponent);
  to.first_exponent = layout_.logits + (parameters_.learns_thresholds ? layout_.first().inputs : 0);
  to.parameters = to.first_exponent + layout_.exponents;
  to.second_moments = static_cast<std::int32_t>(parameters_.moments.size() / 2);
  to.hardening = hardening_arguments({});
  to.wire_scale = 1;
  to.cases = static_cast<std::int32_t>(data_.cases);
  to.data_kind = data_.kind;
  to.features = static_cast<std::int32_t>(data_.features);
  to.height = static_cast<std::int32_t>(data_.height);
  to.width = static_cast<std::int32_t>(data_.width);
  to.teacher_weight = data_.has_soft_targets ? static_cast<float>(spec_.teacher_weight) : 0;
}

std::unique_ptr<BufferSet> NetworkProgram::bound(std::size_t turn) const {
  std::array<const Buffer*, network_bindings> buffers{};
  const auto put = [&](NetworkBinding binding, const auto& array) {
    if (array.buffer().handle() != nullptr) buffers[binding] = &array.buffer();
  };
  put(network_arguments_binding, arguments_);
  put(network_wires_binding, parameters_.wires);
  put(network_coefficients_binding, coefficients_);
  put(network_activations_binding, activations_);
  put(network_output_gradients_binding, gradients_[turn]);
  put(network_input_gradients_binding, gradients_[1 - turn]);
  put(network_sums_binding, sums_);
  put(network_parameters_binding, parameters_.values);
  put(network_masks_binding, parameters_.masks);
  put(network_parameter_gradients_binding, parameters_.gradients);
  put(network_moments_binding, parameters_.moments);
  put(network_parts_binding, parts_);
  put(network_results_binding, results_);
  put(network_data_binding, data_.data);
  put(network_inputs_binding, data_.inputs);
  put(network_batch_binding, batch_);
  put(network_targets_binding, data_.targets);
  put(network_words_binding, words_);
  put(network_scores_binding, scores_);
  put(network_chosen_binding, parameters_.chosen);
  put(network_weights_binding, parameters_.weights);
  put(network_output_weights_binding, parameters_.output_weights);
  put(network_leaf_gradients_binding, leaf_gradients_);
  return std::make_unique<BufferSet>(context_, buffers);
}

// ------------------------------------------------------------------ arguments of a run

void NetworkProgram::set_batch(std::span<const std::int64_t> cases,
                               std::span<const ImageTransform> transforms) {
  sizes_.samples = static_cast<std::int32_t>(cases.size());
  sizes_.vectors = static_cast<std::int32_t>(parts_of(sizes_.samples, vector_samples));
  const std::span<BatchSample> to = host_batch_.shared();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const ImageTransform transform = transforms.empty() ? ImageTransform{} : transforms[i];
    to[i] = {static_cast<std::int32_t>(cases[i]), transform};
  }
  arguments_.shared()[0].only_shifts =
      std::ranges::all_of(transforms, &ImageTransform::is_shift) ? 1 : 0;
}

void NetworkProgram::set_hardening(const HardeningStep& step) {
  hardening_ = hardening_for_shaders(step);
  arguments_.shared()[0].hardening = hardening_arguments(step);
}

void NetworkProgram::set_head_temperature(double temperature) {
  const Head head = spec_.head.value_or(Head{});
  double scale = 1;
  if (head.kind == HeadKind::classes) scale = 1 / temperature;
  else if (head.has_votes()) scale = 0.5 / temperature;
  arguments_.shared()[0].score_scale = static_cast<float>(scale);
}

// ------------------------------------------------------------------ dispatches

std::int64_t NetworkProgram::loss_parts() const {
  const std::int64_t row = std::int64_t{sizes_.vectors} * vector_samples;
  if (spec_.head) return parts_of(row, network_threads);
  return std::min(parts_of(layout_.outputs() * row, network_threads), max_loss_parts);
}

NetworkPush NetworkProgram::push_for(const LayerLayout& layer) const {
  NetworkPush push = sizes_;
  push.inputs = layer.inputs;
  push.gates = layer.gates;
  push.tables = layer.tables;
  push.positions = layer.positions;
  push.in_row = layer.in_row;
  push.out_row = layer.out_row;
  push.sources = layer.sources;
  push.first_reader = layer.first_reader;
  push.readers = layer.readers;
  push.layer = layer.number;
  push.first_table = layer.first_table;
  push.first_quad = layer.first_quad;
  push.first_logit = layer.first_logit;
  push.first_part = layer.first_part;
  push.factor = layer.factor;
  push.candidates = layer.candidates;
  if (!sums_of_layers_.empty()) {
    const LayerSums& sums = sums_of_layers_[index(layer.number)];
    push.first_sum = sums.first;
    push.chunks = sums.chunks;
    push.chunk_vectors = sums.chunk_vectors;
  }
  push.parts = sizes_.loss_part + static_cast<std::int32_t>(loss_parts());
  push.first_section = layer.first_section;
  const bool is_last = layer.out_row == layout_.last().out_row;
  if (spec_.head && !layout_.weighs_outputs && is_last) {
    push.gates_per_row = layer.gates / sizes_.groups;
  }
  return push;
}

NetworkPush NetworkProgram::hard_push_for(const LayerLayout& layer) const {
  NetworkPush push = push_for(layer);
  push.in_row = layer.hard_in_row;
  push.out_row = layer.hard_out_row;
  return push;
}

const BufferSet& NetworkProgram::set_for(const LayerLayout& layer) const {
  return *sets_[index(layer.turn) % sets_.size()];
}

void NetworkProgram::dispatch(CommandRecorder& to, const NetworkShader& shader,
                              const LayerLayout& layer, NetworkPush push, std::int64_t groups,
                              double gates_per_group) const {
  const auto number_if = [](bool counts, auto number) {
    return counts ? static_cast<std::uint32_t>(number) : 0U;
  };
  const HeadKind head_kind = spec_.head.value_or(Head{}).kind;
  const NetworkConstants constants{
      .threads = network_threads,
      .arity = number_if(shader.by_arity, layer.arity),
      .parametrisation = number_if(shader.by_parametrisation, spec_.parametrisation),
      .loss_kind = number_if(shader.by_loss, spec_.loss.kind),
      .lanes = shader.by_candidates ? number_if(true, layer.lanes())
                                    : number_if(shader.by_lanes, lanes_),
      .subgroup = number_if(shader.by_lanes, context_.subgroup()),
      .head_kind = number_if(shader.by_head, head_kind),
      .hardening = number_if(shader.by_hardening, hardening_),
      .learns_thresholds = number_if(shader.by_thresholds, parameters_.learns_thresholds),
      .mixes_wires = number_if(shader.by_wire_forward, spec_.wire_forward == WireForward::soft),
      .weighs_outputs = number_if(shader.by_weights, layout_.weighs_outputs),
      .shares_tables = number_if(shader.by_sharing, layer.shares_tables),
      .levels = number_if(shader.by_levels, layer.levels)};
  const auto words = std::bit_cast<std::array<std::uint32_t, sizeof(constants) / 4>>(constants);
  const VkPipeline pipeline = context_.pipeline(shader.name, Constants(words.begin(), words.end()));
  const double share = gates_per_group / gates_per_submission_;
  const double fitting = share > 0 ? 1 / share : static_cast<double>(max_groups);
  const auto max_groups_per_part =
      static_cast<std::int64_t>(std::clamp(fitting, 1.0, static_cast<double>(max_groups)));
  for (std::int64_t first = 0; first < groups; first += max_groups_per_part) {
    const std::int64_t count = std::min(max_groups_per_part, groups - first);
    push.first = static_cast<std::int32_t>(first);
    if (first > 0) to.barrier();  // parts write to the same buffers
    to.dispatch(pipeline, set_for(layer), std::as_bytes(std::span(&push, 1)),
                static_cast<std::uint32_t>(count), share * static_cast<double>(count));
  }
}

void NetworkProgram::dispatch_items(CommandRecorder& to, const NetworkShader& shader,
                                    const LayerLayout& layer, const NetworkPush& push,
                                    std::int64_t items, double gates_per_item) const {
  dispatch(to, shader, layer, push, parts_of(items, network_threads),
           gates_per_item * network_threads);
}

void NetworkProgram::gather(CommandRecorder& to) const {
  to.copy(host_batch_.buffer(), 0, batch_.buffer(), 0, index(sizes_.samples) * sizeof(BatchSample));
  const LayerLayout& first = layout_.first();
  dispatch_items(to, gather_shader, first, push_for(first),
                 std::int64_t{first.inputs} * sizes_.vectors, vector_samples);
  for (const LayerLayout& layer : layout_.layers) {
    dispatch_items(to, tables_shader, layer, push_for(layer), layer.table_threads, 1);
  }
  for (const auto& slots : layout_.slots) {
    if (!slots) continue;
    dispatch_items(to, choose_shader, *slots, push_for(*slots), slots->table_threads,
                   candidates_per_lane(*slots));
  }
  if (layout_.exponents > 0) {
    const LayerLayout& last = layout_.last();
    dispatch(to, weights_shader, last, push_for(last), sizes_.groups,
             static_cast<double>(last.gates) / sizes_.groups);
  }
  to.barrier();
}

void NetworkProgram::select(CommandRecorder& to, const LayerLayout& slots) const {
  const int read = spec_.wire_forward == WireForward::soft ? slots.candidates : 1;
  dispatch_items(to, select_shader, slots, push_for(slots),
                 std::int64_t{slots.gates} * sizes_.vectors,
                 static_cast<double>(vector_samples * read));
  to.barrier();
}

void NetworkProgram::forward(CommandRecorder& to) const {
  for (const StageLayout& stage : layout_.stages) {
    const auto& slots = layout_.slots[stage.first];
    if (slots) select(to, *slots);
    forward(to, stage);
    to.barrier();
  }
}

void NetworkProgram::forward(CommandRecorder& to, const StageLayout& stage) const {
  const LayerLayout& layer = stage.trees ? *stage.trees : layout_.layers[stage.first];
  const NetworkShader& shader = stage.trees   ? trees_shader
                                : layer.pools ? pool_shader
                                              : forward_shader;
  dispatch_items(to, shader, layer, push_for(layer), std::int64_t{layer.gates} * sizes_.vectors,
                 vector_samples * weight(layer));
}

void NetworkProgram::join_scores(CommandRecorder& to, const NetworkPush& push) const {
  to.barrier();
  dispatch_items(to, join_scores_shader, layout_.last(), push,
                 sizes_.groups * static_cast<std::int64_t>(row()), sizes_.group_parts);
  to.barrier();
}

void NetworkProgram::sum_groups(CommandRecorder& to) const {
  const LayerLayout& last = layout_.last();
  const NetworkPush push = push_for(last);
  dispatch_items(to, scores_shader, last, push, group_parts() * sizes_.vectors,
                 static_cast<double>(gates_per_group_part));
  join_scores(to, push);
}

void NetworkProgram::loss(CommandRecorder& to) const {
  const LayerLayout& last = layout_.last();
  if (spec_.head) sum_groups(to);
  dispatch(to, spec_.head ? head_loss_shader : loss_shader, last, push_for(last), loss_parts());
  to.barrier();
  if (!layout_.weighs_outputs) return;
  NetworkPush push = push_for(last);
  push.first_part = first_exponent_part_;
  dispatch(to, weigh_shader, last, push, last.gates, static_cast<double>(row()));
  to.barrier();
}

void NetworkProgram::backward(CommandRecorder& to, const StageLayout& stage,
                              bool wants_inputs) const {
  if (stage.trees) {
    backward_of_trees(to, *stage.trees, wants_inputs);
  } else {
    const LayerLayout& layer = layout_.layers[stage.first];
    if (!layer.pools) sum_products(to, layer);
    if (wants_inputs) input_gradients(to, layer);
  }
  to.barrier();
}

void NetworkProgram::backward_of_trees(CommandRecorder& to, const LayerLayout& trees,
                                       bool wants_inputs) const {
  const NetworkPush push = push_for(trees);
  const double outputs_per_section = static_cast<double>(trees.gates) / trees.sections;
  dispatch(to, wants_inputs ? trees_backward_inputs_shader : trees_backward_shader, trees, push,
           trees.sections,
           outputs_per_section * static_cast<double>(row()) * weight(trees) * work_back);
  if (!wants_inputs) return;
  to.barrier();
  const double leaves = static_cast<double>(trees.leaf_rows()) / trees.inputs;
  dispatch_items(to, leaves_backward_shader, trees, push,
                 std::int64_t{trees.inputs} * sizes_.vectors,
                 vector_samples * std::max(leaves, 1.0));
}

void NetworkProgram::sum_products(CommandRecorder& to, const LayerLayout& layer) const {
  const std::int64_t tables_per_group = network_threads / lanes_;
  const NetworkPush push = push_for(layer);
  const auto work =
      static_cast<double>(std::min(push.chunk_vectors, push.positions * push.vectors) *
                          vector_samples * tables_per_group);
  dispatch(to, context_.subgroup() > 1 ? subgroup_sums_shader : sums_shader, layer, push,
           parts_of(layer.tables, tables_per_group) * push.chunks, work * weight(layer));
}

void NetworkProgram::input_gradients(CommandRecorder& to, const LayerLayout& layer) const {
  const double readers = static_cast<double>(layer.gates) * layer.arity / layer.inputs;
  dispatch_items(to, layer.pools ? pool_backward_shader : backward_shader, layer, push_for(layer),
                 std::int64_t{layer.inputs} * sizes_.vectors,
                 vector_samples * weight(layer) * std::max(readers, 1.0));
}

void NetworkProgram::backward_of_slots(CommandRecorder& to, const LayerLayout& slots,
                                       bool wants_inputs) const {
  const NetworkPush push = push_for(slots);
  const std::int64_t sums_per_group = network_threads / lanes_;
  const std::int64_t sums = slots.tables * parts_of(slots.candidates, candidates_per_sum);
  dispatch(to, candidate_sums_shader, slots, push, parts_of(sums, sums_per_group),
           static_cast<double>(sums_per_group * candidates_per_sum * slots.positions) *
               static_cast<double>(row()));
  if (wants_inputs) {
    const double uses = static_cast<double>(slots.gates) * slots.candidates / slots.inputs;
    dispatch_items(to, gather_uses_shader, slots, push, std::int64_t{slots.inputs} * sizes_.vectors,
                   vector_samples * std::max(uses, 1.0));
  }
  to.barrier();
}

void NetworkProgram::backward_to_slots(CommandRecorder& to, std::size_t layer) const {
  for (std::size_t i = layout_.stages.size(); i-- > 0;) {
    const StageLayout& stage = layout_.stages[i];
    if (stage.first < layer) return;
    backward(to, stage, true);
    const auto& slots = layout_.slots[stage.first];
    if (stage.first > layer && slots) backward_of_slots(to, *slots, true);
  }
}

void NetworkProgram::backward(CommandRecorder& to) const {
  for (std::size_t i = layout_.stages.size(); i-- > 0;) {
    const StageLayout& stage = layout_.stages[i];
    backward(to, stage, wants_inputs(stage));
    const auto& slots = layout_.slots[stage.first];
    if (slots) backward_of_slots(to, *slots, i > 0 || parameters_.learns_thresholds);
  }
  for (const LayerLayout& layer : layout_.layers) {
    dispatch_items(to, finish_shader, layer, push_for(layer), layer.table_threads, work_back);
  }
  for (const auto& slots : layout_.slots) {
    if (!slots) continue;
    dispatch_items(to, finish_wires_shader, *slots, push_for(*slots), slots->table_threads,
                   candidates_per_lane(*slots));
  }
  if (parameters_.learns_thresholds) {
    const LayerLayout& first = layout_.first();
    NetworkPush push = push_for(first);
    push.first_part = layout_.gradient_parts;
    push.factor = layout_.input_factor;
    dispatch(to, thresholds_shader, first, push, first.inputs, static_cast<double>(sizes_.samples));
  }
  to.barrier();
}

void NetworkProgram::update(CommandRecorder& to) const {
  const LayerLayout& last = layout_.last();
  dispatch(
      to, update_shader, last, push_for(last),
      std::min(parts_of(arguments_.shared()[0].parameters, network_threads), max_update_groups));
}

void NetworkProgram::harden(CommandRecorder& to) const {
  const LayerLayout& first = layout_.first();
  for (const LayerLayout& layer : layout_.layers) {
    dispatch_items(to, hard_tables_shader, layer, push_for(layer), layer.table_threads, 1);
  }
  dispatch_items(to, pack_shader, first, push_for(first), first.inputs * words(), vector_samples);
  to.barrier();
  for (const LayerLayout& layer : layout_.layers) {
    const auto& slots = layout_.slots[index(layer.number)];
    if (slots) {
      dispatch_items(to, select_words_shader, *slots, hard_push_for(*slots), slots->gates * words(),
                     1);
      to.barrier();
    }
    dispatch_items(to, layer.pools ? hard_pool_shader : hard_shader, layer, hard_push_for(layer),
                   layer.gates * words(), weight(layer));
    to.barrier();
  }
}

void NetworkProgram::count_groups(CommandRecorder& to) const {
  const LayerLayout& last = layout_.last();
  NetworkPush push = hard_push_for(last);
  dispatch_items(to, ones_shader, last, push, group_parts() * static_cast<std::int64_t>(row()),
                 static_cast<double>(gates_per_group_part));
  push.score_set = 1;
  join_scores(to, push);
}

// ------------------------------------------------------------------ results

double NetworkProgram::loss() const {
  const auto parts = results_.shared().subspan(1, index(loss_parts()));
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

double NetworkProgram::sum_deviation() const {
  const std::size_t parts = index(loss_parts());
  const auto means = results_.shared().subspan(1 + parts, parts);
  const auto squares = results_.shared().subspan(1 + 2 * parts, parts);
  const double count = static_cast<double>(sizes_.samples) * sizes_.groups;
  const auto count_of = [&](std::size_t part) {
    const std::int64_t first = static_cast<std::int64_t>(part) * network_threads;
    return static_cast<double>(std::min<std::int64_t>(network_threads, sizes_.samples - first)) *
           sizes_.groups;
  };
  double mean = 0;
  for (std::size_t part = 0; part < parts; ++part) mean += means[part] * count_of(part) / count;
  double variance = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const double off = means[part] - mean;
    variance += (squares[part] + off * off * count_of(part)) / count;
  }
  return std::sqrt(variance);
}

std::size_t NetworkProgram::row() const { return index(sizes_.vectors) * vector_samples; }

std::vector<float> NetworkProgram::outputs(std::size_t layer) const {
  const LayerLayout& of = layout_.layers[layer];
  return rows(of.out_row, of.gates);
}

std::vector<float> NetworkProgram::rows(std::int64_t first, std::int64_t count) const {
  return activations_.values(index(first) * row(), index(count) * row());
}

std::vector<float> NetworkProgram::gradient_rows(const LayerLayout& layer) const {
  return gradients_[index(layer.turn) % gradients_.size()].values(0, index(layer.gates) * row());
}

std::vector<float> NetworkProgram::scores(bool of_hard) const {
  const std::int64_t first = group_parts() + (of_hard ? sizes_.groups : 0);
  return scores_.values(index(first) * row(), index(sizes_.groups) * row());
}

std::vector<std::uint32_t> NetworkProgram::hard_outputs() const {
  const std::size_t count = index(words());
  return words_.values(index(2 * sizes_.all_tables) + index(layout_.last().hard_out_row) * count,
                       index(layout_.outputs()) * count);
}

}  // namespace boolgrad::vulkan
