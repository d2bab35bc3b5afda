// The benchmark "lut" on a GPU: training steps of a wide classifier of two-input soft gates and, on
// CUDA, the lower bound given by its memory traffic.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/backend/cuda/runtime/machine_rates.h"
#include "boolgrad/cli/bench.h"
#include "boolgrad/cli/bench_networks.h"
#include "boolgrad/cli/op_cases.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/logic/network.h"

namespace boolgrad::cli {
namespace {

constexpr std::int64_t standard_inputs = 784;
constexpr std::int64_t standard_width = 64'000;
constexpr std::size_t standard_layers = 6;
constexpr std::int64_t standard_classes = 10;
constexpr double standard_temperature = 30;
constexpr double learning_rate = 0.01;

/// A network, a batch with labels, and reference results if they are known.
struct Classifier {
  logic::Network network;
  std::int64_t classes = standard_classes;
  double temperature = standard_temperature;
  Tensor x;
  Tensor labels;
  Tensor loss = {};
  std::vector<Tensor> gradients = {};

  std::int64_t batch() const { return x.shape()[1]; }
};

Classifier standard_classifier(std::int64_t batch) {
  logic::Network network(standard_inputs, Parametrisation::softmax16, DType::float32);
  for (std::uint32_t layer = 0; layer < standard_layers; ++layer) {
    network.add_layer(
        logic::random_wiring({network.outputs(), standard_width}, 1, layer),
        logic::initial_logits(network.parametrisation(), standard_width, 2, DType::float32,
                              {logic::Initialisation::gaussian, 1}, 1, layer));
  }
  Tensor x({standard_inputs, batch}, DType::float32);
  std::uint64_t index = 0;
  for (float& value : x.mutable_values<float>()) {
    value = static_cast<float>(random_uniform({.seed = 1, .stream = 1, .index = index++}));
  }
  Tensor labels({batch}, DType::int32);
  for (std::int32_t& label : labels.mutable_values<std::int32_t>()) {
    label = static_cast<std::int32_t>(
        random_below({.seed = 1, .stream = 2, .index = index++}, standard_classes));
  }
  return {.network = std::move(network), .x = x, .labels = labels};
}

Classifier classifier_in(const std::string& path) {
  const TensorFile file = load_safetensors(path);
  const auto part = [&](const std::string& name) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end()) {
      fail("bench", "{}: expected the tensor {}, received none", path, name);
    }
    return found->second;
  };
  Classifier result{.network = logic::Network::from_file(file),
                    .classes = static_cast<std::int64_t>(part("classes").item()),
                    .temperature = part("temperature").item(),
                    .x = part("x"),
                    .labels = part("labels"),
                    .loss = part("loss")};
  for (std::size_t i = 0; i < result.network.layers().size(); ++i) {
    result.gradients.push_back(part(fmt::format("gradient.{}", i)));
  }
  return result;
}

std::unique_ptr<DeviceNetwork> on_device(const Device& name, const Classifier& of) {
  auto device = logic::make_network_program(
      name, of.network,
      {.batch = of.batch(),
       .parametrisation = of.network.parametrisation(),
       .head =
           Head{.kind = HeadKind::classes, .classes = of.classes, .temperature = of.temperature}});
  device->set_cases(DataRole::training, of.x, of.labels);
  device->set_parameters(of.network.parameters(), masks_of(of.network), of.network.input_mask());
  return device;
}

// The largest error of the loss and all gradients; 0 without reference results.
double error_of(const Classifier& of, DeviceNetwork& device) {
  if (of.gradients.empty()) return 0;
  const double loss = device.gradients({});
  double error = relative_error(Tensor::scalar(loss, DType::float64), of.loss);
  const std::vector<Tensor> gradients = device.parameter_gradients();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const double next = relative_error(gradients[i], of.gradients[i]);
    if (!(next <= error)) error = next;  // so that a NaN stays
  }
  return error;
}

/// Minimum memory traffic of a step, in gigabytes.
struct Floor {
  double cache = 0;   ///< through the second-level cache
  double memory = 0;  ///< the part that also goes through memory

  // Logits and moments are read and written once. Activations, except those of the last layer,
  // which are only summed, are written and read in the forward pass and read in the backward pass.
  // Their gradients are written and read once. Between two layers, activations and gradients can
  // stay in the cache; activations for the backward pass cannot.
  explicit Floor(const Classifier& of) {
    const auto row = static_cast<double>(of.batch()) * sizeof(float) * 1e-9;
    double activations = 0;
    for (std::size_t i = 0; i + 1 < of.network.layers().size(); ++i) {
      activations += static_cast<double>(of.network.layers()[i].wiring->gates()) * row;
    }
    double parameters = 0;
    for (const Tensor& logits : of.network.parameters()) {
      parameters += static_cast<double>(logits.size()) * sizeof(float) * 6e-9;
    }
    cache = parameters + activations * 5;
    memory = parameters + activations * 2;
  }
};

/// The time of the memory traffic at the measured rates of the device.
nlohmann::json floor_on_cuda(const Floor& floor, double median_ms) {
  const cuda::MachineRates rates = cuda::measure_machine_rates();
  const double cache_ms = floor.cache / rates.cache_gigabytes * 1e3;
  const double memory_ms = floor.memory / rates.memory_gigabytes * 1e3;
  return {{"cache_gigabyte", floor.cache},
          {"memory_gigabyte", floor.memory},
          {"cache_gigabytes_per_second", rates.cache_gigabytes},
          {"memory_gigabytes_per_second", rates.memory_gigabytes},
          {"ms", std::max(cache_ms, memory_ms)},
          {"share_reached", std::max(cache_ms, memory_ms) / median_ms}};
}

}  // namespace

void bench_lut_on_device(const BenchOptions& options, const Report& report, nlohmann::json& facts) {
  const Classifier classifier =
      options.file.empty() ? standard_classifier(options.batch) : classifier_in(options.file);
  const auto device = on_device(options.device, classifier);
  BenchmarkRow step{"lut.step", {}, error_of(classifier, *device)};
  const int count = options.repeat > 0 ? options.repeat : 200;
  step.time = time_of_step(*device, {.learning_rate = learning_rate}, count);
  const Floor floor(classifier);
  step.bytes = floor.cache * 1e9;
  report(step);

  facts["batch"] = classifier.batch();
  if (options.device.backend == Backend::cuda)
    facts["floor"] = floor_on_cuda(floor, step.time.median_ms);
}

}  // namespace boolgrad::cli
