// Layers for PyTorch. Functions take and return contiguous arrays on the CPU; activations are
// [features, samples].
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "boolgrad/autograd/tape.h"
#include "boolgrad/automata/rollout.h"
#include "boolgrad/backend/cpu/network/selection.h"
#include "boolgrad/circuit/harden.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/logic/convolution.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/logic/parametrisation.h"
#include "boolgrad/logic/wire_candidates.h"
#include "boolgrad/logic/wiring.h"
#include "boolgrad/model/model.h"
#include "boolgrad/ops/arithmetic.h"
#include "boolgrad/ops/shaping.h"
#include "circuit.h"
#include "layer_stack.h"
#include "module.h"

namespace boolgrad::python {
namespace {

using logic::CandidatesPtr;
using logic::WireCandidates;
using logic::Wiring;
using logic::WiringPtr;

std::vector<Tensor> tensors_of(const nb::sequence& arrays, std::string_view where,
                               std::string_view what) {
  std::vector<Tensor> tensors;
  for (const nb::handle array : arrays) tensors.push_back(tensor_of(array, where, what));
  return tensors;
}

nb::list arrays_of(const std::vector<Tensor>& tensors) {
  nb::list result;
  for (const Tensor& tensor : tensors) {
    result.append(tensor.defined() ? array_of(tensor) : nb::none());
  }
  return result;
}

Parametrisation parametrisation_called(const std::string& name) {
  switch (tables_called(name)) {
    case Tables::softmax16: return Parametrisation::softmax16;
    case Tables::sigmoid: return Parametrisation::sigmoid;
    case Tables::walsh: return Parametrisation::walsh;
    default: fail("layers", "expected softmax16, sigmoid or walsh, received {}", printable(name));
  }
}

// ---------------------------------------------------------------------------------------------
// Wirings

WiringPtr make_wiring(const std::string& kind, std::int64_t inputs, std::int64_t gates, int arity,
                      std::uint64_t seed, std::uint32_t layer, double noise) {
  const nb::gil_scoped_release no_gil;
  const logic::WiringSize size{.inputs = inputs, .gates = gates, .arity = arity};
  if (kind == "random") return logic::random_wiring(size, seed, layer);
  if (kind == "unique") return logic::unique_pairs(size, seed, layer);
  if (kind == "adjacent") return logic::adjacent_pairs(size, seed, layer);
  if (kind == "butterfly") return logic::butterfly_pairs(size, seed, layer);
  if (kind == "local") return logic::local_wiring(size, noise, seed, layer);
  fail("wiring", "expected random, unique, adjacent, butterfly or local, received {}",
       printable(kind));
}

WiringPtr wiring_of(std::int64_t inputs, nb::handle wires) {
  // A copy, because the wiring keeps its wires and the array may change.
  const Tensor own = cast(tensor_of(wires, "wiring", "wires"), DType::int32).clone();
  const nb::gil_scoped_release no_gil;
  return std::make_shared<const Wiring>(inputs, own);
}

using Image = std::array<std::int64_t, 3>;

logic::ImageSize image_of(const Image& image) { return {image[0], image[1], image[2]}; }

logic::ConvolutionOptions convolution_of(const nb::dict& options) {
  logic::ConvolutionOptions result{.pool = 1};
  for (const auto& [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    const auto number = nb::cast<std::int64_t>(value);
    if (name == "kernels") result.kernels = number;
    else if (name == "window") result.window = number;
    else if (name == "stride") result.stride = number;
    else if (name == "padding") result.padding = number;
    else if (name == "depth") result.depth = static_cast<int>(number);
    else if (name == "arity") result.arity = static_cast<int>(number);
    else if (name == "channels_per_kernel") result.channels_per_kernel = number;
    else if (name == "groups") result.groups = number;
    else fail("convolution", "unknown option '{}'", printable(name));
    if (number < (name == "padding" ? 0 : 1)) {
      fail("convolution", "expected {} of at least {}, received {}", name,
           name == "padding" ? 0 : 1, number);
    }
  }
  if (result.depth > 12) {
    fail("convolution", "expected a depth of at most 12, received {}", result.depth);
  }
  return result;
}

/// int32 [kernels, leaves, 3]: channel, row and column.
nb::object convolution_leaves(const Image& image, std::uint64_t seed, std::uint32_t layer,
                              const nb::dict& options) {
  const logic::ConvolutionOptions shape = convolution_of(options);
  const auto leaves = logic::convolution_leaves(image_of(image), shape, seed, layer);
  std::vector<std::int32_t> values;
  for (const logic::ConvolutionLeaf& leaf : leaves) {
    for (const std::int64_t value : {leaf.channel, leaf.row, leaf.column}) {
      values.push_back(static_cast<std::int32_t>(value));
    }
  }
  return array_of(Tensor::of(values, {shape.kernels, shape.leaves(), 3}));
}

std::vector<WiringPtr> convolution_wirings(const Image& image, nb::handle leaves,
                                           const nb::dict& options) {
  const logic::ConvolutionOptions shape = convolution_of(options);
  const Tensor values = cast(tensor_of(leaves, "convolution", "leaves"), DType::int32);
  if (values.rank() != 3 || values.shape()[2] != 3) {
    fail("convolution", "expected leaves [kernels, leaves, 3], received {}",
         boolgrad::to_string(values.shape()));
  }
  std::vector<logic::ConvolutionLeaf> places;
  const auto from = values.values<std::int32_t>();
  for (std::size_t i = 0; i < from.size(); i += 3) {
    places.push_back({from[i], from[i + 1], from[i + 2]});
  }
  const nb::gil_scoped_release no_gil;
  return logic::convolution_wirings(image_of(image), shape, places);
}

Image convolution_size(const Image& image, const nb::dict& options) {
  const logic::ImageSize size = logic::output_size(image_of(image), convolution_of(options));
  return {size.channels, size.height, size.width};
}

using Pair = std::array<std::int64_t, 2>;

logic::PoolingOptions pooling_of(const Pair& size, const Pair& stride, const Pair& padding,
                                 bool first_wins) {
  return {size[0], size[1], stride[0], stride[1], padding[0], padding[1], first_wins};
}

void bind_wirings(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<Wiring>(module, "Wiring", "The wires of a layer of gates. Immutable.")
      .def_prop_ro("inputs", &Wiring::inputs, "Number of inputs of the layer.")
      .def_prop_ro("gates", &Wiring::gates, "Number of gates.")
      .def_prop_ro("arity", &Wiring::arity, "Inputs per gate.")
      .def_prop_ro("tables", &Wiring::tables, "Number of different tables.")
      .def_prop_ro(
          "wires", [](const Wiring& w) { return array_of(w.wires().clone()); },
          "The source of every gate input, int32 [arity, gates].");
  module.def("wiring_of", &wiring_of, "inputs"_a, "wires"_a,
             "The wiring with these wires: integers [arity, gates].");
  module.def("make_wiring", &make_wiring, "kind"_a, "inputs"_a, "gates"_a, "arity"_a = 2,
             "seed"_a = 0, "layer"_a = 0, "noise"_a = 1.0,
             "A `random`, `unique`, `adjacent`, `butterfly` or `local` wiring.");
  module.def("convolution_leaves", &convolution_leaves, "image"_a, "seed"_a, "layer"_a, "options"_a,
             "The places that the leaves of random kernels read, int32 [kernels, leaves, 3]: "
             "channel, row and column.");
  module.def("convolution_wirings", &convolution_wirings, "image"_a, "leaves"_a, "options"_a,
             "The wirings of a convolution, from the leaves to the root.");
  module.def("convolution_size", &convolution_size, "image"_a, "options"_a,
             "The size of the images that a convolution computes.");
  module.def(
      "pooling_wirings",
      [](const Image& image, const Pair& size, const Pair& stride, const Pair& padding,
         bool first_wins) {
        return logic::pooling_wirings(image_of(image),
                                      pooling_of(size, stride, padding, first_wins));
      },
      "image"_a, "size"_a, "stride"_a, "padding"_a, "first_wins"_a,
      "The wirings of pooling. With `first_wins`, the first of several maxima gets the gradient.");
  module.def(
      "pooling_size",
      [](const Image& image, const Pair& size, const Pair& stride, const Pair& padding) {
        const logic::ImageSize out =
            logic::output_size(image_of(image), pooling_of(size, stride, padding, false));
        return Image{out.channels, out.height, out.width};
      },
      "image"_a, "size"_a, "stride"_a, "padding"_a, "The size of the images after pooling.");
}

// ---------------------------------------------------------------------------------------------
// Learned wires

CandidatesPtr candidates_of(std::int64_t inputs, nb::handle sources) {
  const Tensor own = cast(tensor_of(sources, "candidates", "sources"), DType::int32).clone();
  const nb::gil_scoped_release no_gil;
  return std::make_shared<const WireCandidates>(inputs, own);
}

CandidatesPtr random_candidates(std::int64_t inputs, std::int64_t gates, int arity,
                                std::int64_t count, std::uint64_t seed, std::uint32_t layer) {
  const nb::gil_scoped_release no_gil;
  return logic::random_candidates({.inputs = inputs, .gates = gates, .arity = arity},
                                  count == 0 ? inputs : count, seed, layer);
}

WireForward wire_forward(bool hard) { return hard ? WireForward::hard : WireForward::soft; }

nb::object select_forward(const CandidatesPtr& candidates, nb::handle x_array,
                          nb::handle logits_array, bool hard, double temperature) {
  const Tensor x = tensor_of(x_array, "select_wires", "inputs");
  const Tensor logits = tensor_of(logits_array, "select_wires", "logits");
  Tensor slots;
  {
    const nb::gil_scoped_release no_gil;
    const NoGrad off_the_tape;
    slots = logic::select_wires(x, logits, candidates, wire_forward(hard), temperature);
  }
  return array_of(slots);
}

nb::list select_backward(const CandidatesPtr& candidates, nb::handle g_array, nb::handle x_array,
                         nb::handle logits_array, bool hard, double temperature) {
  const Tensor g = tensor_of(g_array, "select_wires", "gradient");
  const Tensor x = tensor_of(x_array, "select_wires", "inputs");
  const Tensor logits = tensor_of(logits_array, "select_wires", "logits");
  std::vector<Tensor> gradients;
  {
    const nb::gil_scoped_release no_gil;
    const std::vector<Tensor> parameters{parameter(x), parameter(logits)};
    const Tensor slots = logic::select_wires(parameters[0], parameters[1], candidates,
                                             wire_forward(hard), temperature);
    gradients = grad(slots, parameters, {.upstream = g});
  }
  return arrays_of(gradients);
}

/// The gradient of the weights with which every candidate of a slot counts, [gates, arity, count].
nb::object candidate_gradients(const WireCandidates& candidates, nb::handle x_array,
                               nb::handle g_array) {
  const Tensor x = tensor_of(x_array, "candidates", "inputs");
  const Tensor g = tensor_of(g_array, "candidates", "gradient");
  if (x.rank() != 2 || x.shape()[0] != candidates.inputs() || g.rank() != 2 ||
      g.shape() != Shape{candidates.slots(), x.shape()[1]} || g.dtype() != x.dtype()) {
    fail("candidates",
         "expected inputs [{}, samples] and a gradient [{}, samples], received {} and {}",
         candidates.inputs(), candidates.slots(), boolgrad::to_string(x.shape()),
         boolgrad::to_string(g.shape()));
  }
  Tensor result({candidates.slots(), candidates.count()}, x.dtype());
  {
    const nb::gil_scoped_release no_gil;
    cpu::candidate_gradients(candidates.view(), x, g, result);
  }
  return array_of(result.viewed_as({candidates.gates(), candidates.arity(), candidates.count()}));
}

void bind_candidates(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<WireCandidates>(module, "Candidates", "Candidate sources of gate inputs. Immutable.")
      .def_prop_ro("inputs", &WireCandidates::inputs, "Number of inputs of the layer.")
      .def_prop_ro("gates", &WireCandidates::gates, "Number of gates.")
      .def_prop_ro("count", &WireCandidates::count, "Candidates per gate input.")
      .def_prop_ro(
          "sources",
          [](const WireCandidates& c) -> nb::object {
            if (c.has_all()) return nb::none();
            return array_of(c.sources().clone());
          },
          "The sources, int32 [gates, arity, count]; None if every input is a candidate.")
      .def_prop_ro(
          "slot_wiring", [](const WireCandidates& c) { return c.slot_wiring(); },
          "The wiring by which gates read their selected inputs.");
  module.def("candidates_of", &candidates_of, "inputs"_a, "sources"_a,
             "Candidates from sources: integers [gates, arity, count].");
  module.def(
      "all_candidates",
      [](std::int64_t inputs, std::int64_t gates, int arity) -> CandidatesPtr {
        return std::make_shared<const WireCandidates>(inputs, gates, arity);
      },
      "inputs"_a, "gates"_a, "arity"_a, "Every input is a candidate.");
  module.def("random_candidates", &random_candidates, "inputs"_a, "gates"_a, "arity"_a, "count"_a,
             "seed"_a, "layer"_a, "Different random candidates; all inputs if `count` is 0.");
  module.def(
      "initial_wire_logits",
      [](const WireCandidates& candidates, double strength, std::uint64_t seed,
         std::uint32_t layer) {
        return array_of(
            logic::initial_wire_logits(candidates, DType::float32, strength, seed, layer));
      },
      "candidates"_a, "strength"_a, "seed"_a, "layer"_a, "Normal logits [gates, arity, count].");
  module.def(
      "best_wiring",
      [](const WireCandidates& candidates, nb::handle logits) {
        return logic::best_wiring(candidates, tensor_of(logits, "candidates", "logits"));
      },
      "candidates"_a, "logits"_a, "The wiring to the most probable candidates.");
  module.def("select_forward", &select_forward, "candidates"_a, "x"_a, "logits"_a, "hard"_a,
             "temperature"_a, "The values of all gate inputs, [gates * arity, samples].");
  module.def("select_backward", &select_backward, "candidates"_a, "g"_a, "x"_a, "logits"_a,
             "hard"_a, "temperature"_a, "The gradients of x and of the logits.");
  module.def("candidate_gradients", &candidate_gradients, "candidates"_a, "x"_a, "g"_a,
             "For every candidate, the sum over samples of its value times the gradient of its "
             "slot: [gates, arity, count].");
}

// ---------------------------------------------------------------------------------------------
// Stacks

nb::object forward(const LayerStack& stack, nb::handle x_array, const nb::sequence& weights,
                   bool hard) {
  const Tensor x = tensor_of(x_array, "layers", "inputs");
  const std::vector<Tensor> own = tensors_of(weights, "layers", "weights");
  Tensor out;
  {
    const nb::gil_scoped_release no_gil;
    out = stack.forward(x, own, hard);
  }
  return array_of(out);
}

nb::list backward(const LayerStack& stack, nb::handle g_array, nb::handle x_array,
                  const nb::sequence& weights, bool hard, bool needs_x) {
  const Tensor g = tensor_of(g_array, "layers", "gradient");
  const Tensor x = tensor_of(x_array, "layers", "inputs");
  const std::vector<Tensor> own = tensors_of(weights, "layers", "weights");
  std::vector<Tensor> gradients;
  {
    const nb::gil_scoped_release no_gil;
    gradients = stack.backward(g, x, own, hard, needs_x);
  }
  return arrays_of(gradients);
}

// The logits of hardened gates: certain enough that soft tables are those of the gates to five
// digits.
constexpr double certain = 12;

/// The file of a model with hardened gates: a classifier if `temperature` is given.
void save_model(const LayerStack& stack, const nb::sequence& weights,
                const std::filesystem::path& path) {
  const std::vector<Tensor> own = tensors_of(weights, "save", "weights");
  const nb::gil_scoped_release no_gil;
  save_safetensors(path, Model(stack.hardened(own, certain)).to_file());
}

void save_classifier(const LayerStack& stack, const nb::sequence& weights, const std::string& path,
                     std::int64_t classes, double temperature, std::int64_t features,
                     const std::vector<std::int32_t>& sources, nb::handle thresholds) {
  const std::vector<Tensor> own = tensors_of(weights, "save", "weights");
  const Tensor values = cast(tensor_of(thresholds, "save", "thresholds"), DType::float32);
  const nb::gil_scoped_release no_gil;
  data::DataFormat format;
  for (std::int64_t c = 0; c < classes; ++c) format.classes.push_back(std::to_string(c));
  Classifier classifier{
      .thresholds = logic::Thresholds(features, sources, values),
      .head = {.kind = HeadKind::classes, .classes = classes, .temperature = temperature},
      .format = std::move(format)};
  save_safetensors(path, Model(stack.hardened(own, certain), std::move(classifier)).to_file());
}

nb::object group_sums(nb::handle y_array, std::int64_t groups) {
  const Tensor y = tensor_of(y_array, "group_sums", "outputs");
  Tensor sums;
  {
    const nb::gil_scoped_release no_gil;
    sums = logic::group_sums(y, groups);
  }
  return array_of(sums);
}

/// The gradient of y [outputs, samples].
nb::object group_sums_backward(nb::handle g_array, std::int64_t outputs) {
  const Tensor g = tensor_of(g_array, "group_sums", "gradient");
  Tensor result;
  {
    const nb::gil_scoped_release no_gil;
    const std::int64_t groups = g.shape()[0];
    const std::int64_t samples = g.shape()[1];
    const Tensor ones = Tensor::ones({1, outputs / groups, 1}, g.dtype());
    result = multiply(reshape(g, {groups, 1, samples}), ones).viewed_as({outputs, samples});
  }
  return array_of(result);
}

void bind_stacks(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<LayerStack>(module, "LayerStack", "Gate layers that are computed together. Immutable.")
      .def(
          "__init__",
          [](LayerStack* self, const std::vector<WiringPtr>& wirings,
             const std::vector<std::string>& kinds) {
            std::vector<Tables> tables;
            for (const std::string& kind : kinds) tables.push_back(tables_called(kind));
            new (self) LayerStack(wirings, std::move(tables));
          },
          "wirings"_a, "kinds"_a)
      .def_prop_ro("inputs", &LayerStack::inputs, "Number of inputs.")
      .def_prop_ro("outputs", &LayerStack::outputs, "Number of outputs.")
      .def("forward", &forward, "x"_a, "weights"_a, "hard"_a,
           "The outputs [outputs, samples] for x [inputs, samples].")
      .def("backward", &backward, "g"_a, "x"_a, "weights"_a, "hard"_a, "needs_x"_a,
           "The gradients of x, None unless needed, and of all weights.")
      .def(
          "circuit",
          [](const LayerStack& stack, const nb::sequence& weights) {
            const std::vector<Tensor> own = tensors_of(weights, "to_circuit", "weights");
            const nb::gil_scoped_release no_gil;
            return Circuit(circuit::harden(stack.hardened(own, certain)));
          },
          "weights"_a, "The hardened gates as a circuit.")
      .def(
          "save_model",
          [](const LayerStack& stack, const nb::sequence& weights, const std::string& path) {
            save_model(stack, weights, path);
          },
          "weights"_a, "path"_a, "Writes the hardened gates as a model.")
      .def("save_classifier", &save_classifier, "weights"_a, "path"_a, "classes"_a, "temperature"_a,
           "features"_a, "sources"_a, "thresholds"_a,
           "Writes the hardened gates as a classifier with thresholds and group sums.");
  module.def(
      "initial_weights",
      [](const std::string& parametrisation, std::int64_t gates, int arity, const std::string& kind,
         double strength, std::uint64_t seed, std::uint32_t layer) {
        return array_of(logic::initial_logits(
            parametrisation_called(parametrisation), gates, arity, DType::float32,
            {.kind = logic::initialisation_of("init", kind), .strength = strength}, seed, layer));
      },
      "parametrisation"_a, "gates"_a, "arity"_a, "kind"_a, "strength"_a, "seed"_a, "layer"_a,
      "Initial weights, float32 [gates, weights per gate].");
  module.def("group_sums", &group_sums, "y"_a, "groups"_a,
             "Sums over groups of rows: [groups, samples] from [outputs, samples].");
  module.def("group_sums_backward", &group_sums_backward, "g"_a, "outputs"_a,
             "The gradient of the rows.");
}

// ---------------------------------------------------------------------------------------------
// Automata

using RulePtr = std::shared_ptr<const automata::Rule>;

Border border_called(const std::string& name) {
  for (const Border border : {Border::zero, Border::periodic}) {
    if (name == to_string(border)) return border;
  }
  fail("automaton", "expected the border zero or periodic, received {}", printable(name));
}

RulePtr make_rule(std::int64_t channels, std::int64_t kernels,
                  const std::vector<std::int64_t>& perceive,
                  const std::vector<std::int64_t>& update, const std::string& border,
                  const std::string& parametrisation, const std::string& init, double strength,
                  std::uint64_t seed) {
  const nb::gil_scoped_release no_gil;
  return std::make_shared<const automata::Rule>(automata::Rule::make(
      {.channels = channels, .kernels = kernels, .perceive = perceive, .update = update},
      border_called(border), parametrisation_called(parametrisation), DType::float32,
      {.kind = logic::initialisation_of("init", init), .strength = strength}, seed));
}

/// The networks of a rule with other wires and weights, layer by layer, perception first.
RulePtr rule_of(const automata::Rule& rule, const nb::sequence& wires_arrays,
                const nb::sequence& weights_arrays) {
  std::vector<Tensor> wires;
  for (const Tensor& one : tensors_of(wires_arrays, "automaton", "wires")) {
    wires.push_back(cast(one, DType::int32).clone());
  }
  const std::vector<Tensor> weights = tensors_of(weights_arrays, "automaton", "weights");
  const nb::gil_scoped_release no_gil;
  const std::size_t perceive = rule.perceive().layers().size();
  const std::size_t all = perceive + rule.update().layers().size();
  if (wires.size() != all || weights.size() != all) {
    fail("automaton", "expected wires and weights of {} layers, received {} and {}", all,
         wires.size(), weights.size());
  }
  const auto network = [&](const logic::Network& old, std::size_t first) {
    logic::Network result(old.inputs(), old.parametrisation(), weights[first].dtype());
    for (std::size_t i = 0; i < old.layers().size(); ++i) {
      const Wiring& wiring = *old.layers()[i].wiring;
      result.add_layer(
          std::make_shared<const Wiring>(wiring.inputs(), wires[first + i], wiring.group_size()),
          weights[first + i]);
    }
    return result;
  };
  return std::make_shared<const automata::Rule>(
      rule.border(), rule.kernels(), network(rule.perceive(), 0), network(rule.update(), perceive));
}

std::vector<logic::WiringPtr> wirings_of(const automata::Rule& rule) {
  std::vector<logic::WiringPtr> all = rule.perceive().wirings();
  for (const WiringPtr& wiring : rule.update().wirings()) all.push_back(wiring);
  return all;
}

struct RolloutArguments {
  Tensor initial;
  std::vector<Tensor> weights;
  Tensor fire;
  automata::RolloutOptions options;
};

RolloutArguments rollout_arguments(nb::handle initial, const nb::sequence& weights, nb::handle fire,
                                   std::int64_t steps, std::int64_t returned) {
  RolloutArguments result{.initial = tensor_of(initial, "rollout", "initial states"),
                          .weights = tensors_of(weights, "rollout", "weights"),
                          .fire = {},
                          .options = {.steps = steps, .returned = returned}};
  if (!fire.is_none()) result.fire = tensor_of(fire, "rollout", "fire masks");
  return result;
}

nb::object rollout_forward(const automata::Rule& rule, nb::handle initial,
                           const nb::sequence& weights, nb::handle fire, std::int64_t steps,
                           std::int64_t returned, bool hard) {
  const RolloutArguments a = rollout_arguments(initial, weights, fire, steps, returned);
  Tensor states;
  {
    const nb::gil_scoped_release no_gil;
    const NoGrad off_the_tape;
    std::vector<Tensor> tables = rule.tables(a.weights);
    if (hard) {
      for (std::size_t i = 0; i < tables.size(); ++i) {
        tables[i] = cast(logic::hard_tables(rule.update().parametrisation(), a.weights[i]),
                         a.initial.dtype());
      }
    }
    states = automata::rollout(rule, tables, a.initial, a.fire, a.options);
  }
  return array_of(states);
}

nb::list rollout_backward(const automata::Rule& rule, nb::handle g_array, nb::handle initial,
                          const nb::sequence& weights, nb::handle fire, std::int64_t steps,
                          std::int64_t returned) {
  const Tensor g = tensor_of(g_array, "rollout", "gradient");
  RolloutArguments a = rollout_arguments(initial, weights, fire, steps, returned);
  std::vector<Tensor> gradients;
  {
    const nb::gil_scoped_release no_gil;
    std::vector<Tensor> parameters{parameter(a.initial)};
    for (const Tensor& own : a.weights) parameters.push_back(parameter(own));
    const std::vector<Tensor> own(parameters.begin() + 1, parameters.end());
    const Tensor states =
        automata::rollout(rule, rule.tables(own), parameters[0], a.fire, a.options);
    gradients = grad(states, parameters, {.upstream = g});
  }
  return arrays_of(gradients);
}

void bind_rules(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<automata::Rule>(module, "Rule", "The rule of an automaton. Immutable.")
      .def_prop_ro("channels", &automata::Rule::channels, "Channels per cell.")
      .def_prop_ro("wirings", &wirings_of, "The wirings of all layers, perception first.")
      .def_prop_ro(
          "weights",
          [](const automata::Rule& rule) {
            nb::list result;
            for (const Tensor& own : rule.parameters()) result.append(array_of(own.clone()));
            return result;
          },
          "The weights of all layers, perception first.")
      .def("replaced", &rule_of, "wires"_a, "weights"_a,
           "The rule with other wires and weights, perception first.")
      .def("rollout_forward", &rollout_forward, "initial"_a, "weights"_a, "fire"_a.none(),
           "steps"_a, "returned"_a, "hard"_a,
           "The last states, [returned, channels, grids, height, width].")
      .def("rollout_backward", &rollout_backward, "g"_a, "initial"_a, "weights"_a, "fire"_a.none(),
           "steps"_a, "returned"_a, "The gradients of the initial states and of all weights.")
      .def(
          "save_model",
          [](const automata::Rule& rule, const std::string& path) {
            const nb::gil_scoped_release no_gil;
            save_safetensors(path, Model(rule).to_file());
          },
          "path"_a, "Writes the rule as a model.");
  module.def("make_rule", &make_rule, "channels"_a, "kernels"_a, "perceive"_a, "update"_a,
             "border"_a, "parametrisation"_a, "init"_a, "strength"_a, "seed"_a,
             "A random rule to train.");
  module.def(
      "fire_masks",
      [](std::int64_t grids, std::int64_t height, std::int64_t width, std::int64_t steps,
         double rate, std::uint64_t seed, std::uint32_t step) {
        constexpr std::uint32_t stream = 0xF0000;
        return array_of(
            automata::fire_masks({.batch = grids, .height = height, .width = width, .steps = steps},
                                 rate, seed, stream, step));
      },
      "grids"_a, "height"_a, "width"_a, "steps"_a, "rate"_a, "seed"_a, "step"_a,
      "Random fire masks, uint8 [steps, grids, height, width].");
}

}  // namespace

void bind_layers(nb::module_& package) {
  // Code that torch.compile caches keeps modules, and so their wires, until the process ends.
  nb::set_leak_warnings(false);
  nb::module_ module = package.def_submodule("layers", "The layers of boolgrad.torch.");
  bind_wirings(module);
  bind_candidates(module);
  bind_stacks(module);
  bind_rules(module);
}

}  // namespace boolgrad::python
