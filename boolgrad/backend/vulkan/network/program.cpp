#include "boolgrad/backend/vulkan/network/program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "boolgrad/backend/vulkan/automaton/placement.h"
#include "boolgrad/core/error.h"
#include "boolgrad/core/text.h"

namespace boolgrad::vulkan {

/// A shader and what it is compiled for, so that none is compiled twice for the same.
struct NetworkShader {
  const char* name;
  bool by_arity = false;
  bool by_tables = false;
  bool by_loss = false;
  bool by_lanes = false;
};

namespace {

constexpr NetworkShader gather_shader{"network/gather"};
constexpr NetworkShader tables_shader{
    .name = "network/tables", .by_arity = true, .by_tables = true};
constexpr NetworkShader hard_tables_shader{
    .name = "network/tables.hard", .by_arity = true, .by_tables = true};
constexpr NetworkShader forward_shader{.name = "network/forward", .by_arity = true};
constexpr NetworkShader loss_shader{.name = "network/loss", .by_loss = true};
constexpr NetworkShader scores_shader{"network/scores"};
constexpr NetworkShader join_scores_shader{"network/join_scores"};
constexpr NetworkShader class_loss_shader{"network/class_loss"};
constexpr NetworkShader sums_shader{.name = "network/sums", .by_arity = true, .by_lanes = true};
constexpr NetworkShader subgroup_sums_shader{
    .name = "network/sums.subgroups", .by_arity = true, .by_lanes = true};
constexpr NetworkShader backward_shader{.name = "network/backward", .by_arity = true};
constexpr NetworkShader finish_shader{
    .name = "network/finish", .by_arity = true, .by_tables = true};
constexpr NetworkShader update_shader{"network/update"};
constexpr NetworkShader pack_shader{"network/pack"};
constexpr NetworkShader hard_shader{.name = "network/hard", .by_arity = true};
constexpr NetworkShader ones_shader{"network/ones"};
constexpr NetworkShader judge_shader{"network/judge"};

constexpr std::int64_t vector_samples = 4;
constexpr std::int64_t quad_floats = 4;
constexpr std::int64_t most_lanes = 32;
/// Vectors of samples that a thread adds up before sums are stored.
constexpr std::int64_t vectors_a_lane = 8;
/// Outputs that a thread adds up to a part of a class score: few enough to keep many threads busy,
/// and enough that the parts are few.
constexpr std::int64_t gates_a_class_part = 64;
constexpr std::int64_t most_loss_parts = 256;
constexpr std::int64_t most_update_groups = 1024;
/// Activations that an evaluation holds at a time.
constexpr std::size_t evaluation_bytes = std::size_t{1} << 28;
/// The work of going back through a gate, in units of its way forward.
constexpr double work_back = 4;

static_assert(sizeof(NetworkPush) <= push_bytes);
static_assert(static_cast<std::uint32_t>(network_bindings) <= most_bindings);

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t parts_of(std::int64_t items, std::int64_t items_a_part) {
  return (items + items_a_part - 1) / items_a_part;
}

/// Gates of two inputs that a gate of more takes the time of.
double weight(const PlacedLayer& layer) { return layer.quads(); }

}  // namespace

void check_buffer(const Context& context, std::size_t bytes) {
  const std::uint64_t most = limits_of(context.physical()).buffer_bytes;
  if (bytes <= most) return;
  fail("vulkan",
       "expected buffers of at most {} on this device, received a network or cases that need {}",
       bytes_text(most), bytes_text(bytes));
}

std::int64_t evaluation_samples(const Context& context, const NetworkPlaces& places,
                                std::int64_t cases) {
  constexpr std::int64_t word = 32;
  const std::size_t most =
      std::min<std::size_t>(evaluation_bytes, limits_of(context.physical()).buffer_bytes);
  const auto fitting = static_cast<std::int64_t>(most / (sizeof(float) * index(places.rows)));
  return std::min(cases, std::max(fitting / word * word, word));
}

// ------------------------------------------------------------------ making it

NetworkProgram::NetworkProgram(Context& context, const NetworkPlan& plan,
                               const NetworkPlaces& places, const NetworkMemory& memory, Use use,
                               std::int64_t samples)
    : context_(context),
      plan_(plan),
      places_(places),
      memory_(memory),
      use_(use),
      gates_a_submission_(limits_of(context.physical()).gates_a_submission) {
  sizes_.quads = places.quads;
  sizes_.cases = static_cast<std::int32_t>(memory.cases);
  sizes_.data_form = memory.form;
  sizes_.features = static_cast<std::int32_t>(memory.features);
  sizes_.height = static_cast<std::int32_t>(memory.height);
  sizes_.width = static_cast<std::int32_t>(memory.width);
  sizes_.classes = static_cast<std::int32_t>(plan.classes);
  sizes_.gates_a_row = 1;
  if (plan.has_classes()) {
    const std::int64_t gates_a_class = places.outputs() / plan.classes;
    sizes_.class_parts = static_cast<std::int32_t>(parts_of(gates_a_class, gates_a_class_part));
  }
  sizes_.loss_part = places.gradient_parts;
  sizes_.logits = places.logits;
  sizes_.table_words = 2 * places.gates;
  allocate(samples);
}

void NetworkProgram::allocate(std::int64_t samples) {
  const bool trains = use_ == Use::training;
  const std::int64_t vectors = parts_of(samples, vector_samples);
  const std::int64_t row = vectors * vector_samples;
  lanes_ = std::bit_ceil(static_cast<std::uint32_t>(std::min(vectors, most_lanes)));
  sizes_.samples = static_cast<std::int32_t>(samples);
  sizes_.vectors = static_cast<std::int32_t>(vectors);
  sizes_.chunk_vectors = static_cast<std::int32_t>(lanes_ * vectors_a_lane);
  sizes_.chunks = static_cast<std::int32_t>(parts_of(vectors, sizes_.chunk_vectors));
  const auto floats = [&](std::int64_t count) {
    check_buffer(context_, index(count) * sizeof(float));
    return Array<float>(context_, index(count));
  };
  numbers_ = {context_, 1, Place::from_host};
  host_picked_ = {context_, index(samples), Place::from_host};
  picked_ = {context_, index(samples)};
  coefficients_ = floats(places_.quads * quad_floats);
  coefficients_.clear();  // gates of one input have two of a quad's four
  activations_ = floats(places_.rows * row);
  parts_ = floats(2 * (places_.gradient_parts + loss_parts()));
  seen_ = {context_, 1 + index(loss_parts()), Place::to_host};
  if (plan_.has_classes()) {
    scores_ = floats(plan_.classes * (sizes_.class_parts + 1) * row);
  }
  if (trains) {
    for (Array<float>& gradients : gradients_) gradients = floats(places_.widest * row);
    sums_ = floats(std::int64_t{sizes_.chunks} * places_.quads * quad_floats);
  } else {
    words_ = {context_, index(sizes_.table_words + places_.rows * words())};
    words_.clear();  // small tables have one of two words
    mistakes_ = {context_, index(samples), Place::to_host};
  }
  NetworkNumbers& numbers = numbers_.shared()[0];
  numbers.gamma = static_cast<float>(plan_.loss.focal_gamma);
  numbers.score_scale = static_cast<float>(1 / plan_.temperature);
  // Scores of different smoothing compare.
  numbers.smoothing = trains ? static_cast<float>(plan_.smoothing) : 0;
  numbers.mean = 1 / static_cast<float>(trains ? samples : memory_.cases);
  for (std::size_t turn = 0; turn < sets_.size(); ++turn) sets_[turn] = bound(turn);
}

std::unique_ptr<BufferSet> NetworkProgram::bound(std::size_t turn) const {
  std::array<const Buffer*, network_bindings> buffers{};
  const auto put = [&](NetworkBinding binding, const auto& array) {
    if (array.buffer().handle() != nullptr) buffers[binding] = &array.buffer();
  };
  put(network_numbers_binding, numbers_);
  put(network_wires_binding, memory_.wires);
  put(network_coefficients_binding, coefficients_);
  put(network_activations_binding, activations_);
  put(network_output_gradients_binding, gradients_[turn]);
  put(network_input_gradients_binding, gradients_[1 - turn]);
  put(network_sums_binding, sums_);
  put(network_logits_binding, memory_.logits);
  put(network_masks_binding, memory_.masks);
  put(network_logit_gradients_binding, memory_.gradients);
  put(network_moments_binding, memory_.moments);
  put(network_parts_binding, parts_);
  put(network_seen_binding, seen_);
  put(network_data_binding, memory_.data);
  put(network_inputs_binding, memory_.inputs);
  put(network_picked_binding, picked_);
  put(network_targets_binding, memory_.targets);
  put(network_words_binding, words_);
  put(network_mistakes_binding, mistakes_);
  put(network_scores_binding, scores_);
  return std::make_unique<BufferSet>(context_, buffers);
}

// ------------------------------------------------------------------ what a run reads

void NetworkProgram::pick(std::span<const std::int64_t> cases, std::span<const ImageShift> moves) {
  sizes_.samples = static_cast<std::int32_t>(cases.size());
  sizes_.vectors = static_cast<std::int32_t>(parts_of(sizes_.samples, vector_samples));
  const std::span<PickedCase> to = host_picked_.shared();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const ImageShift move = moves.empty() ? ImageShift{} : moves[i];
    to[i] = {static_cast<std::int32_t>(cases[i]), move.right, move.down, 0};
  }
}

// ------------------------------------------------------------------ dispatches

std::int64_t NetworkProgram::loss_parts() const {
  const std::int64_t row = std::int64_t{sizes_.vectors} * vector_samples;
  if (plan_.has_classes()) return parts_of(row, network_threads);
  return std::min(parts_of(places_.outputs() * row, network_threads), most_loss_parts);
}

NetworkPush NetworkProgram::push_for(const PlacedLayer& layer) const {
  NetworkPush push = sizes_;
  push.inputs = layer.inputs;
  push.gates = layer.gates;
  push.in_row = layer.in_row;
  push.out_row = layer.out_row;
  push.sources = layer.sources;
  push.first_reader = layer.first_reader;
  push.readers = layer.readers;
  push.first_gate = layer.first_gate;
  push.first_quad = layer.first_quad;
  push.first_logit = layer.first_logit;
  push.first_part = layer.first_part;
  push.factor = layer.factor;
  push.parts = sizes_.loss_part + static_cast<std::int32_t>(loss_parts());
  push.wants_gradients = use_ == Use::training ? 1 : 0;
  if (plan_.has_classes() && &layer == &places_.last()) {
    push.gates_a_row = layer.gates / sizes_.classes;
  }
  return push;
}

const BufferSet& NetworkProgram::set_for(const PlacedLayer& layer) const {
  return *sets_[index(&layer - places_.layers.data()) % sets_.size()];
}

void NetworkProgram::dispatch(Recording& to, const NetworkShader& shader, const PlacedLayer& layer,
                              NetworkPush push, std::int64_t groups, double gates_a_group) const {
  const auto number_if = [](bool counts, auto number) {
    return counts ? static_cast<std::uint32_t>(number) : 1U;
  };
  const NetworkConstants constants{.threads = network_threads,
                                   .arity = number_if(shader.by_arity, layer.arity),
                                   .tables = number_if(shader.by_tables, plan_.parametrisation),
                                   .loss_form = number_if(shader.by_loss, plan_.loss.kind),
                                   .lanes = number_if(shader.by_lanes, lanes_),
                                   .subgroup = number_if(shader.by_lanes, context_.subgroup())};
  const auto words = std::bit_cast<std::array<std::uint32_t, sizeof(constants) / 4>>(constants);
  const VkPipeline pipeline = context_.pipeline(shader.name, Constants(words.begin(), words.end()));
  const double share = gates_a_group / gates_a_submission_;
  const double fitting = share > 0 ? 1 / share : static_cast<double>(most_groups);
  const auto most =
      static_cast<std::int64_t>(std::clamp(fitting, 1.0, static_cast<double>(most_groups)));
  for (std::int64_t first = 0; first < groups; first += most) {
    const std::int64_t count = std::min(most, groups - first);
    push.first = static_cast<std::int32_t>(first);
    if (first > 0) to.barrier();  // parts write the same buffers
    to.dispatch(pipeline, set_for(layer), std::as_bytes(std::span(&push, 1)),
                static_cast<std::uint32_t>(count), share * static_cast<double>(count));
  }
}

void NetworkProgram::dispatch_items(Recording& to, const NetworkShader& shader,
                                    const PlacedLayer& layer, const NetworkPush& push,
                                    std::int64_t items, double gates_an_item) const {
  dispatch(to, shader, layer, push, parts_of(items, network_threads),
           gates_an_item * network_threads);
}

void NetworkProgram::gather(Recording& to) const {
  to.copy(host_picked_.buffer(), 0, picked_.buffer(), 0,
          index(sizes_.samples) * sizeof(PickedCase));
  const PlacedLayer& first = places_.layers.front();
  dispatch_items(to, gather_shader, first, push_for(first),
                 std::int64_t{first.inputs} * sizes_.vectors, vector_samples);
  for (const PlacedLayer& layer : places_.layers) {
    dispatch_items(to, tables_shader, layer, push_for(layer), layer.table_threads, 1);
  }
  to.barrier();
}

void NetworkProgram::forward(Recording& to) const {
  for (const PlacedLayer& layer : places_.layers) {
    dispatch_items(to, forward_shader, layer, push_for(layer),
                   std::int64_t{layer.gates} * sizes_.vectors, vector_samples * weight(layer));
    to.barrier();
  }
}

void NetworkProgram::judge(Recording& to) const {
  const PlacedLayer& last = places_.last();
  const NetworkPush push = push_for(last);
  if (plan_.has_classes()) {
    dispatch_items(to, scores_shader, last, push, class_parts() * sizes_.vectors,
                   static_cast<double>(gates_a_class_part));
    to.barrier();
    dispatch_items(to, join_scores_shader, last, push,
                   std::int64_t{sizes_.classes} * sizes_.vectors * vector_samples,
                   sizes_.class_parts);
    to.barrier();
    dispatch(to, class_loss_shader, last, push, loss_parts());
  } else {
    dispatch(to, loss_shader, last, push, loss_parts());
  }
  to.barrier();
}

void NetworkProgram::backward(Recording& to) const {
  const std::int64_t gates_a_group = network_threads / lanes_;
  const auto work_of_sums = static_cast<double>(std::min(sizes_.chunk_vectors, sizes_.vectors) *
                                                vector_samples * gates_a_group);
  for (std::size_t i = places_.layers.size(); i-- > 0;) {
    const PlacedLayer& layer = places_.layers[i];
    const NetworkPush push = push_for(layer);
    dispatch(to, context_.subgroup() > 1 ? subgroup_sums_shader : sums_shader, layer, push,
             parts_of(layer.gates, gates_a_group) * sizes_.chunks, work_of_sums * weight(layer));
    if (i > 0) {
      const double readers = static_cast<double>(layer.gates) * layer.arity / layer.inputs;
      dispatch_items(to, backward_shader, layer, push, std::int64_t{layer.inputs} * sizes_.vectors,
                     vector_samples * weight(layer) * std::max(readers, 1.0));
    }
    to.barrier();
  }
  for (const PlacedLayer& layer : places_.layers) {
    dispatch_items(to, finish_shader, layer, push_for(layer), layer.table_threads, work_back);
  }
  to.barrier();
}

void NetworkProgram::update(Recording& to) const {
  const PlacedLayer& last = places_.last();
  dispatch(to, update_shader, last, push_for(last),
           std::min(parts_of(places_.logits, network_threads), most_update_groups));
}

void NetworkProgram::harden(Recording& to) const {
  const PlacedLayer& first = places_.layers.front();
  for (const PlacedLayer& layer : places_.layers) {
    dispatch_items(to, hard_tables_shader, layer, push_for(layer), layer.table_threads, 1);
  }
  dispatch_items(to, pack_shader, first, push_for(first), first.inputs * words(), vector_samples);
  to.barrier();
  for (const PlacedLayer& layer : places_.layers) {
    dispatch_items(to, hard_shader, layer, push_for(layer), layer.gates * words(), weight(layer));
    to.barrier();
  }
}

void NetworkProgram::compare(Recording& to) const {
  const PlacedLayer& last = places_.last();
  if (plan_.has_classes()) {
    const std::int64_t row = std::int64_t{sizes_.vectors} * vector_samples;
    dispatch_items(to, ones_shader, last, push_for(last), class_parts() * row,
                   static_cast<double>(gates_a_class_part));
    to.barrier();
  }
  dispatch_items(to, judge_shader, last, push_for(last), sizes_.samples,
                 plan_.has_classes() ? sizes_.classes : last.gates);
}

// ------------------------------------------------------------------ what comes out

double NetworkProgram::loss() const {
  const auto parts = seen_.shared().subspan(1, index(loss_parts()));
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

std::span<const NetworkMistakes> NetworkProgram::mistakes() const {
  return mistakes_.shared().first(index(sizes_.samples));
}

Tensor NetworkProgram::outputs(std::size_t layer) const {
  const PlacedLayer& of = places_.layers[layer];
  const std::size_t row = index(sizes_.vectors) * vector_samples;
  const std::vector<float> rows =
      activations_.values(index(of.out_row) * row, index(of.gates) * row);
  Tensor result({of.gates, sizes_.samples}, DType::float32);
  const auto to = result.mutable_values<float>();
  const std::size_t samples = index(sizes_.samples);
  for (std::size_t at = 0; at < to.size(); ++at) to[at] = rows[at / samples * row + at % samples];
  return result;
}

std::vector<std::uint32_t> NetworkProgram::hard_outputs() const {
  const std::size_t count = index(words());
  return words_.values(index(sizes_.table_words) + index(places_.last().out_row) * count,
                       index(places_.outputs()) * count);
}

}  // namespace boolgrad::vulkan
