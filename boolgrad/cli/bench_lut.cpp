// The benchmark "lut": one training step of a network of two-input soft gates, and its parts.
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/backend/cpu/runtime/machine_rates.h"
#include "boolgrad/cli/bench.h"
#include "boolgrad/cli/op_cases.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/optim/adamw.h"

namespace boolgrad::cli {
namespace {

constexpr std::int64_t standard_inputs = 784;
constexpr std::int64_t standard_width = 8000;
constexpr std::size_t standard_layers = 6;
constexpr std::int64_t standard_batch = 256;
constexpr double learning_rate = 0.01;

/// A network, a batch, and reference results if they are known.
struct Problem {
  logic::Network network;
  Tensor x;
  Tensor target;
  Tensor loss = {};
  std::vector<Tensor> gradients = {};

  Tensor value() const { return sum_of_squares(network.soft(x), target); }
};

Tensor uniform(const Shape& shape, std::uint32_t stream) {
  Tensor result(shape, DType::float32);
  std::uint64_t index = 0;
  for (float& value : result.mutable_values<float>()) {
    value = static_cast<float>(random_uniform({.seed = 1, .stream = stream, .index = index++}));
  }
  return result;
}

Problem standard_problem() {
  return {standard_network(), uniform({standard_inputs, standard_batch}, 1),
          uniform({standard_width, standard_batch}, 2)};
}

Problem problem_in(const std::string& path) {
  const TensorFile file = load_safetensors(path);
  const auto part = [&](const std::string& name) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end()) {
      fail("bench", "{}: expected the tensor {}, received none", path, name);
    }
    return found->second;
  };
  Problem problem{logic::Network::from_file(file), part("x"), part("target"), part("loss")};
  for (std::size_t i = 0; i < problem.network.layers().size(); ++i) {
    problem.gradients.push_back(part(fmt::format("gradient.{}", i)));
  }
  return problem;
}

// The largest error of the loss and all gradients; 0 without reference results.
double error_of(const Problem& problem) {
  if (problem.gradients.empty()) return 0;
  const Tensor loss = problem.value();
  double error = relative_error(loss.detach(), problem.loss);
  const std::vector<Tensor> gradients = grad(loss, problem.network.parameters());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const double next = relative_error(gradients[i], problem.gradients[i]);
    if (!(next <= error)) error = next;  // so that a NaN stays
  }
  return error;
}

/// Sizes that determine the lower bound of a step.
struct Work {
  explicit Work(const Problem& problem) {
    const auto samples = static_cast<double>(problem.x.shape()[1]);
    for (const logic::GateLayer& layer : problem.network.layers()) {
      gate_samples += static_cast<double>(layer.wiring->gates()) * samples;
      activation_bytes += static_cast<double>(layer.wiring->gates()) * samples * 4;
      logits += static_cast<double>(layer.logits.size());
    }
    batch_bytes = static_cast<double>(problem.x.size() + problem.target.size()) * 4;
  }
  double gate_samples = 0;
  double activation_bytes = 0;  ///< outputs of all layers
  double batch_bytes = 0;       ///< inputs and targets
  double logits = 0;

  /// Logits, their two moments, and every activation once.
  double needed_memory() const { return logits * 4 * 3 + activation_bytes; }
};

/// Peak memory of this process in bytes; 0 if unknown. (getrusage would include the process that
/// started this one.)
double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

BenchmarkRow timed(const std::string& name, const std::function<void()>& work, int repeat,
                   double flop, double bytes) {
  return {"lut." + name, measure(work, repeat), 0, flop, bytes};
}

}  // namespace

logic::Network standard_network() {
  logic::Network network(standard_inputs, Parametrisation::softmax16, DType::float32);
  for (std::uint32_t layer = 0; layer < standard_layers; ++layer) {
    network.add_layer(
        logic::random_wiring({network.outputs(), standard_width}, 1, layer),
        logic::initial_logits(network.parametrisation(), standard_width, 2, DType::float32,
                              {logic::Initialisation::gaussian, 1}, 1, layer));
  }
  return network;
}

void bench_lut(const BenchOptions& options, const Report& report, nlohmann::json& facts) {
  if (!options.device.is_cpu()) return bench_lut_on_device(options, report, facts);
  const Problem problem = options.file.empty() ? standard_problem() : problem_in(options.file);
  const Work work(problem);
  const double error = error_of(problem);
  const std::vector<Tensor> parameters = problem.network.parameters();
  AdamW optimiser(parameters, {});

  // Required work: a gate costs 3 fused multiply-adds forward; backward 4 for the two slopes and 2
  // and 3 plain operations for its sums. Memory traffic: the batch is read; logits, moments and
  // gradients are read and written; activations can stay in the caches. Recomputation counts once.
  BenchmarkRow step = timed(
      "step", [&] { optimiser.step(grad(problem.value(), parameters), learning_rate); },
      options.repeat, work.gate_samples * (6 + 15), 2 * work.batch_bytes + work.logits * 4 * 9);
  step.error = error;
  facts["peak_memory"] = peak_memory();
  facts["needed_memory"] = work.needed_memory();
  report(step);

  report(timed(
      "forward", [&] { problem.value(); }, options.repeat, work.gate_samples * 6,
      work.batch_bytes));
  const Tensor loss = problem.value();
  report(timed(
      "backward", [&] { grad(loss, parameters, {.keep_graph = true}); }, options.repeat,
      work.gate_samples * 15, work.batch_bytes + work.logits * 4));
  const std::vector<Tensor> gradients = grad(loss, parameters, {.keep_graph = true});
  report(timed(
      "adamw", [&] { optimiser.step(gradients, learning_rate); }, options.repeat, work.logits * 12,
      work.logits * 4 * 7));

  const cpu::MachineRates rates = cpu::measure_machine_rates();
  facts["machine"] = {{"gflops", rates.gflops}, {"gigabytes", rates.gigabytes}};
}

}  // namespace boolgrad::cli
