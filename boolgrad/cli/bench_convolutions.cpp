// The benchmark "convolutions": training steps of convolutional classifiers of images of 28x28
// bits, with the sizes of mnist-conv-s and of the published model M, and the least memory
// traffic and arithmetic that a step needs.
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boolgrad/backend/cpu/runtime/machine_rates.h"
#include "boolgrad/backend/cuda/runtime/machine_rates.h"
#include "boolgrad/backend/plan/network_stages.h"
#include "boolgrad/cli/bench.h"
#include "boolgrad/cli/bench_networks.h"
#include "boolgrad/logic/convolution_layers.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/logic/network.h"

namespace boolgrad::cli {
namespace {

constexpr std::int64_t batch = 256;
constexpr std::uint64_t seed = 1;
constexpr logic::InitialOptions initialisation{.kind = logic::Initialisation::residual,
                                               .strength = 2};

/// The sizes of a classifier. The kernels of its three convolutions are 1, 3 and 9 times `kernels`,
/// and its dense layers have 4, 2 and 1 times `outputs`.
struct Size {
  std::string_view name;
  std::int64_t kernels;
  std::int64_t outputs;
  double temperature;
};

constexpr std::array sizes = {Size{"s", 16, 2'560, 6.5}, Size{"m", 64, 20'480, 28}};

logic::Network classifier(const Size& size) {
  logic::ImageSize image{.height = RandomImages::side, .width = RandomImages::side};
  logic::Network network(image.bits(), Parametrisation::sigmoid, DType::float32);
  const std::array convolutions = {
      logic::ConvolutionOptions{.kernels = size.kernels, .window = 5},
      logic::ConvolutionOptions{.kernels = 3 * size.kernels, .padding = 1},
      logic::ConvolutionOptions{.kernels = 9 * size.kernels, .padding = 1}};
  for (const logic::ConvolutionOptions& options : convolutions) {
    image =
        logic::add_convolution(network, image, options, {.initial = initialisation, .seed = seed});
  }
  for (const std::int64_t factor : {4, 2, 1}) {
    network.add_layer(
        {.gates = factor * size.outputs, .seed = seed, .initialisation = initialisation});
  }
  return network;
}

/// Adds the work of a step to a row.
///
/// Bytes: forward, a stage reads its inputs and writes its outputs; backward, it reads its inputs
/// and the gradients of its outputs and writes those of its inputs. Gradients of the bits of images
/// are not needed, and the outputs of the last stage are only summed. Logits and their moments are
/// read and written once.
///
/// Operations: those of the benchmark "lut", 6 per gate and sample forward and 15 backward. A
/// pooled value takes a comparison forward and a selection backward. Recomputation does not count.
void add_work(const logic::Network& network, BenchmarkRow& row) {
  const std::vector<LutWires> layers = logic::wires_of(network);
  const std::vector<NetworkStage> stages = network_stages(layers);
  constexpr double activation = sizeof(float) * static_cast<double>(batch);
  for (const NetworkStage& stage : stages) {
    const bool is_first = stage.first == 0;
    const bool is_last = stage.end() == layers.size();
    const auto inputs = static_cast<double>(layers[stage.first].layer_inputs());
    const auto outputs = static_cast<double>(layers[stage.last()].gates);
    row.bytes += inputs * (is_first ? 2 : 3) * activation;
    row.bytes += outputs * (is_last ? 0 : 2) * activation;
  }
  for (const LutWires& layer : layers) {
    const auto gates = static_cast<double>(layer.gates * batch);
    row.operations += layer.pools ? gates * layer.arity * 2 : gates * (6 + 15);
  }
  for (const Tensor& logits : network.parameters()) {
    row.bytes += static_cast<double>(logits.size() * 3 * 2) * sizeof(float);
  }
}

void add_machine(const Device& device, nlohmann::json& facts) {
  if (device.is_cpu()) {
    const cpu::MachineRates rates = cpu::measure_machine_rates();
    facts["machine"] = {{"gflops", rates.gflops}, {"gigabytes", rates.gigabytes}};
  } else if (device.backend == Backend::cuda) {
    const cuda::MachineRates rates = cuda::measure_machine_rates();
    facts["machine"] = {{"gigabytes", rates.memory_gigabytes},
                        {"cache_gigabytes", rates.cache_gigabytes}};
  }
}

}  // namespace

void bench_convolutions(const BenchOptions& options, const Report& report, nlohmann::json& facts) {
  const RandomImages images(batch, 1);
  const NetworkStepArguments step{.learning_rate = 0.01};
  // Bits tie for the maximum alike on all devices. Rounding may decide between soft values that are
  // nearly equal, and then their gradient goes to another position.
  const NetworkStepArguments on_bits{
      .hardening = {.kind = HardeningKind::straight_through, .share = 1}};
  facts["batch"] = batch;
  for (const Size& size : sizes) {
    const logic::Network network = classifier(size);
    BenchmarkRow row{"convolutions." + std::string(size.name), {}};
    add_work(network, row);
    const auto program = images.program(options.device, network, size.temperature);
    // The CPU trains the parameters of a network in place, so the reference needs its own.
    const auto reference = images.program({}, classifier(size), size.temperature);
    row.error = gradient_error(*program, *reference, on_bits);
    const int count = options.repeat > 0 ? options.repeat : options.device.is_cpu() ? 1 : 100;
    row.time = time_of_step(*program, step, count);
    report(row);
  }
  add_machine(options.device, facts);
}

}  // namespace boolgrad::cli
