#include "boolgrad/logic/convolution_layers.h"

#include <utility>

#include "boolgrad/logic/wire_candidates.h"

namespace boolgrad::logic {

ImageSize add_convolution(Network& network, const ImageSize& input,
                          const ConvolutionOptions& options, const ConvolutionStart& start) {
  const auto first = static_cast<std::uint32_t>(network.layers().size());
  for (WiringPtr& wiring : convolution_wirings(input, options, start.seed, first)) {
    if (wiring->pools()) {
      network.add_pooling(std::move(wiring));
      continue;
    }
    const auto layer = static_cast<std::uint32_t>(network.layers().size());
    const std::uint32_t address = start.first_address + layer;
    const Tensor logits =
        initial_logits(network.parametrisation(), wiring->tables(), wiring->arity(),
                       network.dtype(), start.initial, start.seed, address);
    if (start.candidates == 1 || layer != first) {
      network.add_layer(std::move(wiring), logits);
      continue;
    }
    CandidatesPtr leaves =
        convolution_candidates(input, options, start.candidates, start.seed, first);
    const Tensor wire_logits =
        initial_wire_logits(*leaves, network.dtype(), start.wire_strength, start.seed, address);
    network.add_layer(std::move(leaves), wire_logits, logits);
  }
  return output_size(input, options);
}

}  // namespace boolgrad::logic
