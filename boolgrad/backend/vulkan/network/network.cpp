#include "boolgrad/backend/vulkan/network/network.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "boolgrad/backend/device/network_checks.h"
#include "boolgrad/backend/vulkan/network/program.h"
#include "boolgrad/core/error.h"

namespace boolgrad::vulkan {

class Network final : public DeviceNetwork {
 public:
  /// The wires are copied.
  Network(int number, std::span<const LutWires> layers, const NetworkPlan& plan);
  ~Network() override;

  void set_cases(const Tensor& inputs, const Tensor& targets) override;
  void set_samples(const BitSamples& samples, const Tensor& targets) override;
  void set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks,
                      const Tensor& input_mask) override;
  std::vector<Tensor> logits() const override;
  void set_moments(std::span<const Tensor> first, std::span<const Tensor> second) override;
  std::vector<Tensor> first_moments() const override;
  std::vector<Tensor> second_moments() const override;
  void set_hard_share(double share) override;
  NetworkStep step(std::span<const std::int64_t> picked, std::int64_t step, double learning_rate,
                   std::span<const ImageShift> moves) override;
  double gradients(std::span<const std::int64_t> picked,
                   std::span<const ImageShift> moves) override;
  std::vector<Tensor> logit_gradients() const override;
  std::vector<Tensor> outputs() const override;
  NetworkScore evaluate() override;
  Tensor hard_outputs() override;
  double milliseconds(int count) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

namespace {

using Use = NetworkProgram::Use;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The bytes of a tensor as words, the last one filled up.
Array<std::uint32_t> on_device(Context& context, const Tensor& tensor) {
  check_buffer(context, tensor.bytes());
  std::vector<std::uint32_t> words((tensor.bytes() + 3) / 4);
  std::memcpy(words.data(), tensor.data(), tensor.bytes());
  return {context, words};
}

void upload(Array<float>& to, std::span<const Tensor> tensors, std::size_t at = 0) {
  for (const Tensor& tensor : tensors) {
    to.upload(tensor.values<float>(), at);
    at += index(tensor.size());
  }
}

std::vector<std::int64_t> in_order(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> numbers(index(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

struct Network::State {
  Context& context;
  NetworkPlan plan;
  NetworkPlaces places;
  NetworkMemory memory;
  std::vector<NetworkInput> inputs;  ///< as they are on the device
  double hard_share = 0;
  std::optional<NetworkProgram> training, evaluation;  ///< made when they are first used
  std::optional<Recording> gradients, update;          ///< of training

  State(int number, std::span<const LutWires> layers, const NetworkPlan& wanted)
      : context(Context::get(number)),
        plan(wanted),
        places(places_for(layers, wanted)),
        inputs(index(places.inputs())) {
    const std::size_t logits = index(places.logits);
    check_buffer(context, 2 * logits * sizeof(float));
    check_buffer(context, places.wires.size() * sizeof(std::int32_t));
    memory.wires = {context, places.wires};
    memory.logits = {context, logits};
    memory.gradients = {context, logits};
    memory.moments = {context, 2 * logits};
    memory.moments.clear();
    memory.masks = {context, index(places.gates)};
    memory.inputs = {context, inputs.size()};
    for (NetworkInput& input : inputs) input.mask = 1;
  }

  /// Cases that are new, and with them all that has buffers for them.
  void set_cases(Array<std::uint32_t> data, const Tensor& targets) {
    gradients.reset();
    update.reset();
    training.reset();
    evaluation.reset();
    memory.data = std::move(data);
    memory.targets = on_device(context, targets);
    memory.inputs.upload(inputs);
  }

  NetworkProgram& trained() {
    if (!training) {
      training.emplace(context, plan, places, memory, Use::training, plan.batch);
    }
    return *training;
  }

  void record_gradients(Recording& to) {
    const NetworkProgram& program = trained();
    program.gather(to);
    program.forward(to);
    program.judge(to);
    program.backward(to);
  }

  Recording& recorded_gradients() {
    if (!gradients) record_gradients(gradients.emplace(context));
    return *gradients;
  }

  Recording& recorded_update() {
    if (!update) {
      record_gradients(update.emplace(context));
      trained().update(*update);
    }
    return *update;
  }

  /// The cases of a step, on which the program then is.
  NetworkProgram& prepared(std::span<const std::int64_t> picked,
                           std::span<const ImageShift> moves) {
    check_step("vulkan", {picked, moves}, plan.batch, memory.cases, memory.has_pictures);
    NetworkProgram& program = trained();
    if (picked.empty()) program.pick(in_order(0, plan.batch));
    else program.pick(picked, moves);
    program.set_hard_share(hard_share);
    return program;
  }

  /// Calls `with(program, first case)` for parts of all cases in order, once `record` is run.
  template <class Record, class With>
  void for_all_cases(Record record, With with) {
    const std::int64_t part = evaluation_samples(context, places, memory.cases);
    if (!evaluation) {
      evaluation.emplace(context, plan, places, memory, Use::evaluation, part);
    }
    for (std::int64_t first = 0; first < memory.cases; first += part) {
      evaluation->pick(in_order(first, std::min(part, memory.cases - first)));
      Recording recording(context);
      record(*evaluation, recording);
      recording.run();
      with(*evaluation, first);
    }
  }

  std::vector<Tensor> in_layers(const Array<float>& flat, std::size_t first = 0) const {
    std::vector<Tensor> result;
    for (const Shape& shape : places.logit_shapes) {
      Tensor tensor(shape, DType::float32);
      const std::size_t count = index(tensor.size());
      std::ranges::copy(flat.values(first, count), tensor.mutable_values<float>().begin());
      first += count;
      result.push_back(std::move(tensor));
    }
    return result;
  }
};

Network::Network(int number, std::span<const LutWires> layers, const NetworkPlan& plan)
    : state_(std::make_unique<State>(number, layers, plan)) {}

Network::~Network() = default;

void Network::set_cases(const Tensor& inputs, const Tensor& targets) {
  State& s = *state_;
  check_cases("vulkan", inputs, targets, s.places.inputs(), s.places.outputs(), s.plan);
  NetworkMemory& memory = s.memory;
  memory.cases = inputs.shape()[1];
  memory.form = DataForm::rows;
  memory.has_pictures = false;
  memory.features = 0;
  memory.height = memory.width = 1;
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    s.inputs[i].feature = static_cast<std::int32_t>(i);
  }
  s.set_cases(on_device(s.context, inputs), targets);
}

void Network::set_samples(const BitSamples& samples, const Tensor& targets) {
  State& s = *state_;
  check_samples("vulkan", samples, targets, s.places.inputs(), s.places.outputs(), s.plan);
  const Tensor& features = samples.features;
  if (features.size() > std::numeric_limits<std::int32_t>::max()) {
    fail("vulkan", "expected fewer than 2^31 features of all samples, received {}",
         features.size());
  }
  NetworkMemory& memory = s.memory;
  memory.cases = features.shape()[0];
  memory.form = features.dtype() == DType::uint8 ? DataForm::bytes : DataForm::numbers;
  memory.features = features.shape()[1];
  memory.has_pictures = samples.height > 0;
  // What is no picture is one of a single row, which is never moved.
  memory.height = memory.has_pictures ? samples.height : 1;
  memory.width = memory.has_pictures ? samples.width : memory.features;
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    s.inputs[i].feature = samples.sources[i];
    s.inputs[i].level = samples.levels[i];
  }
  s.set_cases(on_device(s.context, features), targets);
}

void Network::set_parameters(std::span<const Tensor> logits, std::span<const Tensor> masks,
                             const Tensor& input_mask) {
  State& s = *state_;
  check_masks("vulkan", masks, s.places.gates_of_layers(), input_mask, s.places.inputs());
  check_of_layers("vulkan", logits, s.places.logit_shapes);
  upload(s.memory.logits, logits);
  upload(s.memory.masks, masks);
  const auto mask = input_mask.values<float>();
  for (std::size_t i = 0; i < s.inputs.size(); ++i) s.inputs[i].mask = mask[i];
  s.memory.inputs.upload(s.inputs);
}

std::vector<Tensor> Network::logits() const { return state_->in_layers(state_->memory.logits); }

void Network::set_moments(std::span<const Tensor> first, std::span<const Tensor> second) {
  State& s = *state_;
  check_of_layers("vulkan", first, s.places.logit_shapes);
  check_of_layers("vulkan", second, s.places.logit_shapes);
  upload(s.memory.moments, first);
  upload(s.memory.moments, second, index(s.places.logits));
}

std::vector<Tensor> Network::first_moments() const {
  return state_->in_layers(state_->memory.moments);
}

std::vector<Tensor> Network::second_moments() const {
  return state_->in_layers(state_->memory.moments, index(state_->places.logits));
}

void Network::set_hard_share(double share) { state_->hard_share = share; }

NetworkStep Network::step(std::span<const std::int64_t> picked, std::int64_t step,
                          double learning_rate, std::span<const ImageShift> moves) {
  State& s = *state_;
  NetworkProgram& program = s.prepared(picked, moves);
  program.set_update(step, learning_rate);
  s.recorded_update().run();
  return {.loss = program.loss(), .finite = program.was_finite()};
}

double Network::gradients(std::span<const std::int64_t> picked,
                          std::span<const ImageShift> moves) {
  State& s = *state_;
  const NetworkProgram& program = s.prepared(picked, moves);
  s.recorded_gradients().run();
  return program.loss();
}

std::vector<Tensor> Network::logit_gradients() const {
  return state_->in_layers(state_->memory.gradients);
}

std::vector<Tensor> Network::outputs() const {
  State& s = *state_;
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < s.places.layers.size(); ++i) {
    const bool is_summed = s.plan.has_classes() && i + 1 == s.places.layers.size();
    if (!is_summed) result.push_back(s.trained().outputs(i));
  }
  return result;
}

NetworkScore Network::evaluate() {
  NetworkScore score;
  state_->for_all_cases(
      [](const NetworkProgram& program, Recording& to) {
        program.gather(to);
        program.forward(to);
        program.judge(to);
        program.harden(to);
        program.compare(to);
      },
      [&](const NetworkProgram& program, std::int64_t /*first*/) {
        score.soft_loss += program.loss();
        for (const NetworkMistakes& mistakes : program.mistakes()) {
          score.soft_wrong_cases += mistakes.soft_case;
          score.hard_wrong_bits += mistakes.hard_bits;
          score.hard_wrong_cases += mistakes.hard_case;
        }
      });
  return score;
}

Tensor Network::hard_outputs() {
  State& s = *state_;
  const std::int64_t cases = s.memory.cases;
  Tensor result({s.places.outputs(), cases}, DType::uint8);
  const auto to = result.mutable_values<std::uint8_t>();
  s.for_all_cases(
      [](const NetworkProgram& program, Recording& recording) {
        program.gather(recording);
        program.harden(recording);
      },
      [&](const NetworkProgram& program, std::int64_t first) {
        const std::vector<std::uint32_t> bits = program.hard_outputs();
        const std::size_t samples = index(program.samples());
        const std::size_t words = (samples + 31) / 32;
        for (std::size_t at = 0; at < index(s.places.outputs()) * samples; ++at) {
          const std::size_t sample = at % samples;
          const std::uint32_t word = bits[at / samples * words + sample / 32];
          to[at / samples * index(cases) + index(first) + sample] =
              static_cast<std::uint8_t>(word >> (sample % 32) & 1U);
        }
      });
  return result;
}

double Network::milliseconds(int count) {
  State& s = *state_;
  if (!s.update) fail("vulkan", "expected a step before it is timed, received none");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) s.update->run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

std::unique_ptr<DeviceNetwork> make_network(int number, std::span<const LutWires> layers,
                                            const NetworkPlan& plan) {
  return std::make_unique<Network>(number, layers, plan);
}

}  // namespace boolgrad::vulkan
