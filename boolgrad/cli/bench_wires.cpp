// The benchmark "wires": training steps of one layer of 8,000 gates on thresholded images, with
// fixed wires and with different numbers of candidates per gate input.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/cli/bench.h"
#include "boolgrad/cli/op_cases.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/logic/network.h"

namespace boolgrad::cli {
namespace {

constexpr std::int64_t pixels = 784;
constexpr std::int64_t thresholds_per_pixel = 2;
constexpr std::int64_t gates = 8000;
constexpr std::int64_t batch = 256;
constexpr std::int64_t classes = 10;

/// Random images and their thresholds.
struct Images {
  Tensor features{{batch, pixels}, DType::uint8};
  Tensor labels{{batch}, DType::int32};
  std::vector<std::int32_t> sources;
  std::vector<float> thresholds;

  Images() {
    RandomAddress at{.seed = 1, .stream = 1};
    for (std::uint8_t& value : features.mutable_values<std::uint8_t>()) {
      value = static_cast<std::uint8_t>(random_below(at, 256));
      ++at.index;
    }
    for (std::int32_t& label : labels.mutable_values<std::int32_t>()) {
      label = static_cast<std::int32_t>(random_below(at, classes));
      ++at.index;
    }
    for (std::int64_t bit = 0; bit < pixels * thresholds_per_pixel; ++bit) {
      sources.push_back(static_cast<std::int32_t>(bit % pixels));
      thresholds.push_back(bit < pixels ? 85.F : 170.F);
    }
  }
};

std::unique_ptr<DeviceNetwork> program_of(const Device& device, const Images& images,
                                          std::int64_t candidates) {
  logic::Network network(std::ssize(images.sources), Parametrisation::sigmoid, DType::float32);
  network.add_layer({.gates = gates, .candidates = candidates, .seed = 1});
  auto program = logic::make_network_program(
      device, network,
      {.batch = batch,
       .parametrisation = Parametrisation::sigmoid,
       .head = Head{.kind = HeadKind::classes, .classes = classes, .temperature = 8}});
  program->set_samples(
      DataRole::training,
      {.features = images.features, .sources = images.sources, .thresholds = images.thresholds},
      images.labels);
  program->set_parameters(logic::detached(network.parameters()), masks_of(network),
                          network.input_mask());
  return program;
}

NetworkStepArguments step_arguments() {
  return {.learning_rate = 0.01,
          .hardening = {.kind = HardeningKind::straight_through, .share = 1}};
}

/// The largest difference of the gradients from those of the CPU, relative to the largest gradient.
double error_of(DeviceNetwork& program, const Images& images, std::int64_t candidates) {
  const auto reference = program_of(Device{}, images, candidates);
  reference->gradients(step_arguments());
  program.gradients(step_arguments());
  const std::vector<Tensor> expected = reference->parameter_gradients();
  const std::vector<Tensor> received = program.parameter_gradients();
  double worst = 0;
  for (std::size_t t = 0; t < expected.size(); ++t) {
    worst = std::max(worst, relative_error(received[t], expected[t]));
  }
  return worst;
}

}  // namespace

void bench_wires(const BenchOptions& options, const Report& report, nlohmann::json& facts) {
  const Images images;
  facts["batch"] = batch;
  for (const std::int64_t candidates : {1, 4, 16, 64, 256, 0}) {
    const auto program = program_of(options.device, images, candidates);
    const std::string name = candidates == 1   ? "fixed"
                             : candidates == 0 ? "all"
                                               : std::to_string(candidates);
    BenchmarkRow row{"wires." + name, {}, error_of(*program, images, candidates)};
    const int count = options.repeat > 0 ? options.repeat : options.device.is_cpu() ? 5 : 200;
    program->step(step_arguments());
    program->milliseconds(count);  // warms up
    std::vector<double> times;
    constexpr int rounds = 5;
    for (int i = 0; i < rounds; ++i) times.push_back(program->milliseconds(count) / count);
    std::ranges::sort(times);
    row.time = {times[rounds / 2], times.front()};
    report(row);
  }
}

}  // namespace boolgrad::cli
