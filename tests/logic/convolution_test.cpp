#include "boolgrad/logic/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/core/random.h"
#include "boolgrad/logic/gate_sink.h"
#include "boolgrad/logic/layers/convolution_layer.h"
#include "boolgrad/logic/lut.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/reduction.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace boolgrad::logic {
namespace {

constexpr InitialOptions noise = {.kind = Initialisation::gaussian, .strength = 2};

TEST(ConvolutionSize, FollowsFromWindowStridePaddingAndPooling) {
  const ImageSize image{1, 28, 28};
  EXPECT_EQ(output_size(image, {.kernels = 16, .window = 5}), (ImageSize{16, 12, 12}));
  EXPECT_EQ(output_size(image, {.kernels = 4, .padding = 1, .pool = 1}), (ImageSize{4, 28, 28}));
  EXPECT_EQ(output_size(image, {.kernels = 4, .stride = 2, .pool = 1}), (ImageSize{4, 13, 13}));
  EXPECT_EQ(output_size({2, 7, 9}, {.kernels = 4, .pool = 3}), (ImageSize{4, 1, 2}));
}

TEST(ConvolutionSize, CountsGatesAndLayers) {
  EXPECT_EQ((ConvolutionOptions{.depth = 3, .arity = 2}.leaves()), 8);
  EXPECT_EQ((ConvolutionOptions{.depth = 3, .arity = 2}.gates()), 7);
  EXPECT_EQ((ConvolutionOptions{.depth = 2, .arity = 4}.gates()), 5);
  EXPECT_EQ((ConvolutionOptions{.depth = 3, .pool = 1}.layers()), 3);
  EXPECT_EQ((ConvolutionOptions{.depth = 3, .pool = 2}.layers()), 4);
  EXPECT_EQ((ConvolutionOptions{.depth = 3, .pool = 3}.layers()), 5);
}

TEST(ConvolutionSize, RefusesWhatDoesNotFit) {
  const ImageSize image{3, 6, 5};
  expect_error([&] { output_size(image, {.window = 6}); },
               "[convolution] expected a window of at most 5, the side of the padded image, "
               "received 6");
  expect_error([&] { output_size(image, {.window = 3, .padding = 3}); },
               "[convolution] expected padding below the window of 3, received 3");
  expect_error([&] { output_size(image, {.kernels = 4, .groups = 2}); },
               "[convolution] expected a number of groups that divides 3 channels and 4 kernels, "
               "received 2");
  expect_error([&] { output_size(image, {.pool = 4}); },
               "[convolution] expected pooling over at most 3 positions per side, received 4");
  expect_error([&] { output_size(image, {.depth = 6, .arity = 6}); },
               "[convolution] expected kernels of at most 4096 leaves, received 46656");
}

/// A plain implementation: the output of every kernel at every position, then pooling, from the
/// hard tables and from the leaves as they are at one position.
class PlainConvolution {
 public:
  PlainConvolution(const ImageSize& image, const ConvolutionOptions& options,
                   const Network& network)
      : image_(image), options_(options), network_(network) {}

  std::vector<bool> operator()(const std::vector<bool>& bits) const {
    const std::int64_t height = side(image_.height);
    const std::int64_t width = side(image_.width);
    std::vector<bool> result;
    for (std::int64_t kernel = 0; kernel < options_.kernels; ++kernel) {
      for (std::int64_t y = 0; y + options_.pool <= height; y += options_.pool) {
        for (std::int64_t x = 0; x + options_.pool <= width; x += options_.pool) {
          bool any = false;
          for (std::int64_t dy = 0; dy < options_.pool; ++dy) {
            for (std::int64_t dx = 0; dx < options_.pool; ++dx) {
              any = any || tree(bits, kernel, y + dy, x + dx, options_.depth, 0);
            }
          }
          result.push_back(any);
        }
      }
    }
    return result;
  }

 private:
  std::int64_t side(std::int64_t length) const {
    return (length + 2 * options_.padding - options_.window) / options_.stride + 1;
  }

  /// The output of gate `gate` of a kernel, `levels` above the image.
  bool tree(const std::vector<bool>& bits, std::int64_t kernel, std::int64_t y, std::int64_t x,
            int levels, std::int64_t gate) const {
    const auto layer = static_cast<std::size_t>(levels - 1);
    std::int64_t gates = 1;
    for (int level = levels; level < options_.depth; ++level) gates *= options_.arity;
    const std::int64_t table = kernel * gates + gate;
    std::int64_t entry = 0;
    for (int slot = 0; slot < options_.arity; ++slot) {
      const bool value = levels > 1
                             ? tree(bits, kernel, y, x, levels - 1, gate * options_.arity + slot)
                             : pixel(bits, table, slot, y, x);
      entry |= std::int64_t{value} << slot;
    }
    return network_.hard_tables_of(layer).at(table * (1 << options_.arity) + entry) != 0;
  }

  /// The place of a leaf follows from a position where its whole window is inside.
  bool pixel(const std::vector<bool>& bits, std::int64_t table, int slot, std::int64_t y,
             std::int64_t x) const {
    const Wiring& wiring = *network_.layers()[0].wiring;
    const std::int64_t width = side(image_.width);
    const std::int64_t inside = (options_.padding + options_.stride - 1) / options_.stride;
    const std::int32_t source =
        wiring.source(table * wiring.positions() + inside * width + inside, slot);
    const std::int64_t row = source / image_.width % image_.height + (y - inside) * options_.stride;
    const std::int64_t column = source % image_.width + (x - inside) * options_.stride;
    if (row < 0 || row >= image_.height || column < 0 || column >= image_.width) return false;
    const std::int64_t channel = source / (image_.width * image_.height);
    return bits[static_cast<std::size_t>((channel * image_.height + row) * image_.width + column)];
  }

  ImageSize image_;
  ConvolutionOptions options_;
  const Network& network_;
};

struct Case {
  ImageSize image;
  ConvolutionOptions options;
};

class ConvolutionCase : public testing::TestWithParam<Case> {};

TEST_P(ConvolutionCase, IsTheSameTreeAtEveryPosition) {
  const auto& [image, options] = GetParam();
  const ConvolutionLayer layer(image, options, Parametrisation::sigmoid, DType::float32, noise, 7);
  const PlainConvolution plain(image, options, layer.network());
  constexpr std::int64_t samples = 70;
  Tensor x({image.bits(), samples}, DType::float32);
  RandomAddress at{.seed = 2};
  for (float& value : x.mutable_values<float>()) {
    value = static_cast<float>(random_below(at, 2));
    ++at.index;
  }
  const Tensor y = layer.hard(x);
  ASSERT_EQ(layer.outputs(), output_size(image, options).bits());
  std::int64_t ones = 0;
  for (std::int64_t s = 0; s < samples; ++s) {
    std::vector<bool> bits;
    for (std::int64_t i = 0; i < image.bits(); ++i) bits.push_back(x.at(i * samples + s) > 0.5);
    const std::vector<bool> expected = plain(bits);
    ASSERT_EQ(std::ssize(expected), layer.outputs());
    for (std::int64_t i = 0; i < layer.outputs(); ++i) {
      ones += expected[static_cast<std::size_t>(i)] ? 1 : 0;
      ASSERT_EQ(y.at(i * samples + s) != 0, expected[static_cast<std::size_t>(i)])
          << "output " << i << " of sample " << s;
    }
  }
  EXPECT_GT(ones, 0);
  // Of nine random bits, hardly ever all are 0.
  if (options.pool < 3) {
    EXPECT_LT(ones, samples * layer.outputs());
  }
}

/// The reference composes plain ops, with padding as factors of 0 and pooling as `max`.
TEST_P(ConvolutionCase, HasTheValuesAndGradientsOfTheReference) {
  const auto& [image, options] = GetParam();
  const ConvolutionLayer layer(image, options, Parametrisation::sigmoid, DType::float64, noise, 7);
  const Tensor x = parameter(random_tensor({image.bits(), 5}, DType::float64, 3, {0, 1}));
  const Network& network = layer.network();
  const std::vector<Tensor> tables = network.tables();
  Tensor expected = x;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    expected = lut_layer_reference(expected, tables[i], network.layers()[i].wiring);
  }
  const Tensor received = layer.soft(x);
  ASSERT_EQ(received.shape(), expected.shape());
  const Tensor weights = random_tensor(received.shape(), DType::float64, 4, {-1, 1});
  std::vector<Tensor> wanted = layer.parameters();
  wanted.push_back(x);
  const std::vector<Tensor> own = grad(sum(multiply(received, weights)), wanted);
  const std::vector<Tensor> reference = grad(sum(multiply(expected, weights)), wanted);
  for (std::int64_t i = 0; i < received.size(); ++i) {
    ASSERT_NEAR(received.at(i), expected.at(i), 1e-12);
  }
  for (std::size_t k = 0; k < own.size(); ++k) {
    for (std::int64_t i = 0; i < own[k].size(); ++i) {
      ASSERT_NEAR(own[k].at(i), reference[k].at(i), 1e-11) << "tensor " << k << ", element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ConvolutionCase,
    testing::Values(Case{{1, 7, 6}, {.kernels = 3}},
                    Case{{2, 5, 5}, {.kernels = 4, .padding = 1, .depth = 2, .groups = 2}},
                    Case{{1, 8, 8}, {.kernels = 2, .stride = 2, .padding = 1, .pool = 1}},
                    Case{{1, 6, 6}, {.kernels = 2, .padding = 2, .depth = 2, .arity = 3}},
                    Case{{3, 9, 9}, {.kernels = 2, .depth = 1, .arity = 6, .pool = 3}}));

TEST(Convolution, ReadsAllChannelsEquallyOftenAndPlacesOnce) {
  const ImageSize image{8, 6, 6};
  const ConvolutionOptions options{.kernels = 16, .groups = 2, .pool = 1};
  const WiringPtr leaves = convolution_wirings(image, options, 1, 0)[0];
  std::vector<std::int64_t> kernels_of_channel(8, 0);
  for (std::int64_t kernel = 0; kernel < 16; ++kernel) {
    std::set<std::int32_t> places;
    std::set<std::int64_t> channels;
    for (std::int64_t gate = 0; gate < 4; ++gate) {
      for (int slot = 0; slot < 2; ++slot) {
        const std::int32_t source = leaves->source((kernel * 4 + gate) * leaves->positions(), slot);
        EXPECT_TRUE(places.insert(source).second);
        channels.insert(source / 36);
      }
    }
    EXPECT_EQ(channels.size(), 2U);
    for (const std::int64_t channel : channels) {
      EXPECT_EQ(channel / 4, kernel / 8) << "groups mix";
      ++kernels_of_channel[static_cast<std::size_t>(channel)];
    }
  }
  EXPECT_EQ(kernels_of_channel, std::vector<std::int64_t>(8, 4));
}

TEST(Convolution, IsTheSameForTheSameSeedOnly) {
  const auto wires = [](std::uint64_t seed, std::uint32_t layer) {
    const auto wirings = convolution_wirings({1, 8, 8}, {.kernels = 4}, seed, layer);
    return std::vector<std::int32_t>(wirings[0]->sources().begin(), wirings[0]->sources().end());
  };
  EXPECT_EQ(wires(1, 0), wires(1, 0));
  EXPECT_NE(wires(1, 0), wires(2, 0));
  EXPECT_NE(wires(1, 0), wires(1, 4));
}

/// A network whose only convolution learns the places of its leaves.
Network learned_places(DType dtype) {
  const ImageSize image{2, 4, 5};
  const ConvolutionOptions options{.kernels = 3, .padding = 1, .depth = 2, .pool = 2};
  Network network(image.bits(), Parametrisation::sigmoid, dtype);
  const CandidatesPtr candidates = convolution_candidates(image, options, 4, 5, 0);
  const std::vector<WiringPtr> wirings = convolution_wirings(image, options, 5, 0);
  network.add_layer(
      candidates, initial_wire_logits(*candidates, dtype, 1, 5, 0),
      initial_logits(Parametrisation::sigmoid, wirings[0]->tables(), 2, dtype, noise, 5, 0));
  network.add_layer(wirings[1], initial_logits(Parametrisation::sigmoid, wirings[1]->tables(), 2,
                                               dtype, noise, 5, 1));
  network.add_pooling(wirings[2]);
  return network;
}

TEST(ConvolutionCandidates, AreThePlacesThatEveryPositionShares) {
  const Network network = learned_places(DType::float32);
  const GateLayer& leaves = network.layers()[0];
  EXPECT_EQ(leaves.wire_logits.shape(), (Shape{6, 2, 4}));
  const std::vector<std::int32_t> best = best_candidates(*leaves.candidates, leaves.wire_logits);
  std::int64_t outside = 0;
  for (std::int64_t gate = 0; gate < leaves.wiring->gates(); ++gate) {
    for (int slot = 0; slot < 2; ++slot) {
      const std::int64_t table = gate / leaves.wiring->positions();
      const std::int32_t expected = leaves.candidates->source(
          gate * 2 + slot, best[static_cast<std::size_t>(table * 2 + slot)]);
      const bool reads_zero =
          ((leaves.wiring->sharing()
                .outside.values<std::uint8_t>()[static_cast<std::size_t>(gate)] >>
            slot) &
           1) != 0;
      EXPECT_EQ(reads_zero, expected == 40);
      if (!reads_zero) {
        EXPECT_EQ(leaves.wiring->source(gate, slot), expected);
      }
      outside += reads_zero ? 1 : 0;
    }
  }
  EXPECT_GT(outside, 0);
}

TEST(ConvolutionCandidates, RefuseMoreThanTheWindowHas) {
  expect_error(
      [] {
        convolution_candidates({1, 6, 6}, {.kernels = 2}, 10, 1, 0);
      },
      "[convolution] expected from 2 to 9 candidates per leaf, the places that a kernel "
      "reads, received 10");
}

TEST(ConvolutionCandidates, HardSelectionIsTheChosenWiring) {
  const Network network = learned_places(DType::float64);
  const Tensor x = random_tensor({network.inputs(), 7}, DType::float64, 3, {0, 1});
  const std::vector<Tensor> tables = network.tables();
  const std::vector<Tensor> wire_logits = {network.layers()[0].wire_logits, {}, {}};
  const Tensor expected = network.soft(x);
  const Tensor received = network.soft(x, tables, wire_logits, WireForward::hard, 1);
  ASSERT_EQ(received.shape(), expected.shape());
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(received.at(i), expected.at(i), 1e-14);
  }
}

TEST(ConvolutionCandidates, HaveTheDerivativesOfTheSoftMixture) {
  const Network network = learned_places(DType::float64);
  const Tensor x = parameter(random_tensor({network.inputs(), 3}, DType::float64, 3, {0, 1}));
  const GateLayer& leaves = network.layers()[0];
  const auto value_of = [&](const Tensor& slots) {
    return sum(multiply(slots, random_tensor(slots.shape(), DType::float64, 4, {-1, 1})));
  };
  const std::vector<Tensor> wanted = {x, leaves.wire_logits};
  const Tensor own = select_wires(x, leaves.wire_logits, leaves.candidates, WireForward::soft, 0.7);
  const Tensor reference = select_wires_reference(x, leaves.wire_logits, *leaves.candidates, 0.7);
  const std::vector<Tensor> gradients = grad(value_of(own), wanted);
  const std::vector<Tensor> expected = grad(value_of(reference), wanted);
  for (std::int64_t i = 0; i < own.size(); ++i) ASSERT_NEAR(own.at(i), reference.at(i), 1e-13);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    ASSERT_EQ(gradients[k].shape(), wanted[k].shape());
    for (std::int64_t i = 0; i < expected[k].size(); ++i) {
      ASSERT_NEAR(gradients[k].at(i), expected[k].at(i), 1e-12);
    }
  }
}

TEST(ConvolutionCandidates, SurviveAFile) {
  const Network network = learned_places(DType::float32);
  const Network restored = Network::from_file(network.to_file());
  ASSERT_TRUE(restored.learns_wires());
  EXPECT_EQ(restored.layers()[0].candidates->sharing(), network.layers()[0].candidates->sharing());
  const Network plain = Network::from_file(without_candidates(network.to_file()));
  ASSERT_FALSE(plain.learns_wires());
  const Tensor x = random_tensor({network.inputs(), 5}, DType::float32, 3, {0, 1});
  const Tensor expected = network.soft(x);
  for (const Network* other : {&restored, &plain}) {
    const Tensor received = other->soft(x);
    for (std::int64_t i = 0; i < expected.size(); ++i) ASSERT_EQ(received.at(i), expected.at(i));
  }
}

TEST(Convolution, SurvivesAFile) {
  const ImageSize image{1, 6, 6};
  const ConvolutionLayer layer(image, {.kernels = 2, .padding = 1, .depth = 2},
                               Parametrisation::sigmoid, DType::float32, noise, 7);
  const Network restored = Network::from_file(layer.network().to_file());
  const Tensor x = random_tensor({image.bits(), 9}, DType::float32, 3, {0, 1});
  const Tensor expected = layer.soft(x);
  const Tensor received = restored.soft(x);
  ASSERT_EQ(received.shape(), expected.shape());
  for (std::int64_t i = 0; i < expected.size(); ++i) ASSERT_EQ(received.at(i), expected.at(i));
}

TEST(Convolution, AMaskSwitchesAGateOffAtAllPositions) {
  Network network(16, Parametrisation::sigmoid, DType::float32);
  const WiringPtr wiring =
      convolution_wirings({1, 4, 4}, {.kernels = 2, .window = 2, .depth = 1, .pool = 1}, 1, 0)[0];
  network.add_layer(wiring, Tensor::ones({2, 4}, DType::float32));
  Tensor mask = Tensor::ones({2}, DType::float32);
  mask.mutable_values<float>()[0] = 0;
  network.set_mask(0, mask);
  const Tensor y = network.soft(Tensor::ones({16, 1}, DType::float32));
  for (std::int64_t p = 0; p < 9; ++p) {
    EXPECT_EQ(y.at(p), 0);
    EXPECT_GT(y.at(9 + p), 0.5);
  }
  expect_error([&] { network.set_mask(0, Tensor::ones({18}, DType::float32)); },
               "[mask] expected float32 [2] for layer 0, received float32 [18]");
}

TEST(Convolution, RefusesFilesThatDoNotFit) {
  const ConvolutionLayer layer({1, 6, 6}, {.kernels = 2}, Parametrisation::sigmoid, DType::float32,
                               noise, 7);
  TensorFile file = layer.network().to_file();
  std::string& text = file.metadata["logic_network"];
  const auto at = text.find("\"positions\":[16");
  ASSERT_NE(at, std::string::npos) << text;
  TensorFile wrong_positions = file;
  wrong_positions.metadata["logic_network"].replace(at, 15, "\"positions\":[7");
  expect_error([&] { Network::from_file(wrong_positions); },
               "[wiring] expected a number of positions that divides 128 gates, received 7");
}

TEST(Convolution, ReadsTheLeavesThatAreGiven) {
  const ImageSize image{2, 4, 5};
  const ConvolutionOptions options{.kernels = 3, .window = 2, .padding = 1, .depth = 2, .pool = 2};
  const auto leaves = convolution_leaves(image, options, 5, 1);
  ASSERT_EQ(std::ssize(leaves), 3 * 4);
  const auto given = convolution_wirings(image, options, leaves);
  const auto random = convolution_wirings(image, options, 5, 1);
  ASSERT_EQ(given.size(), random.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(given[i]->sources(), random[i]->sources()));
  }
  // The first leaf alone, at the second position of the first row.
  std::vector<ConvolutionLeaf> own = leaves;
  own[0] = {.channel = 1, .row = 1, .column = 0};
  const auto changed = convolution_wirings(image, options, own);
  EXPECT_EQ(changed[0]->source(1, 0), 1 * 20 + 0 * 5 + 0);
  own[0].row = 2;
  expect_error([&] { convolution_wirings(image, options, own); },
               "[convolution] expected leaves in 2 channels and a window of 2, received channel 1, "
               "row 2, column 0");
  own.pop_back();
  expect_error([&] { convolution_wirings(image, options, own); },
               "[convolution] expected 12 leaves, received 11");
}

/// Maxima over rectangles, place by place.
double pooled(const Tensor& x, const ImageSize& image, const PoolingOptions& options,
              std::int64_t channel, std::int64_t y, std::int64_t x_position) {
  double largest = -1e9;
  for (std::int64_t i = 0; i < options.rows; ++i) {
    for (std::int64_t j = 0; j < options.columns; ++j) {
      const std::int64_t row = y * options.row_stride + i - options.row_padding;
      const std::int64_t column = x_position * options.column_stride + j - options.column_padding;
      if (row < 0 || row >= image.height || column < 0 || column >= image.width) continue;
      largest = std::max(largest, x.at((channel * image.height + row) * image.width + column));
    }
  }
  return largest;
}

TEST(Pooling, TakesMaximaOfRectangles) {
  const ImageSize image{2, 7, 8};
  const Tensor x = random_tensor({image.bits(), 1}, DType::float64, 1);
  for (const PoolingOptions& options :
       {PoolingOptions{}, PoolingOptions{.rows = 3, .columns = 2, .row_padding = 1},
        PoolingOptions{.rows = 3, .columns = 3, .row_padding = 1, .column_padding = 1},
        PoolingOptions{.rows = 5, .columns = 4, .row_stride = 1, .column_stride = 3}}) {
    const ImageSize size = output_size(image, options);
    Tensor y = x;
    for (const WiringPtr& wiring : pooling_wirings(image, options)) {
      const std::int64_t entries = std::int64_t{1} << wiring->arity();
      y = lut_layer(y, Tensor({0, entries}, DType::float64), wiring);
    }
    ASSERT_EQ(y.size(), size.bits());
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const std::int64_t place = i % (size.height * size.width);
      EXPECT_EQ(y.at(i), pooled(x, image, options, i / (size.height * size.width),
                                place / size.width, place % size.width));
    }
  }
}

TEST(Pooling, SharesTheGradientOfTiesUnlessTheFirstWins) {
  const Tensor wires = Tensor::of(std::vector<std::int32_t>{0, 1, 2}, {3, 1});
  const Tensor x = parameter(Tensor::of(std::vector<float>{0, 1, 1}, {3, 1}));
  const Tensor tables({0, 8}, DType::float32);
  const Tensor shared = grad(lut_layer(x, tables, Wiring::pooling(3, wires)), x);
  EXPECT_EQ(shared.at(1), 0.5);
  EXPECT_EQ(shared.at(2), 0.5);
  const Tensor first = grad(lut_layer(x, tables, Wiring::pooling(3, wires, true)), x);
  EXPECT_EQ(first.at(0), 0);
  EXPECT_EQ(first.at(1), 1);
  EXPECT_EQ(first.at(2), 0);
}

TEST(Pooling, RefusesWhatDoesNotFit) {
  const ImageSize image{1, 3, 4};
  expect_error(
      [&] { pooling_wirings(image, {.rows = 7}); },
      "[pooling] expected 1 to 6 rows at a stride of at least 1, received 7 at a stride of 2");
  expect_error([&] { pooling_wirings(image, {.columns = 3, .column_padding = 2}); },
               "[pooling] expected padding of at most half of 3 columns, received 2");
  expect_error([&] { pooling_wirings(image, {.rows = 4}); },
               "[pooling] expected at most 3 rows, those of the padded image, received 4");
}

}  // namespace
}  // namespace boolgrad::logic
