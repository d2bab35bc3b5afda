#include "boolgrad/cli/bench_networks.h"

#include <algorithm>
#include <array>

#include "boolgrad/cli/op_cases.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/host_network.h"

namespace boolgrad::cli {

RandomImages::RandomImages(std::int64_t samples, std::int64_t thresholds_per_pixel)
    : features({samples, side * side}, DType::uint8), labels({samples}, DType::int32) {
  constexpr std::uint64_t values = 256;
  RandomAddress at{.seed = 1, .stream = 1};
  for (std::uint8_t& value : features.mutable_values<std::uint8_t>()) {
    value = static_cast<std::uint8_t>(random_below(at, values));
    ++at.index;
  }
  for (std::int32_t& label : labels.mutable_values<std::int32_t>()) {
    label = static_cast<std::int32_t>(random_below(at, classes));
    ++at.index;
  }
  const float distance = values / static_cast<float>(thresholds_per_pixel + 1);
  for (std::int64_t t = 1; t <= thresholds_per_pixel; ++t) {
    for (std::int32_t pixel = 0; pixel < side * side; ++pixel) {
      sources.push_back(pixel);
      thresholds.push_back(static_cast<float>(t) * distance);
    }
  }
}

std::unique_ptr<DeviceNetwork> RandomImages::program(const Device& device,
                                                     const logic::Network& network,
                                                     double temperature) const {
  auto program = logic::make_network_program(
      device, network,
      {.batch = features.shape()[0],
       .parametrisation = network.parametrisation(),
       .head = Head{.kind = HeadKind::classes, .classes = classes, .temperature = temperature}});
  program->set_samples(DataRole::training,
                       {.features = features, .sources = sources, .thresholds = thresholds},
                       labels);
  program->set_parameters(logic::detached(network.parameters()), masks_of(network),
                          network.input_mask());
  return program;
}

double gradient_error(DeviceNetwork& program, DeviceNetwork& reference,
                      const NetworkStepArguments& arguments) {
  reference.gradients(arguments);
  program.gradients(arguments);
  const std::vector<Tensor> expected = reference.parameter_gradients();
  const std::vector<Tensor> received = program.parameter_gradients();
  double worst = 0;
  for (std::size_t t = 0; t < expected.size(); ++t) {
    if (expected[t].size() == 0) continue;  // of a pooling layer
    const double error = relative_error(received[t], expected[t]);
    if (!(error <= worst)) worst = error;  // so that a NaN stays
  }
  return worst;
}

Timing time_of_step(DeviceNetwork& program, const NetworkStepArguments& arguments, int count) {
  program.step(arguments);
  program.milliseconds(count);  // warms up
  std::array<double, 5> times{};
  for (double& time : times) time = program.milliseconds(count) / count;
  std::ranges::sort(times);
  return {times[times.size() / 2], times.front()};
}

}  // namespace boolgrad::cli
