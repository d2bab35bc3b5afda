// The benchmark "wires": training steps of one layer of 8,000 gates on thresholded images, with
// fixed wires and with different numbers of candidates per gate input.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "boolgrad/cli/bench.h"
#include "boolgrad/cli/bench_networks.h"
#include "boolgrad/logic/network.h"

namespace boolgrad::cli {
namespace {

constexpr std::int64_t thresholds_per_pixel = 2;
constexpr std::int64_t gates = 8000;
constexpr std::int64_t batch = 256;
constexpr double temperature = 8;

logic::Network network_with(std::int64_t candidates, const RandomImages& images) {
  logic::Network network(std::ssize(images.sources), Parametrisation::sigmoid, DType::float32);
  network.add_layer({.gates = gates, .candidates = candidates, .seed = 1});
  return network;
}

}  // namespace

void bench_wires(const BenchOptions& options, const Report& report, nlohmann::json& facts) {
  const RandomImages images(batch, thresholds_per_pixel);
  const NetworkStepArguments step{
      .learning_rate = 0.01, .hardening = {.kind = HardeningKind::straight_through, .share = 1}};
  facts["batch"] = batch;
  for (const std::int64_t candidates : {1, 4, 16, 64, 256, 0}) {
    const std::string name = candidates == 1   ? "fixed"
                             : candidates == 0 ? "all"
                                               : std::to_string(candidates);
    // Each program has a network of its own: the CPU trains its parameters in place.
    const auto program =
        images.program(options.device, network_with(candidates, images), temperature);
    const auto reference = images.program({}, network_with(candidates, images), temperature);
    BenchmarkRow row{"wires." + name, {}, gradient_error(*program, *reference, step)};
    const int count = options.repeat > 0 ? options.repeat : options.device.is_cpu() ? 5 : 200;
    row.time = time_of_step(*program, step, count);
    report(row);
  }
}

}  // namespace boolgrad::cli
