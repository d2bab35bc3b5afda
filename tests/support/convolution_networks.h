// Random networks that begin with convolutions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "boolgrad/logic/convolution_layers.h"
#include "boolgrad/logic/knockout.h"
#include "boolgrad/logic/network.h"
#include "tests/support/op_cases.h"

namespace boolgrad {

inline constexpr logic::InitialOptions random_tables = {.kind = logic::Initialisation::gaussian,
                                                        .strength = 2};

/// Adds the layers of a convolution with random tables, and returns the size of its outputs.
inline logic::ImageSize add_convolution(logic::Network& network, const logic::ImageSize& image,
                                        const logic::ConvolutionOptions& options,
                                        std::uint64_t seed) {
  return logic::add_convolution(network, image, options, {.initial = random_tables, .seed = seed});
}

/// One or two convolutions with random padding, strides, groups, arity, depth and pooling, then up
/// to two layers of gates. Half of them have masks.
inline logic::Network random_convolution_network(std::uint64_t seed) {
  Choices choose(seed);
  const std::int64_t groups = choose.between(1, 2);
  logic::ImageSize image{groups * choose.between(1, 2), choose.between(4, 8), choose.between(4, 8)};
  logic::Network network(image.bits(), Parametrisation::sigmoid);
  const std::int64_t convolutions = choose.between(1, 2);
  for (std::int64_t i = 0; i < convolutions; ++i) {
    logic::ConvolutionOptions options;
    options.kernels = groups * choose.between(1, 2);
    options.groups = groups;
    options.window = choose.between(1, std::min<std::int64_t>({image.height, image.width, 4}));
    options.padding = choose.below(options.window);
    options.stride = choose.between(1, 2);
    options.arity = static_cast<int>(choose.between(2, 4));
    options.depth = static_cast<int>(choose.between(1, options.arity == 2 ? 3 : 2));
    options.pool = 1;
    const logic::ImageSize whole = logic::output_size(image, options);
    options.pool = choose.between(1, std::min<std::int64_t>({whole.height, whole.width, 3}));
    image = add_convolution(network, image, options, seed);
  }
  const std::int64_t layers = choose.below(3);
  for (std::int64_t i = 0; i < layers; ++i) {
    network.add_layer({.gates = 10, .seed = seed, .initialisation = random_tables});
  }
  if (choose.below(2) == 0) {
    const auto masked = [&](std::int64_t count) {
      const std::int64_t first = choose.below(count);
      const std::int64_t off = choose.between(1, std::min<std::int64_t>(3, count - first));
      return logic::block_knockout(count, first, off, network.dtype());
    };
    network.set_input_mask(masked(network.inputs()));
    network.set_mask(0, masked(network.layers()[0].wiring->tables()));
  }
  return network;
}

}  // namespace boolgrad
