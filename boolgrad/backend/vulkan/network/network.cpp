#include "boolgrad/backend/vulkan/network/network.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "boolgrad/backend/device/network_checks.h"
#include "boolgrad/backend/plan/flat_tensors.h"
#include "boolgrad/backend/plan/network_evaluation.h"
#include "boolgrad/backend/vulkan/network/program.h"
#include "boolgrad/core/fail.h"

namespace boolgrad::vulkan {

class Network final : public DeviceNetwork {
 public:
  /// The wires are copied.
  Network(int number, std::span<const LutWires> layers, const NetworkSpec& spec);
  ~Network() override;

  void set_cases(DataRole role, const Tensor& inputs, const Tensor& targets) override;
  void set_samples(DataRole role, const FeatureSamples& samples, const Tensor& targets) override;
  void set_parameters(std::span<const Tensor> parameters, std::span<const Tensor> masks,
                      const Tensor& input_mask) override;
  std::vector<Tensor> parameters() const override;
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) override;
  std::vector<Tensor> first_moments() const override;
  std::vector<Tensor> second_moments() const override;
  StepResult step(const NetworkStepArguments& arguments) override;
  double gradients(const NetworkStepArguments& arguments) override;
  std::vector<Tensor> parameter_gradients() const override;
  std::vector<Tensor> layer_outputs() const override;
  void set_candidates(std::size_t layer, const CandidateWires& candidates) override;
  WireSignals wire_signals(const NetworkStepArguments& arguments, std::size_t layer) override;
  NetworkScores evaluate(double wire_temperature) override;
  double milliseconds(int count) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace {

using Use = NetworkProgram::Use;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
std::size_t index(DataRole role) { return static_cast<std::size_t>(role); }

/// The bytes of a tensor as words, padded to a whole word, then those of another one, if given.
Array<std::uint32_t> on_device(Context& context, const Tensor& tensor, const Tensor& next = {}) {
  const std::size_t first_words = (tensor.bytes() + 3) / 4;
  const std::size_t next_bytes = next.defined() ? next.bytes() : 0;
  check_buffer(context, 4 * first_words + next_bytes);
  std::vector<std::uint32_t> words(first_words + (next_bytes + 3) / 4);
  std::memcpy(words.data(), tensor.data(), tensor.bytes());
  if (next_bytes > 0) std::memcpy(words.data() + first_words, next.data(), next_bytes);
  return {context, words};
}

std::vector<std::int64_t> in_order(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> indices(index(count));
  std::iota(indices.begin(), indices.end(), first);
  return indices;
}

/// The rows of a buffer without their padding: [count, samples].
Tensor in_rows(const std::vector<float>& padded, std::int64_t count, std::int64_t samples) {
  Tensor result({count, samples}, DType::float32);
  const auto to = result.mutable_values<float>();
  const std::size_t row = padded.size() / index(count);
  for (std::size_t at = 0; at < to.size(); ++at) {
    to[at] = padded[at / index(samples) * row + at % index(samples)];
  }
  return result;
}

/// The weights of all outputs, then the largest sum of each group.
std::vector<float> weights_of(const Head& head, std::int64_t outputs) {
  std::vector<float> weights;
  for (std::size_t i = 0; i < index(outputs); ++i) {
    weights.push_back(static_cast<float>(head.weight(i)));
  }
  for (std::int64_t group = 0; group < head.groups(); ++group) {
    weights.push_back(static_cast<float>(head.largest_sum(group, outputs)));
  }
  return weights;
}

}  // namespace

struct Network::State {
  Context& context;
  NetworkSpec spec;
  NetworkLayout layout;
  NetworkParameters parameters;
  std::array<NetworkData, 2> data;                  ///< by role
  std::array<std::vector<NetworkInput>, 2> inputs;  ///< as on the device
  std::vector<float> ranges;                        ///< of trained thresholds
  std::vector<float> input_mask;
  std::vector<float> frozen;                                   ///< as on the device
  std::optional<NetworkProgram> training, evaluation;          ///< created on first use
  std::map<HardeningKind, CommandRecorder> gradients, update;  ///< commands of training
  CommandRecorder* last_update = nullptr;

  State(int number, std::span<const LutWires> layers, const NetworkSpec& wanted)
      : context(Context::get(number)),
        spec(wanted),
        layout(network_layout(layers, wanted)),
        input_mask(index(layout.inputs()), 1.F) {
    const std::size_t room =
        index(layout.logits) + index(layout.inputs()) + index(layout.exponents);
    check_buffer(context, 2 * room * sizeof(float));
    check_buffer(context, layout.wires.size() * sizeof(std::int32_t));
    parameters.wires = {context, layout.wires};
    parameters.values = {context, room};
    parameters.values.clear();
    parameters.gradients = {context, room};
    parameters.moments = {context, 2 * room};
    parameters.moments.clear();
    parameters.masks = {context, 2 * index(layout.tables)};
    parameters.masks.clear();
    if (layout.logit_slots > 0) {
      parameters.chosen = {context, index(layout.logit_slots)};
      parameters.weights = {context, index(layout.weights)};
    }
    if (spec.head) parameters.output_weights = {context, weights_of(*spec.head, layout.outputs())};
    frozen.resize(index(layout.tables));
  }

  /// Evaluations use the training data until they have their own.
  const NetworkData& evaluation_data() const {
    const NetworkData& own = data[index(DataRole::evaluation)];
    return own.cases > 0 ? own : data[index(DataRole::training)];
  }

  std::vector<Shape> parameter_shapes() const {
    std::vector<Shape> shapes = layout.logit_shapes;
    if (parameters.learns_thresholds) shapes.push_back({layout.inputs()});
    if (layout.exponents > 0) shapes.push_back({layout.outputs()});
    return shapes;
  }

  /// Call when buffers change that programs have bound.
  void forget_programs(DataRole role) {
    evaluation.reset();
    if (role == DataRole::evaluation) return;
    gradients.clear();
    update.clear();
    last_update = nullptr;
    training.reset();
  }

  void upload_inputs(DataRole role) {
    std::vector<NetworkInput>& own = inputs[index(role)];
    if (own.empty()) return;
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i].mask = input_mask[i];
      own[i].range = ranges.empty() ? 0 : ranges[i];
    }
    data[index(role)].inputs.upload(own);
  }

  void set_data(DataRole role, NetworkData given, std::vector<NetworkInput> own) {
    forget_programs(role);
    given.inputs = {context, own.size()};
    data[index(role)] = std::move(given);
    inputs[index(role)] = std::move(own);
    upload_inputs(role);
  }

  /// Sets the threshold ranges of the training data, which apply to all data.
  void set_ranges(std::span<const float> given, double width_share) {
    ranges.assign(given.begin(), given.end());
    parameters.learns_thresholds = !given.empty();
    parameters.width_share = static_cast<float>(width_share);
    upload_inputs(DataRole::evaluation);
  }

  NetworkProgram& trained() {
    if (!training) {
      training.emplace(context, spec, layout, parameters, data[index(DataRole::training)],
                       Use::training, spec.batch);
    }
    return *training;
  }

  CommandRecorder& recorded(std::map<HardeningKind, CommandRecorder>& all, HardeningKind hardening,
                            bool updates) {
    const auto [found, is_new] = all.try_emplace(hardening, context);
    CommandRecorder& commands = found->second;
    if (!is_new) return commands;
    const NetworkProgram& program = trained();
    program.gather(commands);
    program.forward(commands);
    program.loss(commands);
    program.backward(commands);
    if (updates) program.update(commands);
    return commands;
  }

  void set_frozen(std::span<const Tensor> given) {
    std::vector<float> wanted = flat(given);
    if (wanted == frozen) return;
    frozen = std::move(wanted);
    parameters.masks.upload(frozen, index(layout.tables));
  }

  /// The training program with the arguments of a step.
  NetworkProgram& prepared(const NetworkStepArguments& step) {
    const NetworkData& own = data[index(DataRole::training)];
    check_step("vulkan", step, spec.batch, {.samples = own.cases, .has_images = own.has_images},
               layout.tables_of_layers());
    NetworkProgram& program = trained();
    if (step.samples.empty()) program.set_batch(in_order(0, spec.batch));
    else program.set_batch(step.samples, step.transforms);
    program.set_hardening(step.hardening);
    program.set_wire_temperature(step.wire_temperature);
    if (spec.head) {
      program.set_head_temperature(step.head_temperature.value_or(spec.head->temperature));
    }
    if (hardening_for_shaders(step.hardening) == HardeningKind::freeze) set_frozen(step.frozen);
    return program;
  }

  std::vector<Tensor> in_tensors(const Array<float>& all, std::size_t first = 0) const {
    const std::size_t offsets = parameters.learns_thresholds ? index(layout.inputs()) : 0;
    return tensors_of(parameter_shapes(),
                      all.values(first, index(layout.logits) + offsets + index(layout.exponents)));
  }
};

Network::Network(int number, std::span<const LutWires> layers, const NetworkSpec& spec)
    : state_(std::make_unique<State>(number, layers, spec)) {}

Network::~Network() = default;

void Network::set_cases(DataRole role, const Tensor& inputs, const Tensor& targets) {
  State& s = *state_;
  check_cases("vulkan", inputs, targets, s.layout.inputs(), s.layout.outputs(), s.spec);
  NetworkData data;
  data.cases = inputs.shape()[1];
  data.kind = DataKind::rows;
  data.data = on_device(s.context, inputs);
  data.targets = on_device(s.context, targets);
  std::vector<NetworkInput> own(index(s.layout.inputs()));
  for (std::size_t i = 0; i < own.size(); ++i) own[i].feature = static_cast<std::int32_t>(i);
  if (role == DataRole::training) s.set_ranges({}, 0);
  s.set_data(role, std::move(data), std::move(own));
}

void Network::set_samples(DataRole role, const FeatureSamples& samples, const Tensor& targets) {
  State& s = *state_;
  check_samples("vulkan", samples, targets, s.layout.inputs(), s.layout.outputs(), s.spec);
  const Tensor& features = samples.features;
  if (features.size() > std::numeric_limits<std::int32_t>::max()) {
    fail("vulkan", "expected fewer than 2^31 features in all samples, received {}",
         features.size());
  }
  NetworkData data;
  data.cases = features.shape()[0];
  data.kind = features.dtype() == DType::uint8 ? DataKind::bytes : DataKind::floats;
  data.features = features.shape()[1];
  data.has_images = samples.height > 0;
  // Other features are an image of a single row, which is never transformed.
  data.height = data.has_images ? samples.height : 1;
  data.width = data.has_images ? samples.width : data.features;
  data.data = on_device(s.context, features);
  data.targets = on_device(s.context, targets, samples.soft_targets);
  data.has_soft_targets = samples.soft_targets.defined();
  std::vector<NetworkInput> own(index(s.layout.inputs()));
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i].feature = samples.sources[i];
    own[i].threshold = samples.thresholds[i];
  }
  if (role == DataRole::training) s.set_ranges(samples.ranges, samples.width_share);
  s.set_data(role, std::move(data), std::move(own));
}

void Network::set_parameters(std::span<const Tensor> parameters, std::span<const Tensor> masks,
                             const Tensor& input_mask) {
  State& s = *state_;
  check_masks("vulkan", masks, s.layout.tables_of_layers(), input_mask, s.layout.inputs());
  check_of_layers("vulkan", parameters, s.parameter_shapes());
  s.parameters.values.upload(flat(parameters));
  s.parameters.masks.upload(flat(masks));
  const auto mask = input_mask.values<float>();
  s.input_mask.assign(mask.begin(), mask.end());
  for (const DataRole role : {DataRole::training, DataRole::evaluation}) s.upload_inputs(role);
}

std::vector<Tensor> Network::parameters() const {
  return state_->in_tensors(state_->parameters.values);
}

void Network::set_moments(std::span<const Tensor> first, std::span<const Tensor> second) {
  State& s = *state_;
  check_of_layers("vulkan", first, s.parameter_shapes());
  check_of_layers("vulkan", second, s.parameter_shapes());
  s.parameters.moments.upload(flat(first));
  s.parameters.moments.upload(flat(second), s.parameters.moments.size() / 2);
}

std::vector<Tensor> Network::first_moments() const {
  return state_->in_tensors(state_->parameters.moments);
}

std::vector<Tensor> Network::second_moments() const {
  const Array<float>& moments = state_->parameters.moments;
  return state_->in_tensors(moments, moments.size() / 2);
}

StepResult Network::step(const NetworkStepArguments& arguments) {
  State& s = *state_;
  NetworkProgram& program = s.prepared(arguments);
  program.set_update(arguments.step, arguments.learning_rate);
  s.last_update = &s.recorded(s.update, hardening_for_shaders(arguments.hardening), true);
  s.last_update->run();
  return {.loss = program.loss(),
          .finite = program.was_finite(),
          .sum_deviation = arguments.head_temperature ? program.sum_deviation() : 0};
}

double Network::gradients(const NetworkStepArguments& arguments) {
  State& s = *state_;
  const NetworkProgram& program = s.prepared(arguments);
  s.recorded(s.gradients, hardening_for_shaders(arguments.hardening), false).run();
  return program.loss();
}

WireSignals Network::wire_signals(const NetworkStepArguments& arguments, std::size_t layer) {
  State& s = *state_;
  if (layer >= s.layout.slots.size() || !s.layout.slots[layer]) {
    fail("vulkan", "expected a layer with learned wires, received layer {}", layer);
  }
  const NetworkProgram& program = s.prepared(arguments);
  CommandRecorder commands(s.context);
  program.gather(commands);
  program.forward(commands);
  program.loss(commands);
  program.backward_to_slots(commands, layer);
  commands.run();
  const LayerLayout& slots = *s.layout.slots[layer];
  const std::int64_t samples = program.samples();
  return {.inputs = in_rows(program.rows(slots.in_row, slots.inputs), slots.inputs, samples),
          .slot_gradients = in_rows(program.gradient_rows(slots), slots.gates, samples)};
}

std::vector<Tensor> Network::parameter_gradients() const {
  return state_->in_tensors(state_->parameters.gradients);
}

std::vector<Tensor> Network::layer_outputs() const {
  State& s = *state_;
  std::vector<Tensor> result;
  for (const StageLayout& stage : s.layout.stages) {
    const bool is_summed = s.spec.head && stage.last + 1 == s.layout.layers.size();
    if (is_summed) continue;
    const NetworkProgram& program = s.trained();
    result.push_back(
        in_rows(program.outputs(stage.last), s.layout.layers[stage.last].gates, program.samples()));
  }
  return result;
}

void Network::set_candidates(std::size_t layer, const CandidateWires& candidates) {
  State& s = *state_;
  const bool is_there = layer < s.layout.slots.size() && s.layout.slots[layer];
  check_candidates("vulkan", layer, is_there ? s.layout.slots[layer]->size() : CandidateWires{},
                   candidates);
  if (candidates.has_all()) return;
  const LayerLayout& slots = *s.layout.slots[layer];
  s.parameters.wires.upload(candidate_sources(candidates), index(slots.sources));
  s.parameters.wires.upload(candidates.first_use, index(slots.first_reader));
  s.parameters.wires.upload(candidates.uses, index(slots.readers));
}

NetworkScores Network::evaluate(double wire_temperature) {
  State& s = *state_;
  const NetworkData& data = s.evaluation_data();
  if (data.cases == 0) fail("vulkan", "no samples to evaluate");
  const std::int64_t batch = evaluation_samples(s.context, s.layout, data.cases);
  if (!s.evaluation) {
    s.evaluation.emplace(s.context, s.spec, s.layout, s.parameters, data, Use::evaluation, batch);
  }
  NetworkProgram& program = *s.evaluation;
  program.set_wire_temperature(wire_temperature);
  ScoreCollector scores(s.spec, s.layout.outputs(), data.cases);
  for (std::int64_t first = 0; first < data.cases; first += batch) {
    const EvaluationPart part{first, std::min(batch, data.cases - first)};
    program.set_batch(in_order(part.first, part.count));
    CommandRecorder commands(s.context);
    program.gather(commands);
    program.forward(commands);
    if (s.spec.head) program.sum_groups(commands);
    program.harden(commands);
    if (s.spec.head) program.count_groups(commands);
    commands.run();
    const auto stride = static_cast<std::int64_t>(program.row());
    if (s.spec.head) {
      const std::vector<float> hard = program.scores(true);
      scores.add_soft(part, program.scores(false), stride);
      scores.add_hard_sums(part, std::vector<std::int32_t>(hard.begin(), hard.end()), stride);
    } else {
      scores.add_soft(part, program.outputs(s.layout.layers.size() - 1), stride);
      scores.add_hard_bits(part, program.hard_outputs(), program.words());
    }
  }
  return scores.take();
}

double Network::milliseconds(int count) {
  State& s = *state_;
  if (s.last_update == nullptr) fail("vulkan", "no step has been run yet");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) s.last_update->run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

std::unique_ptr<DeviceNetwork> make_network(int number, std::span<const LutWires> layers,
                                            const NetworkSpec& spec) {
  return std::make_unique<Network>(number, layers, spec);
}

}  // namespace boolgrad::vulkan
