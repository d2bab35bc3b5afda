// Benchmarks run and report wrong results. Their speed is not tested.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "boolgrad/ops/op_table.h"
#include "boolgrad/tensor/safetensors.h"
#include "tests/cli/run_cli.h"
#include "tests/support/life_rule.h"

namespace boolgrad {
namespace {

using nlohmann::json;
using testing_support::CliResult;
using testing_support::run_cli;
using testing_support::ScratchFolder;

std::string square_root_file(const ScratchFolder& scratch, double root_of_nine) {
  TensorFile file;
  file.metadata["cases"] = R"({"sqrt": {}})";
  file.tensors["sqrt/in0"] = Tensor::of(std::vector<double>{4, 9});
  file.tensors["sqrt/out"] = Tensor::of(std::vector<double>{2, root_of_nine});
  file.tensors["sqrt/gout"] = Tensor::of(std::vector<double>{4, 6});
  file.tensors["sqrt/grad0"] = Tensor::of(std::vector<double>{1, 1});
  std::string path = (scratch / "file.safetensors").string();
  save_safetensors(path, file);
  return path;
}

TEST(Bench, TimesTheCasesOfAFile) {
  const ScratchFolder scratch;
  const CliResult result = run_cli({"bench", "ops", "--file", square_root_file(scratch, 3),
                                    "--repeat", "3", "--threads", "2", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  ASSERT_EQ(result.json()["benchmarks"].size(), 1U) << result.out;
  const json row = result.json()["benchmarks"][0];
  EXPECT_EQ(row["name"], "sqrt");
  EXPECT_EQ(row["device"], "cpu");
  EXPECT_EQ(row["threads"], 2);
  EXPECT_GT(row["ms"].get<double>(), 0);
  EXPECT_LE(row["min_ms"].get<double>(), row["ms"].get<double>());
  EXPECT_LE(row["max_error"].get<double>(), 1e-6);
}

TEST(Bench, ShowsWrongResults) {
  const ScratchFolder scratch;
  const CliResult result = run_cli({"bench", "ops", "--file", square_root_file(scratch, 4),
                                    "--repeat", "1", "--quiet", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["benchmarks"][0]["max_error"], 0.25);
}

TEST(Bench, StandardSetHasEveryOp) {
  const CliResult result = run_cli({"bench", "ops", "--repeat", "1", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const json answer = result.json();
  std::set<std::string> names;
  for (const json& row : answer["benchmarks"]) {
    names.insert(row["name"]);
    EXPECT_LE(row["max_error"].get<double>(), 1e-5) << row;
  }
  for (const OpEntry& op : op_table()) EXPECT_TRUE(names.contains(std::string(op.name))) << op.name;
}

TEST(Bench, ConvolutionsGiveTheLeastWorkOfAStep) {
  const CliResult result = run_cli({"bench", "convolutions", "--repeat", "1", "--json", "--quiet"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json answer = result.json();
  ASSERT_EQ(answer["benchmarks"].size(), 2U);
  EXPECT_EQ(answer["benchmarks"][0]["name"], "convolutions.s");
  EXPECT_EQ(answer["benchmarks"][1]["name"], "convolutions.m");
  for (const json& row : answer["benchmarks"]) EXPECT_EQ(row["max_error"], 0) << row;
  EXPECT_GT(answer["machine"]["gigabytes"], 0);
  // Per sample: 784 bits; images of 16x12x12, 48x6x6 and 144x3x3; layers of 10,240, 5,120 and
  // 2,560.
  constexpr double activations = 2 * 784 + 5 * (2304 + 1728 + 1296 + 10240 + 5120);
  constexpr double tables = 7 * (16 + 48 + 144) + 10240 + 5120 + 2560;
  EXPECT_EQ(answer["benchmarks"][0]["bytes"], 4 * (256 * activations + tables * 4 * 6));
  // Gates of trees and layers, and pooled positions.
  constexpr double gates = 7 * (16 * 576 + 48 * 144 + 144 * 36) + 10240 + 5120 + 2560;
  constexpr double pooled = 16 * 576 + 48 * 144 + 144 * 36;
  EXPECT_EQ(answer["benchmarks"][0]["operations"], 256 * (gates * 21 + pooled * 2));
}

TEST(Bench, CircuitsGiveTheClassesOfAFile) {
  // Ten groups of one output, each an input: the first 1 is the class.
  logic::Network network(10, Parametrisation::sigmoid, DType::float32);
  const auto first = [](unsigned bits) { return (bits & 1) != 0; };
  std::vector<LifeGate> gates;
  for (std::int32_t i = 0; i < 10; ++i) gates.push_back({{i, (i + 1) % 10}, first});
  add_gates(network, gates);
  TensorFile file = network.to_file();
  file.tensors["images"] = Tensor::of(std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0, 1, 0, 0, 0,
                                                                0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
                               .viewed_as({2, 10});
  file.tensors["classes"] = Tensor::of(std::vector<std::int32_t>{3, 8});
  const ScratchFolder scratch;
  const std::string path = (scratch / "file.safetensors").string();
  save_safetensors(path, file);
  const CliResult result =
      run_cli({"bench", "circuit", "--file", path, "--repeat", "1", "--json", "--quiet"});
  ASSERT_EQ(result.code, 0) << result.err;
  const json answer = result.json();
  for (const json& row : answer["benchmarks"]) {
    EXPECT_EQ(row["max_error"], row["name"] == "circuit.classify" ? 1 : 0) << "it is 9, not 8";
  }
  EXPECT_EQ(result.json()["circuit"]["images"], 2);
  file.tensors.erase("images");
  save_safetensors(path, file);
  EXPECT_EQ(
      run_cli({"bench", "circuit", "--file", path}).complaint(),
      "[bench] " + path + ": expected the tensor images of 2 dimensions, uint8, received none");
}

TEST(Bench, AnUnknownBenchmarkIsWrongUsage) {
  CliResult result = run_cli({"bench", "opps"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.complaint(),
            "expected a benchmark (ops, lut, wires, convolutions, automata, circuit, geometry), "
            "received 'opps' (did you mean 'ops'?)");
  result = run_cli({"bench", "everything"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.complaint(),
            "expected a benchmark (ops, lut, wires, convolutions, automata, circuit, geometry), "
            "received 'everything'");
}

TEST(Bench, ABadFileIsAFailure) {
  const ScratchFolder scratch;
  const std::string path = (scratch / "file").string();
  CliResult result = run_cli({"bench", "ops", "--file", path});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(),
            "[safetensors] cannot read " + path + ": No such file or directory");
  save_safetensors(path, {});
  result = run_cli({"bench", "ops", "--file", path, "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.complaint(),
            "[bench] " + path + ": expected inputs and outputs of ops, received other tensors");
  EXPECT_EQ(result.json()["error"], result.complaint());
}

TEST(Bench, RepeatIsChecked) {
  const CliResult result = run_cli({"bench", "ops", "--repeat", "0"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.complaint().find("--repeat"), std::string::npos) << result.complaint();
}

}  // namespace
}  // namespace boolgrad
