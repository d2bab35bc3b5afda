// The benchmark "circuit": a hardened network of two-input gates with group sums, from image bytes
// to classes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/backend/cpu/bits/bit_kernels.h"
#include "boolgrad/circuit/bits/runner.h"
#include "boolgrad/circuit/formats/text.h"
#include "boolgrad/circuit/group_sums.h"
#include "boolgrad/circuit/harden.h"
#include "boolgrad/cli/bench.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/network.h"

namespace boolgrad::cli {
namespace {

constexpr std::int64_t standard_images = 10000;
constexpr std::int64_t class_count = 10;

struct CircuitProblem {
  TensorFile network;
  Tensor images;                   ///< uint8 [images, inputs]
  std::optional<Tensor> expected;  ///< int32 [images]: the classes, if known
};

CircuitProblem standard_problem() {
  const logic::Network network = standard_network();
  Tensor images({standard_images, network.inputs()}, DType::uint8);
  std::uint64_t index = 0;
  for (std::uint8_t& pixel : images.mutable_values<std::uint8_t>()) {
    pixel =
        static_cast<std::uint8_t>(random_bits({.seed = 1, .stream = 3, .index = index++})[0] & 1);
  }
  return {network.to_file(), images, std::nullopt};
}

CircuitProblem problem_in(const std::string& path) {
  TensorFile file = load_safetensors(path);
  const auto part = [&](const std::string& name, DType dtype, std::size_t rank) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end() || found->second.dtype() != dtype ||
        found->second.rank() != rank) {
      fail("bench", "{}: expected the tensor {} of {} dimensions, {}, received none", path, name,
           rank, to_string(dtype));
    }
    return found->second;
  };
  const Tensor images = part("images", DType::uint8, 2);
  const Tensor classes = part("classes", DType::int32, 1);
  if (classes.size() != images.shape()[0]) {
    fail("bench", "{}: expected a class for each of {} images, received {}", path,
         images.shape()[0], classes.size());
  }
  return {std::move(file), images, classes};
}

/// Number of classes that differ.
double differences(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  double count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

/// Evaluates the gates only, block by block. All blocks write to the same output buffers.
class Core {
 public:
  Core(const circuit::CircuitRunner& runner, const logic::BitMatrix& inputs)
      : program_(runner.program()),
        inputs_(inputs),
        rows_(static_cast<std::size_t>(program_.outputs() * program_.row_words())),
        from_(static_cast<std::size_t>(inputs.features)) {
    for (std::int64_t o = 0; o < program_.outputs(); ++o) {
      to_.push_back(rows_.data() + o * program_.row_words());
    }
  }

  void operator()() {
    const auto words = static_cast<std::size_t>(inputs_.words_per_feature());
    const auto grain = static_cast<std::size_t>(program_.row_words());
    for (std::size_t first = 0; first < words; first += grain) {
      for (std::size_t i = 0; i < from_.size(); ++i) {
        from_[i] = inputs_.words.data() + i * words + first;
      }
      program_.run(from_, to_, std::min(grain, words - first));
    }
  }

 private:
  const circuit::BitProgram& program_;
  const logic::BitMatrix& inputs_;
  std::vector<std::uint64_t> rows_;
  std::vector<const std::uint64_t*> from_;
  std::vector<std::uint64_t*> to_;
};

/// The same steps on so few buffers that they stay in the first-level cache: the cost of the gates
/// without memory traffic.
class StepsInCache {
 public:
  explicit StepsInCache(const circuit::BitProgram& program)
      : code_(program.code()), steps_(code_.steps.begin(), code_.steps.end()) {
    constexpr std::uint32_t slots = 64;
    for (BitStep& step : steps_) {
      step = {step.out % slots, step.a % slots, step.b % slots, step.c % slots};
    }
    code_.steps = steps_;
    code_.slots = slots;
    scratch_ = Storage::allocate(slots * code_.row_words * sizeof(std::uint64_t));
    std::fill_n(static_cast<std::uint64_t*>(scratch_->data()), slots * code_.row_words, 1);
  }

  void operator()(std::size_t words) const {
    for (std::size_t at = 0; at < words; at += code_.row_words) {
      cpu::run_bit_steps(code_, code_.row_words, static_cast<std::uint64_t*>(scratch_->data()));
    }
  }

 private:
  BitProgramView code_;
  std::vector<BitStep> steps_;
  std::shared_ptr<Storage> scratch_;
};

/// A netlist of one million gates, each with two recent nets as inputs, in the text format.
std::string million_gates() {
  constexpr std::size_t count = 1'000'000;
  constexpr circuit::Net width = 10'000;
  circuit::Netlist netlist;
  for (circuit::Net i = 0; i < width; ++i) netlist.inputs.push_back(fmt::format("x{}", i));
  for (std::size_t g = 0; g < count; ++g) {
    const PhiloxCounter bits = random_bits({.seed = 1, .stream = 4, .index = g});
    const circuit::Net first = netlist.gate(g) - width;
    constexpr std::array<std::uint64_t, 3> tables{0b1000, 0b0110, 0b0010};
    netlist.gates.push_back({.truth = tables[bits[0] % tables.size()],
                             .inputs = {first + bits[1] % width, first + bits[2] % width},
                             .arity = 2});
  }
  for (circuit::Net o = 0; o < width; ++o) {
    netlist.outputs.push_back(fmt::format("y{}", o));
    netlist.output_nets.push_back(netlist.gate(count - width + o));
  }
  return circuit::to_text(netlist);
}

}  // namespace

void bench_circuit(const BenchOptions& options, const Report& report, nlohmann::json& facts) {
  const CircuitProblem problem =
      options.file.empty() ? standard_problem() : problem_in(options.file);
  const auto loaded = [&] {
    const TensorFile file = options.file.empty() ? problem.network : load_safetensors(options.file);
    return circuit::CircuitRunner(circuit::harden(logic::Network::from_file(file)),
                                  {.classes = class_count});
  };
  const auto timed = [&](const std::string& name, const auto& work) {
    return BenchmarkRow{"circuit." + name, measure(work, options.repeat)};
  };
  report(timed("load", [&] { loaded(); }));

  const circuit::CircuitRunner runner = loaded();
  const circuit::ByteSamples images{problem.images.values<std::uint8_t>(),
                                    problem.images.shape()[0]};
  std::vector<std::int32_t> classes(static_cast<std::size_t>(images.samples));
  BenchmarkRow whole = timed("classify", [&] { runner.classify(images, classes); });
  if (problem.expected) {
    whole.error = differences(classes, problem.expected->values<std::int32_t>());
  }
  report(whole);

  const logic::BitMatrix bits = circuit::packed(images, runner.inputs());
  report(timed("pack", [&] { circuit::packed(images, runner.inputs()); }));
  Core core(runner, bits);
  report(timed("core", [&] { core(); }));
  const StepsInCache floor(runner.program());
  const auto words = static_cast<std::size_t>(bits.words_per_feature());
  report(timed("core_in_cache", [&] { floor(words); }));
  std::vector<std::int32_t> from_bits(classes.size());
  BenchmarkRow counted = timed("classify_bits", [&] { runner.classify(bits, from_bits); });
  counted.error = differences(from_bits, classes);
  report(counted);

  const circuit::CircuitRunner by_gates(circuit::with_argmax(
      circuit::harden(logic::Network::from_file(problem.network)), class_count));
  report(timed("classify_by_gates", [&] { by_gates.run(bits); }));

  const std::string million = million_gates();
  report(timed("load_million",
               [&] { circuit::CircuitRunner(circuit::netlist_from_text(million, "million")); }));

  const circuit::BitProgram& program = runner.program();
  facts["circuit"] = {{"images", images.samples},
                      {"gates", program.operations()},
                      {"steps", program.steps()},
                      {"runs", program.runs()},
                      {"slots", program.slots()},
                      {"row_words", program.row_words()},
                      {"gates_with_argmax", by_gates.program().operations()},
                      {"steps_with_argmax", by_gates.program().steps()}};
}

}  // namespace boolgrad::cli
