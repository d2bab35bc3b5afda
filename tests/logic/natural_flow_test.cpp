// A mask that is part of the function zeroes the gradients of masked gates by the chain rule alone.
// Zeroing them by hand afterwards changes no bit. See docs/masks.md.
#include <gtest/gtest.h>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/logic/knockout.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/loss.h"
#include "boolgrad/optim/adamw.h"
#include "boolgrad/options/names.h"
#include "tests/support/op_cases.h"

namespace boolgrad::logic {
namespace {

/// Zeroes the gradients of masked gates by hand.
std::vector<Tensor> explicitly_masked(const Network& network,
                                      const std::vector<Tensor>& gradients) {
  std::vector<Tensor> result;
  for (std::size_t layer = 0; layer < gradients.size(); ++layer) {
    Tensor masked = gradients[layer].clone();
    const Tensor& mask = network.layers()[layer].mask;
    const std::span<float> values = masked.mutable_values<float>();
    const std::size_t logits = values.size() / static_cast<std::size_t>(mask.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (mask.at(static_cast<std::int64_t>(i / logits)) == 0) values[i] = 0;
    }
    result.push_back(masked);
  }
  return result;
}

struct Circuit {
  Network network;
  Tensor x;
  Tensor target;
};

// Random sizes, wires, logits and masks; inputs are masked too.
Circuit random_circuit(Parametrisation kind, std::uint64_t seed) {
  Choices choose(seed);
  const std::int64_t inputs = choose.between(3, 8);
  const std::int64_t samples = choose.between(1, 100);
  Network network(inputs, kind, DType::float32);
  network.set_input_mask(random_knockout(inputs, 0.2, DType::float32, seed, 99));
  const int arity = kind == Parametrisation::softmax16 ? 2 : static_cast<int>(choose.between(1, 6));
  const std::int64_t layers = choose.between(2, 5);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::int64_t gates = choose.between(4, 40);
    const auto layer = static_cast<std::uint32_t>(i);
    network.add_layer(random_wiring({network.outputs(), gates, arity}, seed, layer),
                      initial_logits(kind, gates, arity, DType::float32,
                                     {Initialisation::gaussian, 2}, seed, layer));
    const double share = 0.1 * static_cast<double>(choose.between(0, 6));
    network.set_mask(static_cast<std::size_t>(i),
                     random_knockout(gates, share, DType::float32, seed, layer));
  }
  return {network, random_tensor({inputs, samples}, DType::float32, seed + 1, {0, 1}),
          random_tensor({network.outputs(), samples}, DType::float32, seed + 2, {0, 1})};
}

Tensor loss_of(int kind, const Tensor& y, const Tensor& target) {
  switch (kind) {
    case 0: return sum_of_squares(y, target);
    case 1: return l4(y, target);
    case 2: return binary_cross_entropy(y, target);
    default: return focal(y, target);
  }
}

std::vector<Tensor> gradients_of(const Circuit& circuit, int loss) {
  return grad(loss_of(loss, circuit.network.soft(circuit.x), circuit.target),
              circuit.network.parameters());
}

class NaturalFlow : public testing::TestWithParam<Parametrisation> {};

TEST_P(NaturalFlow, MaskedGatesHaveExactlyZeroGradientsAndOthersAreUnchanged) {
  int masked_gates = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Circuit circuit = random_circuit(GetParam(), seed);
    for (int loss = 0; loss < 4; ++loss) {
      const std::vector<Tensor> natural = gradients_of(circuit, loss);
      const std::vector<Tensor> by_hand = explicitly_masked(circuit.network, natural);
      for (std::size_t layer = 0; layer < natural.size(); ++layer) {
        const Tensor& mask = circuit.network.layers()[layer].mask;
        const std::int64_t logits = natural[layer].size() / mask.size();
        for (std::int64_t i = 0; i < natural[layer].size(); ++i) {
          if (mask.at(i / logits) == 0) {
            ++masked_gates;
            ASSERT_EQ(natural[layer].at(i), 0.0) << "seed " << seed << " layer " << layer;
          } else {
            ASSERT_EQ(natural[layer].at(i), by_hand[layer].at(i));
          }
        }
      }
    }
  }
  EXPECT_GT(masked_gates, 1000);  // enough cases for the claim
}

TEST_P(NaturalFlow, MomentsAreIdenticalAfterAHundredSteps) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Circuit natural = random_circuit(GetParam(), seed);
    const Circuit by_hand = random_circuit(GetParam(), seed);
    AdamW natural_optimiser(natural.network.parameters(), {});
    AdamW hand_optimiser(by_hand.network.parameters(), {});
    for (int step = 0; step < 100; ++step) {
      natural_optimiser.step(gradients_of(natural, 0), 0.05);
      hand_optimiser.step(explicitly_masked(by_hand.network, gradients_of(by_hand, 0)), 0.05);
    }
    const auto& a = natural_optimiser.state();
    const auto& b = hand_optimiser.state();
    for (std::size_t layer = 0; layer < a.first.size(); ++layer) {
      EXPECT_TRUE(same_bits(a.first[layer], b.first[layer]));
      EXPECT_TRUE(same_bits(a.second[layer], b.second[layer]));
      EXPECT_TRUE(same_bits(natural.network.layers()[layer].logits.detach(),
                            by_hand.network.layers()[layer].logits.detach()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, NaturalFlow,
                         testing::Values(Parametrisation::softmax16, Parametrisation::sigmoid,
                                         Parametrisation::walsh),
                         [](const auto& test) { return std::string(to_string(test.param)); });

// The worked example of docs/masks.md. All its numbers are exact in binary.
TEST(NaturalFlow, TheThreeLayerExample) {
  const auto pair = [](std::int64_t gates, const std::vector<std::int32_t>& wires) {
    return std::make_shared<const Wiring>(2, Tensor::of(wires, {2, gates}));
  };
  const Tensor x = Tensor::of<double>({0.25, 0.5}, {2, 1});
  // Entries in the order (0,0), (1,0), (0,1), (1,1) of (first, second).
  const Tensor first = parameter(Tensor::of<double>({0, 1, 1, 1, 0, 0, 0, 1}, {2, 4}));   // OR, AND
  const Tensor second = parameter(Tensor::of<double>({0, 1, 1, 0, 0, 1, 1, 1}, {2, 4}));  // XOR, OR
  const Tensor third = parameter(Tensor::of<double>({0, 1, 1, 0}, {1, 4}));               // XOR
  const Tensor mask = Tensor::of<double>({0, 1}, {2, 1});

  const Tensor h = lut_layer(x, first, pair(2, {0, 0, 1, 1}));
  EXPECT_EQ(h.at(0), 0.625);
  EXPECT_EQ(h.at(1), 0.125);
  const Tensor u = lut_layer(h, multiply(second, mask), pair(2, {0, 0, 1, 1}));
  EXPECT_EQ(u.at(0), 0);
  EXPECT_EQ(u.at(1), 0.671875);
  const Tensor y = lut_layer(u, third, pair(1, {0, 1}));
  EXPECT_EQ(y.item(), 0.671875);
  const Tensor loss = sum_of_squares(y, Tensor::ones({1, 1}, DType::float64));

  const std::vector<Tensor> gradients = grad(loss, {u, second, h, first});
  EXPECT_EQ(gradients[0].at(0), 0.2255859375);  // the gradient towards the masked gate is not 0
  EXPECT_EQ(gradients[0].at(1), -0.65625);
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(gradients[1].at(i), 0);  // but its mask stops it
  EXPECT_EQ(gradients[1].at(4), -0.65625 * 0.328125);
  EXPECT_EQ(gradients[1].at(5), -0.65625 * 0.546875);
  EXPECT_EQ(gradients[2].at(0), -0.57421875);
  EXPECT_EQ(gradients[2].at(1), -0.24609375);
  EXPECT_EQ(gradients[3].at(0), -0.57421875 * 0.375);
  EXPECT_EQ(gradients[3].at(7), -0.24609375 * 0.125);
}

}  // namespace
}  // namespace boolgrad::logic
