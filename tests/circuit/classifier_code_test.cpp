// The network, its circuit, C and Verilog give the same 1,000 predictions, thresholds and head
// included.
#include "boolgrad/circuit/formats/classifier_code.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/circuit/bits/runner.h"
#include "boolgrad/circuit/harden.h"
#include "boolgrad/circuit/passes/passes.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/network.h"
#include "tests/support/convolution_networks.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"
#include "tests/support/tools.h"

namespace boolgrad::circuit {
namespace {

using testing_support::require_tool;
using testing_support::run_tool;
using testing_support::ScratchFolder;
using testing_support::ToolResult;
using testing_support::write_bytes;

constexpr std::int64_t sample_count = 1000;
constexpr std::int64_t feature_count = 9;

std::uint32_t random_word(std::uint64_t index) {
  return random_bits({.seed = 5, .stream = 77, .index = index})[0];
}

/// Two thresholds per feature.
logic::Thresholds some_thresholds(bool bytes) {
  std::vector<std::int32_t> sources;
  std::vector<float> thresholds;
  for (std::int32_t b = 0; b < 2 * feature_count; ++b) {
    sources.push_back(b / 2);
    const auto value = static_cast<float>(random_word(1000 + static_cast<std::uint64_t>(b)) % 512);
    // For bytes: integers, half-integers, and values below and above all bytes.
    thresholds.push_back(bytes ? value * 0.5F - 2 : value / 64 - 4);
  }
  thresholds[0] = bytes ? -3 : 0;
  thresholds[1] = bytes ? 300 : -0.0F;
  return {feature_count, sources, Tensor::of(thresholds)};
}

/// Floats with few distinct values, so that some equal a threshold.
Tensor some_samples(bool bytes) {
  Tensor samples({sample_count, feature_count}, bytes ? DType::uint8 : DType::float32);
  for (std::size_t i = 0; i < static_cast<std::size_t>(samples.size()); ++i) {
    const std::uint32_t bits = random_word(i);
    if (bytes) samples.mutable_values<std::uint8_t>()[i] = static_cast<std::uint8_t>(bits);
    else samples.mutable_values<float>()[i] = static_cast<float>(bits % 512) / 64 - 4;
  }
  return samples;
}

/// `has_kernels`: the inputs are an image of two channels that a convolution reads.
logic::Network some_network(std::int64_t inputs, std::int64_t outputs, bool has_kernels = false) {
  logic::Network network(inputs, Parametrisation::sigmoid, DType::float32);
  if (has_kernels) {
    add_convolution(network, {2, 3, feature_count / 3},
                    {.kernels = 5, .window = 2, .padding = 1, .depth = 2, .pool = 2}, 3);
  }
  for (const auto& [gates, layer] : {std::pair(std::int64_t{40}, 0U), std::pair(outputs, 1U)}) {
    network.add_layer(
        logic::random_wiring({network.outputs(), gates}, 3, layer),
        logic::initial_logits(Parametrisation::sigmoid, gates, 2, DType::float32, {}, 3, layer));
  }
  return network;
}

struct Case {
  Head head;
  bool bytes;
  bool has_kernels = false;
};

class ClassifierCode : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    require_tool("gcc", "gcc");
    require_tool("iverilog", "iverilog");
    Netlist core = harden(network_);
    core.name = "some-model";
    core_ = simplify(core);
    if (GetParam().has_kernels) {
      shared_ = simplified(shared_circuit_of(network_).value());
      shared_->name = core.name;
    }
    expected_ = logic::predictions(head_,
                                   logic::group_counts(network_.hard(thresholds_.bits_of(samples_)),
                                                       head_.groups(), head_.exponents),
                                   network_.outputs());
  }

  ClassifierPorts ports() const {
    return {.thresholds = thresholds_,
            .head = head_,
            .has_bytes = bytes_,
            .features = {"a */ b", "@name@"},
            .classes = {}};
  }

  /// One number per line.
  static std::vector<double> numbers_in(const std::string& text) {
    std::vector<double> numbers;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      numbers.push_back(std::strtod(text.c_str() + at, nullptr));
    }
    return numbers;
  }

  /// The bits of a feature at the port of the module.
  std::string hex_of(std::int64_t at) const {
    if (bytes_) return fmt::format("{:02x}", static_cast<int>(samples_.at(at)));
    return fmt::format("{:08x}", std::bit_cast<std::uint32_t>(static_cast<float>(samples_.at(at))));
  }

  Head head_ = GetParam().head;
  bool bytes_ = GetParam().bytes;
  logic::Thresholds thresholds_ = some_thresholds(bytes_);
  Tensor samples_ = some_samples(bytes_);
  logic::Network network_ = some_network(thresholds_.bits(), 30, GetParam().has_kernels);
  Netlist core_;
  std::optional<SharedCircuit> shared_;  ///< to write instead of `core_`
  std::vector<double> expected_;
  ScratchFolder scratch_;
};

TEST_P(ClassifierCode, CircuitAgreesWithTheNetwork) {
  const CircuitRunner runner(harden(network_),
                             {.classes = head_.groups(), .exponents = head_.exponents});
  const auto groups = static_cast<std::size_t>(head_.groups());
  std::vector<std::int32_t> sums(sample_count * groups);
  runner.group_sums(thresholds_.bits_of(samples_), sums);
  Tensor by_group({head_.groups(), sample_count}, DType::float64);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    by_group.mutable_values<double>()[i % groups * sample_count + i / groups] = sums[i];
  }
  EXPECT_EQ(logic::predictions(head_, by_group, network_.outputs()), expected_);
}

TEST_P(ClassifierCode, CompiledCAgreesWithTheNetwork) {
  const bool is_value = head_.kind == HeadKind::regression;
  std::string values;
  for (std::int64_t i = 0; i < samples_.size(); ++i)
    values += fmt::format("{:a},\n", samples_.at(i));
  write_bytes(scratch_ / "model.h",
              shared_ ? classifier_c(*shared_, ports()) : classifier_c(core_, ports()));
  write_bytes(scratch_ / "main.c",
              fmt::format("#include \"model.h\"\n#include <stdio.h>\n"
                          "static const some_model_feature x[] = {{{}}};\n"
                          "static {} results[{}];\nint main(void) {{\n  int i;\n"
                          "  some_model_{}(x, {}, results);\n"
                          "  for (i = 0; i < {}; ++i) printf(\"%.17g\\n\", (double)results[i]);\n"
                          "  return 0;\n}}\n",
                          values, is_value ? "double" : "int32_t", sample_count,
                          is_value ? "predict" : "classify", sample_count, sample_count));
  const std::string folder = scratch_.path().string();
  const ToolResult compiled = run_tool(fmt::format(
      "gcc -std=c99 -O1 -Wall -Wextra -Wpedantic -Werror {0}/main.c -o {0}/main", folder));
  ASSERT_EQ(compiled.code, 0) << compiled.output;
  EXPECT_EQ(numbers_in(run_tool(folder + "/main").output), expected_);
}

TEST_P(ClassifierCode, SimulatedVerilogAgreesWithTheNetwork) {
  const Netlist netlist = with_head(core_, head_);
  if (shared_) shared_->rest = with_head(shared_->rest, head_);
  const Verilog verilog =
      shared_ ? classifier_verilog(*shared_, ports()) : classifier_verilog(netlist, ports());
  const int width = (bytes_ ? 8 : 32) * feature_count;
  std::string lines;
  for (std::int64_t s = 0; s < sample_count; ++s) {
    for (std::int64_t f = feature_count; f-- > 0;) lines += hex_of(s * feature_count + f);
    lines += "\n";
  }
  write_bytes(scratch_ / "samples.hex", lines);
  write_bytes(scratch_ / "design.v", verilog.design);
  write_bytes(scratch_ / "bench.v",
              fmt::format("module bench;\n  reg [{}:0] samples [0:{}];\n  reg [{}:0] x;\n"
                          "  wire [{}:0] out;\n  integer i;\n"
                          "  {}_classifier dut (.x(x), .out(out));\n  initial begin\n"
                          "    $readmemh(\"samples.hex\", samples);\n"
                          "    for (i = 0; i < {}; i = i + 1) begin\n"
                          "      x = samples[i]; #1 $display(\"%0d\", out);\n    end\n"
                          "    $finish(0);\n  end\nendmodule\n",
                          width - 1, sample_count - 1, width - 1, netlist.outputs.size() - 1,
                          verilog.module_name, sample_count));
  const ToolResult result =
      run_tool("cd " + scratch_.path().string() +
               " && iverilog -g2005-sv -o bench design.v bench.v && vvp -n bench");
  ASSERT_EQ(result.code, 0) << result.output;
  std::vector<double> received = numbers_in(result.output);
  if (head_.kind == HeadKind::regression) {
    const double range = head_.high - head_.low;
    const auto largest = static_cast<double>(head_.largest_sum(0, 30));
    for (double& sum : received) sum = head_.low + range * sum / largest;
  }
  EXPECT_EQ(received, expected_);

  // The test bench of the export covers the thresholds.
  write_bytes(scratch_ / "own.v", verilog.test_bench);
  const std::string simulated =
      "cd " + scratch_.path().string() + " && iverilog -g2012 -o own design.v own.v && vvp -n own";
  const ToolResult own = run_tool(simulated);
  EXPECT_EQ(own.code, 0) << own.output;
  EXPECT_TRUE(own.output.starts_with("PASS ")) << own.output;
  std::string wrong = verilog.design;
  const std::string comparison = bytes_ ? " > 8'd" : " > 32'h";
  for (std::size_t at = 0; (at = wrong.find(comparison, at)) != std::string::npos;) {
    wrong.insert(at + 2, "=");
  }
  write_bytes(scratch_ / "design.v", wrong);
  EXPECT_NE(run_tool(simulated).output.find("FAIL"), std::string::npos);
}

/// The head with weights of 1 to 8 for 30 outputs.
Head weighted(Head head) {
  for (std::uint64_t i = 0; i < 30; ++i) {
    head.exponents.push_back(static_cast<std::int32_t>(random_word(2000 + i) % 4));
  }
  return head;
}

INSTANTIATE_TEST_SUITE_P(
    All, ClassifierCode,
    testing::Values(Case{{HeadKind::classes, 10, 1}, true}, Case{{HeadKind::classes, 3, 1}, false},
                    Case{{HeadKind::binary, 2, 1}, true}, Case{{HeadKind::binary, 2, 1}, false},
                    Case{{HeadKind::bits, 5, 1}, true}, Case{{HeadKind::bits, 64, 1}, false},
                    Case{{HeadKind::regression, 0, 1, -2, 8}, false},
                    Case{{HeadKind::classes, 10, 1}, true, true},
                    Case{{HeadKind::regression, 0, 1, -2, 8}, false, true},
                    Case{weighted({HeadKind::classes, 10}), true, true},
                    Case{weighted({HeadKind::classes, 10}), true},
                    Case{weighted({HeadKind::binary, 2}), false},
                    Case{weighted({HeadKind::bits, 6}), true},
                    Case{weighted({HeadKind::regression, 0, 1, -2, 8}), false}));

TEST(ClassifierNames, AreConstants) {
  const logic::Thresholds thresholds = some_thresholds(false);
  const Head head{HeadKind::classes, 3};
  Netlist netlist = harden(some_network(thresholds.bits(), 30));
  netlist.name = "iris";
  const ClassifierPorts ports{thresholds,
                              head,
                              false,
                              {"sepal length", "2nd \"width\"", "a b", "a-b"},
                              {"setosa", "class", "say \"why?\?/\""}};
  const ScratchFolder scratch;
  write_bytes(scratch / "iris.h", classifier_c(netlist, ports));
  netlist.name = "other";
  write_bytes(scratch / "other.h", classifier_c(netlist, ports));
  write_bytes(scratch / "main.c",
              "#include \"iris.h\"\n#include \"other.h\"\n#include <stdio.h>\n"
              "int main(void) {\n"
              "  printf(\"%d %d %s %s|%s\\n\", IRIS_CLASS_class, OTHER_FEATURE_a_b_2,\n"
              "         iris_class_name(2), other_feature_name(1), iris_class_name(3));\n"
              "  return 0;\n}\n");
  const std::string folder = scratch.path().string();
  const ToolResult result = run_tool(fmt::format(
      "gcc -std=c99 -O1 -Wall -Wextra -Wpedantic -Werror {0}/main.c -o {0}/main && {0}/main",
      folder));
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_EQ(result.output, "1 3 say \"why?\?/\" 2nd \"width\"|\n");
  const Verilog verilog = classifier_verilog(with_head(netlist, head), ports);
  for (const char* line :
       {"  localparam FEATURE_sepal_length = 0;\n", "  localparam FEATURE_2nd__width_ = 1;\n",
        "  localparam CLASS_setosa = 0;\n", "  localparam CLASS_class = 1;\n"}) {
    EXPECT_NE(verilog.design.find(line), std::string::npos) << line;
  }
}

TEST(ClassifierPorts, MustFitTheCircuit) {
  const logic::Thresholds thresholds = some_thresholds(true);
  const Head head{HeadKind::classes, 10};
  const Netlist netlist = with_head(harden(some_network(5, 20)), head);
  expect_error(
      [&] {
        classifier_c(netlist, {thresholds, head});
      },
      "[classifier] expected a circuit of 18 inputs, received 5");
}

}  // namespace
}  // namespace boolgrad::circuit
