// Every entry of the layer table: derivatives, agreement of soft, hard and gates, and every device
// against the CPU. New kinds are tested automatically.
#include "boolgrad/model/layer_kinds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/circuit/bits/bit_program.h"
#include "boolgrad/circuit/formats/c99.h"
#include "boolgrad/circuit/formats/verilog.h"
#include "boolgrad/circuit/sinks.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/train/experiment/experiment.h"
#include "tests/support/devices.h"
#include "tests/support/random_tensor.h"
#include "tests/support/scratch.h"
#include "tests/support/tools.h"

namespace boolgrad {
namespace {

using testing_support::require_tool;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::write_bytes;

struct Row {
  const logic::LayerKind* kind;
  int variant;
};

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const logic::LayerKind* kind : layer_kinds()) {
    for (int variant = 0; variant < kind->variants; ++variant) rows.push_back({kind, variant});
  }
  return rows;
}

std::string name_of_row(const testing::TestParamInfo<Row>& info) {
  return fmt::format("{}_{}", info.param.kind->name, info.param.variant);
}

class LayerRow : public testing::TestWithParam<Row> {
 protected:
  std::unique_ptr<logic::Layer> example(DType dtype) const {
    return GetParam().kind->example(GetParam().variant, dtype, 11);
  }
};

constexpr std::int64_t samples = 64;

/// Random inputs within the layer's range.
Tensor soft_inputs(const logic::Layer& layer) {
  const double high = static_cast<double>((1 << layer.input_digits()) - 1);
  return random_tensor({layer.inputs(), 3}, DType::float64, 5, {0.1 * high, 0.9 * high});
}

/// Random integers: [inputs, samples].
Tensor whole_inputs(const logic::Layer& layer) {
  Tensor x({layer.inputs(), samples}, DType::float64);
  RandomAddress at{.seed = 3};
  for (double& value : x.mutable_values<double>()) {
    value = static_cast<double>(random_below(at, std::uint64_t{1} << layer.input_digits()));
    ++at.index;
  }
  return x;
}

/// A weighted sum of the outputs, so that every output has a different gradient.
Tensor weighted(const Tensor& y) {
  return sum(multiply(y, random_tensor(y.shape(), y.dtype(), 9, {-1, 1})));
}

TEST_P(LayerRow, HasTheDerivativeOfItsFunction) {
  const auto layer = example(DType::float64);
  const Tensor x = parameter(soft_inputs(*layer));
  std::vector<Tensor> wanted = layer->parameters();
  wanted.push_back(x);
  const std::vector<Tensor> gradients = grad(weighted(layer->soft(x)), wanted);
  const auto value = [&] {
    const NoGrad off_the_tape;
    return weighted(layer->differentiated(x)).item();
  };
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::span<double> values = wanted[i].mutable_values<double>();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double before = values[k];
      const double step = 1e-5 * std::max(1.0, std::abs(before));
      values[k] = before + step;
      const double above = value();
      values[k] = before - step;
      const double below = value();
      values[k] = before;
      const double expected = (above - below) / (2 * step);
      const double error = std::abs(gradients[i].at(static_cast<std::int64_t>(k)) - expected);
      ASSERT_TRUE(error <= 1e-7 * std::max(1.0, std::abs(expected)))
          << "tensor " << i << ", element " << k << ": expected " << expected;
    }
  }
}

/// The bits of integers, one word of 64 samples per digit.
std::vector<std::uint64_t> words_of(const Tensor& numbers, int digits) {
  std::vector<std::uint64_t> words;
  for (std::int64_t row = 0; row < numbers.shape()[0]; ++row) {
    for (int d = 0; d < digits; ++d) {
      std::uint64_t word = 0;
      for (std::int64_t s = 0; s < samples; ++s) {
        const auto value = static_cast<std::uint64_t>(numbers.at(row * samples + s));
        word |= ((value >> d) & 1) << s;
      }
      words.push_back(word);
    }
  }
  return words;
}

circuit::Netlist netlist_of_layer(const logic::Layer& layer) {
  circuit::Netlist netlist;
  netlist.name = "layer";
  std::vector<logic::Signal> inputs;
  for (std::int64_t i = 0; i < layer.inputs() * layer.input_digits(); ++i) {
    netlist.inputs.push_back(fmt::format("x{}", i));
    inputs.push_back(static_cast<logic::Signal>(i));
  }
  circuit::NetlistSink sink(netlist);
  for (const logic::Signal output : layer.emit(inputs, sink)) {
    netlist.outputs.push_back(fmt::format("y{}", netlist.output_nets.size()));
    netlist.output_nets.push_back(output);
  }
  return circuit::checked(std::move(netlist));
}

std::vector<std::uint64_t> run_bit_program(const logic::Layer& layer,
                                           const std::vector<std::uint64_t>& words) {
  circuit::BitCircuit circuit(layer.inputs() * layer.input_digits());
  std::vector<logic::Signal> inputs;
  for (std::int64_t i = 0; i < circuit.inputs(); ++i) inputs.push_back(circuit.input(i).code());
  circuit::BitCircuitSink sink(circuit);
  for (const logic::Signal output : layer.emit(inputs, sink)) {
    circuit.add_output(circuit::BitLiteral::from_code(output));
  }
  const circuit::BitProgram program(circuit);
  std::vector<const std::uint64_t*> from;
  for (const std::uint64_t& word : words) from.push_back(&word);
  std::vector<std::uint64_t> results(circuit.outputs().size());
  std::vector<std::uint64_t*> to;
  for (std::uint64_t& word : results) to.push_back(&word);
  program.run(from, to, 1);
  return results;
}

std::vector<std::uint64_t> run_c(const circuit::Netlist& netlist,
                                 const std::vector<std::uint64_t>& words) {
  const ScratchFolder folder;
  std::string program =
      "#include \"circuit.h\"\n#include <inttypes.h>\n#include <stdio.h>\n"
      "int main(void)\n{\n  static const uint64_t in[] = {";
  for (const std::uint64_t word : words) program += fmt::format("UINT64_C({:#x}),", word);
  program +=
      "0};\n  uint64_t out[LAYER_OUTPUTS];\n  layer_eval(in, out);\n"
      "  for (int i = 0; i < LAYER_OUTPUTS; ++i) printf(\"%\" PRIx64 \"\\n\", out[i]);\n"
      "  return 0;\n}\n";
  write_bytes(folder / "circuit.h", circuit::to_c(netlist));
  write_bytes(folder / "main.c", program);
  const std::string path = folder.path().string();
  const auto compiled = run_tool(fmt::format("gcc -std=c99 -O1 {0}/main.c -o {0}/main", path));
  EXPECT_EQ(compiled.code, 0) << compiled.output;
  const auto result = run_tool(path + "/main");
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; at < result.output.size(); at = result.output.find('\n', at) + 1) {
    numbers.push_back(std::stoull(result.output.substr(at), nullptr, 16));
  }
  return numbers;
}

std::vector<std::uint64_t> run_verilog(const circuit::Netlist& netlist,
                                       const std::vector<std::uint64_t>& words) {
  const ScratchFolder folder;
  const circuit::Verilog verilog = circuit::to_verilog(netlist);
  std::string bench = fmt::format(
      "module main;\n  reg [{0}:0] in;\n  wire [{1}:0] out;\n  {2} dut(.in(in), .out(out));\n"
      "  initial begin\n",
      words.size() - 1, netlist.outputs.size() - 1, verilog.module_name);
  for (std::int64_t s = 0; s < samples; ++s) {
    std::string bits;  // most significant first
    for (std::size_t i = words.size(); i-- > 0;) bits += ((words[i] >> s) & 1) != 0 ? '1' : '0';
    bench += fmt::format("    in = {}'b{}; #1 $display(\"%b\", out);\n", words.size(), bits);
  }
  bench += "  end\nendmodule\n";
  write_bytes(folder / "layer.v", verilog.design);
  write_bytes(folder / "main.v", bench);
  const std::string path = folder.path().string();
  require_tool("iverilog", "iverilog");
  const auto compiled = run_tool(fmt::format("iverilog -o {0}/main {0}/layer.v {0}/main.v", path));
  EXPECT_EQ(compiled.code, 0) << compiled.output;
  const auto result = run_tool("vvp -n " + path + "/main");
  EXPECT_EQ(result.code, 0) << result.output;
  std::istringstream lines(result.output);
  std::vector<std::uint64_t> numbers(netlist.outputs.size(), 0);
  std::string line;
  for (std::int64_t s = 0; s < samples && std::getline(lines, line); ++s) {
    EXPECT_EQ(line.size(), numbers.size()) << line;
    for (std::size_t i = 0; i < std::min(line.size(), numbers.size()); ++i) {
      if (line[line.size() - 1 - i] == '1') numbers[i] |= std::uint64_t{1} << s;
    }
  }
  return numbers;
}

TEST_P(LayerRow, IsOneFunctionSoftHardAsBitsAsNetlistInCAndInVerilog) {
  const auto layer = example(DType::float64);
  const Tensor x = whole_inputs(*layer);
  // Hard tables and wires, so that soft values are integers.
  for (Tensor logits : layer->parameters()) {
    if (logits.rank() < 2) continue;
    for (double& value : logits.mutable_values<double>()) value *= 1e7;
  }
  const Tensor hard = layer->hard(x);
  ASSERT_EQ(hard.shape(), (Shape{layer->outputs(), samples}));
  const NoGrad off_the_tape;
  const Tensor soft = layer->soft(x);
  std::int64_t largest = 0;
  for (std::int64_t i = 0; i < soft.size(); ++i) {
    ASSERT_NEAR(soft.at(i), hard.at(i), 1e-6) << "output " << i / samples;
    largest = std::max(largest, static_cast<std::int64_t>(hard.at(i)));
  }
  EXPECT_GT(largest, 0) << "all outputs are 0, which would hide differences";
  ASSERT_LT(largest, std::int64_t{1} << layer->output_digits());
  const std::vector<std::uint64_t> words = words_of(x, layer->input_digits());
  const std::vector<std::uint64_t> expected = words_of(hard, layer->output_digits());
  const circuit::Netlist netlist = netlist_of_layer(*layer);
  EXPECT_EQ(evaluate(netlist, words), expected);
  EXPECT_EQ(run_bit_program(*layer, words), expected);
  EXPECT_EQ(run_c(netlist, words), expected);
  EXPECT_EQ(run_verilog(netlist, words), expected);
}

INSTANTIATE_TEST_SUITE_P(All, LayerRow, testing::ValuesIn(all_rows()), name_of_row);

class LayerOnDevice : public DeviceTest {};

double largest_magnitude(const Tensor& tensor) {
  double largest = 0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    largest = std::max(largest, std::abs(tensor.at(i)));
  }
  return largest;
}

void expect_near(const Tensor& received, const Tensor& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(received.shape(), expected.shape()) << what;
  const double scale = std::max(1e-3, largest_magnitude(expected));
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(std::abs(received.at(i) - expected.at(i)) <= tolerance * scale)
        << what << ", element " << i << ": " << received.at(i) << " and " << expected.at(i);
  }
}

TEST_P(LayerOnDevice, ComputesWhatTheCpuDoes) {
  for (const Row& row : all_rows()) {
    const auto is_supported = [&](Feature feature) { return supports(device().backend, feature); };
    if (!std::ranges::all_of(row.kind->features, is_supported)) continue;
    const std::string what = fmt::format("{} {}", row.kind->name, row.variant);
    const logic::LayerResults expected = row.kind->run(row.variant, cpu_device);
    const logic::LayerResults received = row.kind->run(row.variant, device());
    EXPECT_NEAR(received.loss, expected.loss, 1e-5 * std::max(1.0, std::abs(expected.loss)))
        << what;
    ASSERT_EQ(received.gradients.size(), expected.gradients.size()) << what;
    for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
      expect_near(received.gradients[i], expected.gradients[i], 1e-4, what + " gradient");
    }
    expect_near(received.soft, expected.soft, 1e-5, what + " soft");
    expect_near(received.hard, expected.hard, 0, what + " hard");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, LayerOnDevice, all_other_devices, name_of_device);

TEST(LayerKinds, NamesKeysThatExist) {
  const std::vector<std::string> keys = train::experiment_keys();
  std::set<std::string_view> names;
  for (const logic::LayerKind* kind : layer_kinds()) {
    EXPECT_TRUE(names.insert(kind->name).second) << kind->name;
    EXPECT_FALSE(kind->features.empty()) << kind->name;
    for (const std::string_view key : kind->keys) {
      const bool is_section = key.ends_with('.');
      EXPECT_TRUE(std::ranges::any_of(keys, [&](const std::string& known) {
        return is_section ? known.starts_with(key) : known == key;
      })) << key;
    }
  }
}

}  // namespace
}  // namespace boolgrad
