#include "boolgrad/model/inspection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "boolgrad/logic/gates.h"

namespace boolgrad {
namespace {

using Kinds = std::vector<std::pair<std::string, std::int64_t>>;

constexpr double sure = 40;

/// Logits of tables written as text, one letter per entry.
Tensor logits_of(const std::vector<std::string>& tables) {
  std::vector<double> values;
  for (const std::string& table : tables) {
    for (const char entry : table) values.push_back(entry == '1' ? sure : -sure);
  }
  const auto gates = static_cast<std::int64_t>(tables.size());
  return Tensor::of(values, {gates, static_cast<std::int64_t>(values.size()) / gates});
}

void add_layer(logic::Network& network, std::int64_t inputs, const std::vector<std::int32_t>& wires,
               const std::vector<std::string>& tables) {
  const auto gates = static_cast<std::int64_t>(tables.size());
  const auto arity = static_cast<std::int64_t>(wires.size()) / gates;
  network.add_layer(
      std::make_shared<const logic::Wiring>(inputs, Tensor::of(wires, {arity, gates})),
      logits_of(tables));
}

// Layer 1: AND, XOR, pass, OR of the same two inputs. Layer 2: one gate that passes its first
// input, one that is the constant 1 whatever it reads, one that is XOR of a gate with itself.
TEST(Inspection, FindsActiveGates) {
  logic::Network network(2, Parametrisation::sigmoid, DType::float64);
  add_layer(network, 2, {0, 0, 0, 0, 1, 1, 1, 1}, {"0001", "0110", "0101", "0111"});
  add_layer(network, 4, {0, 1, 3, 2, 2, 3}, {"0101", "1111", "0110"});
  const Inspection found = inspect(network);
  EXPECT_EQ(found.gates, 7);
  ASSERT_EQ(found.layers.size(), 2U);
  EXPECT_EQ(found.layers[0].active, 1) << "only AND: the others are read by gates that do not care";
  EXPECT_EQ(found.layers[1].active, 3);
  EXPECT_EQ(found.active_gates, 4);
  EXPECT_EQ(found.depth, 1) << "AND, then a pass-through that does not count";
  EXPECT_EQ(found.kinds, (Kinds{{"AND", 1}, {"A", 2}, {"XOR", 2}, {"OR", 1}, {"TRUE", 1}}));
  EXPECT_EQ(found.samples, 4);
}

TEST(Inspection, NamesAllSixteenGates) {
  std::vector<std::string> tables;
  std::vector<std::int32_t> wires(32, 0);
  for (std::size_t i = 16; i < 32; ++i) wires[i] = 1;
  for (const logic::Gate& gate : logic::gates) {
    std::string table;
    for (int entry = 0; entry < 4; ++entry) table += gate.entry(entry) ? '1' : '0';
    tables.push_back(table);
  }
  logic::Network network(2, Parametrisation::sigmoid, DType::float64);
  add_layer(network, 2, wires, tables);
  const Inspection found = inspect(network);
  ASSERT_EQ(found.kinds.size(), 16U);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(found.kinds[i], std::pair(std::string(logic::gates[i].name), std::int64_t{1}));
  }
}

TEST(Inspection, ClassifiesGatesOfOtherArities) {
  logic::Network network(3, Parametrisation::sigmoid, DType::float64);
  add_layer(network, 3, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2},
            {"00000000", "00110011", "11110000", "01101001"});
  EXPECT_EQ(inspect(network).kinds,
            (Kinds{{"constant", 1}, {"pass", 1}, {"inverter", 1}, {"other", 1}}));
  network.set_mask(0, Tensor::of(std::vector<double>{1, 1, 1, 0}));
  const Inspection found = inspect(network);
  EXPECT_EQ(found.kinds, (Kinds{{"constant", 1}, {"pass", 1}, {"inverter", 1}, {"off", 1}}));
  EXPECT_EQ(found.layers[0].off, 1);
  EXPECT_EQ(found.layers[0].active, 3);
  EXPECT_EQ(found.depth, 1) << "the inverter";
}

TEST(Inspection, MeasuresTheSoftnessOfALayer) {
  logic::Network network(1, Parametrisation::sigmoid, DType::float64);
  const logic::WiringPtr wiring =
      std::make_shared<const logic::Wiring>(1, Tensor::of(std::vector<std::int32_t>{0}, {1, 1}));
  // 0.25 at 0, one half at 1, which hardens to 0.
  network.add_layer(wiring, Tensor::of(std::vector<double>{-std::log(3.0), 0}, {1, 2}));
  network.add_layer(wiring, Tensor::of(std::vector<double>{sure, -sure}, {1, 2}));
  const Inspection found = inspect(network);
  const double quarter = 0.25 * 2 + 0.75 * std::log2(4.0 / 3);
  EXPECT_NEAR(found.layers[0].entropy, (quarter + 1) / 2, 1e-12);
  EXPECT_NEAR(found.layers[0].gap, (0.25 + 0.5) / 2, 1e-12);
  EXPECT_EQ(found.layers[0].disagreement, 0);
  EXPECT_NEAR(found.layers[1].entropy, 0, 1e-12);
  EXPECT_NEAR(found.layers[1].gap, (0.25 + 0.5) / 2, 1e-12);
  EXPECT_EQ(found.layers[1].disagreement, 0.5) << "one half is not above one half, its inverse 1";
}

TEST(Inspection, SamplesInputsIfThereAreMany) {
  logic::Network network(30, Parametrisation::sigmoid, DType::float64);
  add_layer(network, 30, {0, 29}, {"0001"});
  const Inspection found = inspect(network);
  EXPECT_EQ(found.samples, 4096);
  EXPECT_NEAR(found.layers[0].gap, 0, 1e-12);
}

TEST(Inspection, UsesFewerSamplesForManyGates) {
  logic::Network network(30, Parametrisation::sigmoid, DType::float32);
  const logic::WiringSize size{30, 1 << 17, 2};
  const double even = std::log(3.0);  // a table entry of 0.75
  network.add_layer(logic::random_wiring(size, 1, 0),
                    Tensor::full({size.gates, 4}, even, DType::float32));
  const Inspection found = inspect(network);
  EXPECT_EQ(found.samples, 512);
  EXPECT_NEAR(found.layers[0].gap, 0.25, 1e-6);
  EXPECT_EQ(found.layers[0].disagreement, 0);
}

}  // namespace
}  // namespace boolgrad
