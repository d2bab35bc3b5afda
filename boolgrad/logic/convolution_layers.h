// A convolution as layers of a network.
#pragma once

#include <cstdint>

#include "boolgrad/logic/convolution.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/logic/parametrisation.h"

namespace boolgrad::logic {

/// How the layers of a convolution start.
struct ConvolutionStart {
  InitialOptions initial = {};
  std::uint64_t seed = 0;
  /// Random address of the logits of a network's first layer. Each layer has the next one.
  std::uint32_t first_address = 0;
  std::int64_t candidates = 1;  ///< places per leaf, of which one is learned; 1: places are fixed
  double wire_strength = 1;     ///< standard deviation of the logits of learned places
};

/// Adds the layers of a convolution of images to a network, which has the outputs of `input` so
/// far, and returns the size of the images that they compute. Throws where `output_size` does.
ImageSize add_convolution(Network& network, const ImageSize& input,
                          const ConvolutionOptions& options, const ConvolutionStart& start);

}  // namespace boolgrad::logic
