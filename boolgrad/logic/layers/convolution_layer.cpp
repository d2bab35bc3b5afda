#include "boolgrad/logic/layers/convolution_layer.h"

#include <array>

#include "boolgrad/logic/convolution_layers.h"
#include "boolgrad/logic/host_network.h"
#include "boolgrad/ops/shaping.h"

namespace boolgrad::logic {
namespace {

struct Variant {
  Parametrisation parametrisation;
  ImageSize image;
  ConvolutionOptions options;
};

// Trees of different depth and arity; single gates; padding, strides and groups; no pooling, and
// pooling at once and in two steps.
const std::array<Variant, 7>& variants() {
  static const std::array<Variant, 7> all = {{
      {Parametrisation::softmax16, {1, 5, 5}, {.kernels = 3, .window = 3, .pool = 2}},
      {Parametrisation::sigmoid, {2, 4, 5}, {.kernels = 2, .padding = 1, .depth = 2, .pool = 2}},
      {Parametrisation::walsh, {1, 6, 5}, {.kernels = 2, .stride = 2, .depth = 1, .pool = 1}},
      {Parametrisation::sigmoid,
       {4, 4, 4},
       {.kernels = 4, .window = 2, .depth = 2, .groups = 2, .pool = 1}},
      {Parametrisation::sigmoid, {1, 5, 5}, {.kernels = 2, .depth = 2, .arity = 3, .pool = 3}},
      {Parametrisation::walsh,
       {3, 4, 4},
       {.kernels = 2, .padding = 2, .depth = 1, .arity = 6, .channels_per_kernel = 3, .pool = 2}},
      {Parametrisation::softmax16, {1, 4, 4}, {.kernels = 1, .window = 4, .depth = 4, .pool = 1}},
  }};
  return all;
}

Network make_convolution(const ImageSize& image, const ConvolutionOptions& options,
                         Parametrisation parametrisation, DType dtype,
                         const InitialOptions& initial, std::uint64_t seed) {
  Network network(image.bits(), parametrisation, dtype);
  add_convolution(network, image, options, {.initial = initial, .seed = seed});
  return network;
}

constexpr InitialOptions example_init = {.kind = Initialisation::residual, .strength = 1};

LayerResults run_example(int variant, const Device& device) {
  constexpr std::int64_t samples = 21;
  const Variant& of = variants()[static_cast<std::size_t>(variant)];
  const Network network =
      make_convolution(of.image, of.options, of.parametrisation, DType::float32, example_init, 3);
  const auto program = make_network_program(
      device, network, {.batch = samples, .parametrisation = of.parametrisation});
  program->set_cases(DataRole::training, example_values({network.inputs(), samples}, 1),
                     example_values({network.outputs(), samples}, 2));
  program->set_parameters(network.parameters(), masks_of(network), network.input_mask());
  return results_of(*program);
}

}  // namespace

ConvolutionLayer::ConvolutionLayer(const ImageSize& image, const ConvolutionOptions& options,
                                   Parametrisation parametrisation, DType dtype,
                                   const InitialOptions& initial, std::uint64_t seed)
    : network_(make_convolution(image, options, parametrisation, dtype, initial, seed)) {}

std::vector<Tensor> ConvolutionLayer::parameters() const {
  std::vector<Tensor> result = network_.parameters();
  std::erase_if(result, [](const Tensor& logits) { return logits.size() == 0; });  // of pooling
  return result;
}

Tensor ConvolutionLayer::hard(const Tensor& x) const {
  return unpack_bits(network_.hard(pack_bits(x)), DType::int32);
}

std::vector<Signal> ConvolutionLayer::emit(std::span<const Signal> inputs, GateSink& sink) const {
  return logic::emit(network_, {inputs.begin(), inputs.end()}, sink);
}

const LayerKind convolution_layer_kind = {
    "convolution",
    "trees of gates at every position of an image, with pooling",
    {"convolution."},
    {Feature::convolutions},
    static_cast<int>(std::tuple_size_v<std::remove_cvref_t<decltype(variants())>>),
    [](int variant, DType dtype, std::uint64_t seed) -> std::unique_ptr<Layer> {
      const Variant& of = variants()[static_cast<std::size_t>(variant)];
      return std::make_unique<ConvolutionLayer>(of.image, of.options, of.parametrisation, dtype,
                                                example_init, seed);
    },
    run_example};

}  // namespace boolgrad::logic
