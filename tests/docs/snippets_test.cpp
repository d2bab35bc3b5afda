// The short C++ blocks of the documentation, compiled and run. tests/docs/snippets.py checks that
// the pages show exactly these lines.
#include <boolgrad/boolgrad.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numbers>
#include <vector>

namespace boolgrad {
namespace {

// docs/geometry.md
TEST(Snippets, GradientOfAUnionOfDisks) {
  const Tensor disks = parameter(Tensor::of<double>({0, 0, 1, 1.5, 0, 0.8}, {2, 3}));
  const Tensor area = geometry::disk_union_area(disks);
  const Tensor slope = grad(area, disks);
  EXPECT_GT(slope.at(2), 0);
  EXPECT_LT(slope.at(2), 2 * std::numbers::pi);
  EXPECT_NEAR(slope.at(0), -slope.at(3), 1e-12);
}

// docs/circuits.md
TEST(Snippets, ClassesOfABatch) {
  logic::Network network(784, Parametrisation::sigmoid);
  network.add_layer({.gates = 100, .arity = 2, .seed = 1});
  const circuit::Netlist netlist = circuit::harden(network);
  const std::vector<std::uint8_t> bytes(std::size_t{10000} * 784);

  const circuit::CircuitRunner runner(netlist, {.classes = 10});
  std::vector<std::int32_t> classes(10000);
  runner.classify({bytes, 10000}, classes);

  for (const std::int32_t label : classes) EXPECT_EQ(label, classes[0]);
}

}  // namespace
}  // namespace boolgrad
