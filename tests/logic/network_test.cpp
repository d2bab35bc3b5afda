#include "boolgrad/logic/network.h"

#include <gtest/gtest.h>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/logic/knockout.h"
#include "boolgrad/ops/reduction.h"
#include "boolgrad/options/names.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

Network small_network(Parametrisation kind, DType dtype = DType::float32, double strength = 1) {
  Network network(6, kind, dtype);
  for (const std::int64_t gates : {20, 12, 4}) {
    const auto layer = static_cast<std::uint32_t>(network.layers().size());
    const WiringPtr wiring = random_wiring({network.outputs(), gates}, 1, layer);
    network.add_layer(wiring, initial_logits(kind, gates, 2, dtype,
                                             {Initialisation::gaussian, strength}, 1, layer));
  }
  return network;
}

Tensor all_cases(std::int64_t bits, DType dtype) {
  Tensor x({bits, std::int64_t{1} << bits}, DType::uint8);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t feature = i >> bits;
    const std::int64_t sample = i & ((std::int64_t{1} << bits) - 1);
    x.mutable_values<std::uint8_t>()[static_cast<std::size_t>(i)] = (sample >> feature) & 1;
  }
  return unpack_bits(pack_bits(x), dtype);
}

class EveryParametrisation : public testing::TestWithParam<Parametrisation> {};

// Logits so large that every entry is 0 or 1 make soft and hard passes equal.
TEST_P(EveryParametrisation, SaturatedSoftIsHard) {
  const Network network = small_network(GetParam(), DType::float64, 1e4);
  const Tensor x = all_cases(6, DType::float64);
  const Tensor soft = network.soft(x);
  const BitMatrix hard = network.hard(pack_bits(x));
  for (std::int64_t i = 0; i < soft.size(); ++i) {
    EXPECT_EQ(soft.at(i), hard.at(i / 64, i % 64) ? 1 : 0);
  }
}

TEST_P(EveryParametrisation, LayerOutputsAgreeWithTheWholeNetwork) {
  const Network network = small_network(GetParam());
  const Tensor x = all_cases(6, DType::float32);
  const std::vector<Tensor> layers = network.soft_layers(x);
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[0].shape(), (Shape{20, 64}));
  EXPECT_TRUE(same_bits(layers.back().detach(), network.soft(x).detach()));
  const BitMatrix bits = pack_bits(x);
  EXPECT_EQ(network.hard_layers(bits).back().words, network.hard(bits).words);
}

TEST_P(EveryParametrisation, AMaskedGateOutputsZero) {
  Network network = small_network(GetParam());
  const Tensor x = all_cases(6, DType::float32);
  const std::int64_t off[] = {3, 7};
  network.set_mask(0, listed_knockout(20, off, DType::float32));
  const Tensor first = network.soft_layers(x)[0];
  const BitMatrix hard = network.hard_layers(pack_bits(x))[0];
  for (const std::int64_t gate : off) {
    for (std::int64_t sample = 0; sample < 64; ++sample) {
      EXPECT_EQ(first.at(gate * 64 + sample), 0);
      EXPECT_FALSE(hard.at(gate, sample));
    }
  }
  network.set_mask(0, Tensor::ones({20}, DType::float32));
  EXPECT_NE(network.soft_layers(x)[0].at(3 * 64 + 5), 0);
}

TEST_P(EveryParametrisation, AMaskedInputIsZero) {
  Network network = small_network(GetParam());
  const Tensor x = all_cases(6, DType::float32);
  network.set_input_mask(block_knockout(6, 2, 1, DType::float32));
  const Tensor masked = network.soft(x);
  const BitMatrix hard = network.hard(pack_bits(x));
  for (std::int64_t sample = 0; sample < 64; ++sample) {
    const std::int64_t without = sample & ~std::int64_t{4};
    for (std::int64_t out = 0; out < 4; ++out) {
      EXPECT_EQ(masked.at(out * 64 + sample), masked.at(out * 64 + without));
      EXPECT_EQ(hard.at(out, sample), hard.at(out, without));
    }
  }
}

TEST_P(EveryParametrisation, RoundTripsThroughAFileAndRejectsIncompleteOnes) {
  Network network = small_network(GetParam());
  network.set_mask(1, random_knockout(12, 0.25, DType::float32, 1, 1));
  const TensorFile file = network.to_file();
  const Network loaded = Network::from_file(file);
  const Tensor x = all_cases(6, DType::float32);
  EXPECT_TRUE(same_bits(loaded.soft(x).detach(), network.soft(x).detach()));
  EXPECT_EQ(loaded.hard(pack_bits(x)).words, network.hard(pack_bits(x)).words);
  for (const auto& [name, tensor] : file.tensors) {
    TensorFile incomplete = file;
    incomplete.tensors.erase(name);
    expect_error([&] { Network::from_file(incomplete); },
                 "[network] expected a file with wires, logits and masks of every layer, received "
                 "one without " +
                     name);
  }
  TensorFile bare = file;
  bare.metadata.clear();
  expect_error([&] { Network::from_file(bare); },
               "[network] expected the metadata of a logic network, received none");
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryParametrisation,
                         testing::Values(Parametrisation::softmax16, Parametrisation::sigmoid,
                                         Parametrisation::walsh),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST(Network, RejectsInvalidArguments) {
  Network network = small_network(Parametrisation::softmax16);
  expect_error([&] { network.set_mask(0, Tensor::ones({19}, DType::float32)); },
               "[mask] expected float32 [20] for layer 0, received float32 [19]");
  expect_error([&] { network.set_mask(3, Tensor::ones({4}, DType::float32)); },
               "[mask] expected a layer below 3, received 3");
  expect_error([&] { network.set_input_mask(Tensor::ones({7}, DType::float32)); },
               "[mask] expected float32 [6] for the inputs, received float32 [7]");
  expect_error(
      [&] {
        network.add_layer(random_wiring({5, 2}, 1, 0), Tensor());
      },
      "[network] expected a layer of 4 inputs, received one of 5");
  expect_error(
      [&] {
        network.add_layer(random_wiring({4, 2}, 1, 0), Tensor::ones({2, 4}, DType::float32));
      },
      "[network] expected logits of float32 [2, 16], received float32 [2, 4]");
  TensorFile hostile = network.to_file();
  hostile.metadata["logic_network"] = "{\"inputs\": 6}";
  expect_error(
      [&] { Network::from_file(hostile); },
      "[network] expected inputs, layers, parametrisation and group_sizes in the metadata, "
      "received {\"inputs\": 6}");
}

TEST(Knockout, SwitchesOffTheRequestedGates) {
  const auto count_off = [](const Tensor& mask) {
    int off = 0;
    for (std::int64_t i = 0; i < mask.size(); ++i) off += mask.at(i) == 0 ? 1 : 0;
    return off;
  };
  EXPECT_EQ(count_off(random_knockout(50, 0.1, DType::float32, 1, 0)), 5);
  EXPECT_EQ(count_off(whole_knockout(7, DType::float64)), 7);
  const Tensor block = block_knockout(10, 3, 4, DType::float32);
  EXPECT_EQ(count_off(block), 4);
  EXPECT_EQ(block.at(3), 0);
  EXPECT_EQ(block.at(7), 1);
  EXPECT_FALSE(same_bits(random_knockout(50, 0.1, DType::float32, 1, 0),
                         random_knockout(50, 0.1, DType::float32, 2, 0)));
  expect_error([] { random_knockout(5, 1.5, DType::float32, 1, 0); },
               "[knockout] expected a share between 0 and 1, received 1.5");
  expect_error([] { block_knockout(5, 3, 3, DType::float32); },
               "[knockout] expected a block within 5 gates, received 3 from 3");
  const std::int64_t outside[] = {5};
  expect_error([&] { listed_knockout(5, outside, DType::float32); },
               "[knockout] expected gates below 5, received 5");
}

}  // namespace
}  // namespace boolgrad::logic
