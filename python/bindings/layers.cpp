// Layers on contiguous buffers, for programs with a tape of their own, such as PyTorch.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/circuit/harden.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/data/binarisation.h"
#include "boolgrad/logic/convolution.h"
#include "boolgrad/logic/lut.h"
#include "boolgrad/logic/network.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/logic/wiring.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/options/names.h"
#include "circuit.h"
#include "module.h"

namespace boolgrad::python {
namespace {

Parametrisation parametrisation_called(const std::string& name) {
  for (const auto kind :
       {Parametrisation::softmax16, Parametrisation::sigmoid, Parametrisation::walsh}) {
    if (name == to_string(kind)) return kind;
  }
  fail("layers", "expected the parametrisation softmax16, sigmoid or walsh, received {}",
       printable(name));
}

/// A wiring in Python: shared and immutable.
struct Wires {
  logic::WiringPtr wiring;
};

Wires wires_of(std::int64_t inputs, nb::handle wires, std::int64_t positions, nb::handle outside) {
  const Tensor sources = cast(tensor_of(wires, "layers", "wires"), DType::int32).clone();
  logic::TableSharing sharing{.positions = positions};
  if (!outside.is_none()) sharing.outside = tensor_of(outside, "layers", "outside").clone();
  const nb::gil_scoped_release no_gil;
  return {std::make_shared<const logic::Wiring>(inputs, sources, 1, sharing)};
}

Wires pooling(std::int64_t inputs, nb::handle wires) {
  const Tensor sources = cast(tensor_of(wires, "layers", "wires"), DType::int32).clone();
  const nb::gil_scoped_release no_gil;
  return {logic::Wiring::pooling(inputs, sources)};
}

nb::object new_wires(const std::string& kind, std::int64_t inputs, std::int64_t gates, int arity,
                     std::uint64_t seed, std::uint32_t layer) {
  const logic::WiringSize size{.inputs = inputs, .gates = gates, .arity = arity};
  const auto wiring = [&] {
    const nb::gil_scoped_release no_gil;
    if (kind == "random") return logic::random_wiring(size, seed, layer);
    if (kind == "unique") return logic::unique_pairs(size, seed, layer);
    if (kind == "butterfly") return logic::butterfly_pairs(size, seed, layer);
    fail("layers", "expected the wiring random, unique or butterfly, received {}", printable(kind));
  }();
  return array_of(wiring->wires());
}

/// The wirings of a convolution: (wires, positions, outside or None, pools) for each layer.
nb::list convolution(std::int64_t channels, std::int64_t height, std::int64_t width,
                     const logic::ConvolutionOptions& options, std::uint64_t seed,
                     std::uint32_t layer) {
  nb::list result;
  for (const logic::WiringPtr& wiring :
       logic::convolution_wirings({channels, height, width}, options, seed, layer)) {
    const Tensor& outside = wiring->sharing().outside;
    result.append(nb::make_tuple(array_of(wiring->wires()), wiring->inputs(), wiring->positions(),
                                 outside.defined() ? array_of(outside) : nb::none(),
                                 wiring->pools()));
  }
  return result;
}

nb::object initial_logits(const std::string& parametrisation, std::int64_t gates, int arity,
                          const std::string& init, double strength, std::uint64_t seed,
                          std::uint32_t layer) {
  const Parametrisation kind = parametrisation_called(parametrisation);
  logic::check_arity(kind, arity);
  return array_of(logic::initial_logits(
      kind, gates, arity, DType::float32,
      {.kind = logic::initialisation_of("layers", init), .strength = strength}, seed, layer));
}

nb::object soft_tables(const std::string& parametrisation, nb::handle logits) {
  const Parametrisation kind = parametrisation_called(parametrisation);
  const Tensor z = tensor_of(logits, "layers", "logits");
  Tensor result;
  {
    const nb::gil_scoped_release no_gil;
    const NoGrad off_the_tape;
    result = logic::soft_tables(kind, z);
  }
  return array_of(result);
}

nb::object soft_tables_gradient(const std::string& parametrisation, nb::handle logits,
                                nb::handle upstream) {
  const Parametrisation kind = parametrisation_called(parametrisation);
  const Tensor z = tensor_of(logits, "layers", "logits");
  const Tensor g = tensor_of(upstream, "layers", "a gradient");
  Tensor result;
  {
    const nb::gil_scoped_release no_gil;
    const Tensor tracked = parameter(z);
    result = grad(logic::soft_tables(kind, tracked), tracked, {.upstream = g});
  }
  return array_of(result);
}

nb::object hard_tables(const std::string& parametrisation, nb::handle logits) {
  const Parametrisation kind = parametrisation_called(parametrisation);
  const Tensor z = tensor_of(logits, "layers", "logits");
  Tensor result;
  {
    const nb::gil_scoped_release no_gil;
    result = logic::hard_tables(kind, z);
  }
  return array_of(result);
}

nb::object lut_layer(nb::handle inputs, nb::handle tables, const Wires& wires) {
  const Tensor x = tensor_of(inputs, "lut_layer", "inputs");
  const Tensor t = tensor_of(tables, "lut_layer", "tables");
  Tensor result;
  {
    const nb::gil_scoped_release no_gil;
    const NoGrad off_the_tape;
    result = logic::lut_layer(x, t, wires.wiring);
  }
  return array_of(result);
}

nb::tuple lut_layer_gradients(nb::handle inputs, nb::handle tables, const Wires& wires,
                              nb::handle upstream, bool needs_inputs) {
  const Tensor x = tensor_of(inputs, "lut_layer", "inputs");
  const Tensor t = tensor_of(tables, "lut_layer", "tables");
  const Tensor g = tensor_of(upstream, "lut_layer", "a gradient");
  logic::LutGradients result;
  {
    const nb::gil_scoped_release no_gil;
    result = logic::lut_layer_gradients(x, t, wires.wiring, g, needs_inputs);
  }
  return nb::make_tuple(result.x.defined() ? array_of(result.x) : nb::none(),
                        array_of(result.tables));
}

/// The hardened circuit of layers: (wires, logits or None for pooling), from the inputs on.
Circuit harden(std::int64_t inputs, const std::string& parametrisation,
               const std::vector<std::pair<Wires, nb::object>>& layers) {
  logic::Network network(inputs, parametrisation_called(parametrisation));
  for (const auto& [wires, logits] : layers) {
    if (logits.is_none()) network.add_pooling(wires.wiring);
    else {
      network.add_layer(wires.wiring, cast(tensor_of(logits, "layers", "logits"), DType::float32));
    }
  }
  const nb::gil_scoped_release no_gil;
  return Circuit(circuit::harden(network));
}

/// (sources, values) of the thresholds of samples.
nb::tuple thresholds(nb::handle samples, const std::string& kind, std::int64_t count) {
  const Tensor x = features_of(samples, "thresholds");
  data::BinarisationOptions options{.count = count};
  bool known = false;
  for (const auto one : {data::BinarisationKind::threshold, data::BinarisationKind::uniform,
                         data::BinarisationKind::quantile}) {
    if (kind != data::to_string(one)) continue;
    options.kind = one;
    known = true;
  }
  if (!known) {
    fail("thresholds", "expected the kind threshold, uniform or quantile, received {}",
         printable(kind));
  }
  const logic::Thresholds found = data::make_thresholds(x, options);
  return nb::make_tuple(
      array_of(std::vector<std::int32_t>(found.sources().begin(), found.sources().end())),
      array_of(found.values()));
}

}  // namespace

void bind_layers(nb::module_& package) {
  using nb::literals::operator""_a;
  nb::module_ module = package.def_submodule("layers");
  nb::class_<Wires>(module, "Wiring")
      .def_static("of", &wires_of, "inputs"_a, "wires"_a, "positions"_a = 1,
                  "outside"_a = nb::none())
      .def_static("pooling", &pooling, "inputs"_a, "wires"_a)
      .def_prop_ro("inputs", [](const Wires& w) { return w.wiring->inputs(); })
      .def_prop_ro("gates", [](const Wires& w) { return w.wiring->gates(); })
      .def_prop_ro("tables", [](const Wires& w) { return w.wiring->tables(); })
      .def_prop_ro("arity", [](const Wires& w) { return w.wiring->arity(); });
  module.def("new_wires", &new_wires, "kind"_a, "inputs"_a, "gates"_a, "arity"_a, "seed"_a,
             "layer"_a = 0);
  module.def(
      "convolution",
      [](std::int64_t channels, std::int64_t height, std::int64_t width, std::int64_t kernels,
         std::int64_t window, std::int64_t stride, std::int64_t padding, int depth, int arity,
         std::int64_t channels_per_kernel, std::int64_t groups, std::int64_t pool,
         std::uint64_t seed, std::uint32_t layer) {
        return convolution(channels, height, width,
                           {.kernels = kernels,
                            .window = window,
                            .stride = stride,
                            .padding = padding,
                            .depth = depth,
                            .arity = arity,
                            .channels_per_kernel = channels_per_kernel,
                            .groups = groups,
                            .pool = pool},
                           seed, layer);
      },
      "channels"_a, "height"_a, "width"_a, nb::kw_only(), "kernels"_a, "window"_a, "stride"_a = 1,
      "padding"_a = 0, "depth"_a = 3, "arity"_a = 2, "channels_per_kernel"_a = 2, "groups"_a = 1,
      "pool"_a = 1, "seed"_a = 0, "layer"_a = 0);
  module.def("initial_logits", &initial_logits, "parametrisation"_a, "gates"_a, "arity"_a, "init"_a,
             "strength"_a, "seed"_a, "layer"_a = 0);
  module.def("soft_tables", &soft_tables, "parametrisation"_a, "logits"_a);
  module.def("soft_tables_gradient", &soft_tables_gradient, "parametrisation"_a, "logits"_a,
             "upstream"_a);
  module.def("hard_tables", &hard_tables, "parametrisation"_a, "logits"_a);
  module.def("lut_layer", &lut_layer, "inputs"_a, "tables"_a, "wiring"_a);
  module.def("lut_layer_gradients", &lut_layer_gradients, "inputs"_a, "tables"_a, "wiring"_a,
             "upstream"_a, "needs_inputs"_a = true);
  module.def("harden", &harden, "inputs"_a, "parametrisation"_a, "layers"_a);
  module.def("thresholds", &thresholds, "samples"_a, "kind"_a, "count"_a);
}

}  // namespace boolgrad::python
