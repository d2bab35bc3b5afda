#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.h"
#include "boolgrad/circuit/formats/classifier_code.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/logic/head.h"
#include "boolgrad/model/animation.h"
#include "boolgrad/model/export.h"
#include "boolgrad/model/model.h"
#include "boolgrad/model/playback.h"
#include "boolgrad/model/prediction.h"
#include "boolgrad/ops/matrix.h"
#include "boolgrad/ops/shaping.h"
#include "circuit.h"
#include "module.h"

namespace boolgrad::python {
namespace {

namespace fs = std::filesystem;

/// A trained model and where it came from. Immutable.
struct Loaded {
  LoadedModel content;
  std::string path;
  std::string experiment;  ///< TOML; empty if it has none
};
using LoadedPtr = std::shared_ptr<const Loaded>;

/// What is prepared for the first prediction. Shared by copies.
template <class T>
struct Lazy {
  std::once_flag once;
  std::optional<T> value;
};

struct Classifier {
  LoadedPtr loaded;
  std::shared_ptr<Lazy<HardClassifier>> hard = std::make_shared<Lazy<HardClassifier>>();

  const Model& model() const { return loaded->content.model; }
  const boolgrad::Classifier& parts() const { return *model().classifier(); }
  const Head& head() const { return parts().head; }
  /// To be called without the GIL: the first call prepares the circuit.
  const HardClassifier& hardened() const {
    std::call_once(hard->once,
                   [this] { hard->value.emplace(parts(), netlist_of(loaded->content)); });
    return *hard->value;
  }
};

struct Network {
  LoadedPtr loaded;
  std::shared_ptr<Lazy<Circuit>> hard = std::make_shared<Lazy<Circuit>>();

  const logic::Network& network() const { return loaded->content.model.network(); }
  const Circuit& hardened() const {
    std::call_once(hard->once, [this] { hard->value.emplace(netlist_of(loaded->content)); });
    return *hard->value;
  }
};

struct Automaton {
  LoadedPtr loaded;

  const automata::Rule& rule() const { return loaded->content.model.rule(); }
  ModelSpec spec() const { return loaded->content.spec.value_or(ModelSpec{}); }
};

using AnyModel = std::variant<Classifier, Network, Automaton>;

AnyModel model_from(const TensorFile& file, const std::string& path) {
  const auto found = file.metadata.find(experiment_metadata_key);
  const auto loaded = std::make_shared<const Loaded>(
      Loaded{.content = model_in(file, path),
             .path = path,
             .experiment = found == file.metadata.end() ? "" : found->second});
  if (loaded->content.model.is_automaton()) {
    automaton_of(loaded->content, "load", path);
    return Automaton{loaded};
  }
  if (loaded->content.model.classifier()) return Classifier{loaded};
  return Network{loaded};
}

AnyModel load(const fs::path& path) {
  const nb::gil_scoped_release no_gil;
  return model_from(load_safetensors(path), path.string());
}

template <class T>
T load_as(const fs::path& path, const char* expected) {
  AnyModel model = load(path);
  if (T* found = std::get_if<T>(&model)) return std::move(*found);
  fail("load", "{}: expected {}, received {}", path.string(), expected,
       std::holds_alternative<Automaton>(model)    ? "an automaton"
       : std::holds_alternative<Classifier>(model) ? "a classifier"
                                                   : "a circuit");
}

void save(const Loaded& loaded, const fs::path& path) {
  const nb::gil_scoped_release no_gil;
  TensorFile file = loaded.content.model.to_file();
  if (loaded.experiment.empty()) save_safetensors(path, file);
  else save_model(path, loaded.experiment, std::move(file));
}

// ---------------------------------------------------------------------------------------------
// Inspection and export, for all models

nb::dict inspect(const Loaded& loaded) {
  Inspection inspection;
  {
    const nb::gil_scoped_release no_gil;
    inspection = loaded.content.model.inspect();
  }
  nb::list layers;
  for (const LayerInspection& layer : inspection.layers) {
    nb::dict entry;
    entry["gates"] = layer.gates;
    entry["active_gates"] = layer.active;
    entry["off"] = layer.off;
    entry["entropy"] = layer.entropy;
    entry["undecided"] = layer.undecided;
    entry["soft_hard_gap"] = layer.gap;
    entry["disagreement"] = layer.disagreement;
    layers.append(entry);
  }
  nb::dict kinds;
  for (const auto& [kind, count] : inspection.kinds) kinds[kind.c_str()] = count;
  nb::dict result;
  result["gates"] = inspection.gates;
  result["active_gates"] = inspection.active_gates;
  result["depth"] = inspection.depth;
  result["kinds"] = kinds;
  result["layers"] = layers;
  result["samples"] = inspection.samples;
  return result;
}

using Size = std::pair<std::int64_t, std::int64_t>;

std::optional<GridSize> grid_size(const std::optional<Size>& size) {
  if (!size) return std::nullopt;
  return GridSize{size->first, size->second};
}

nb::dict export_file(const Loaded& loaded, const ExportOptions& options) {
  ExportReport report;
  {
    const nb::gil_scoped_release no_gil;
    report = export_model(loaded.content, loaded.path, options);
  }
  nb::dict result;
  result["format"] = options.format;
  result["file"] = options.file.string();
  result["inputs"] = report.inputs;
  result["outputs"] = report.outputs;
  result["gates"] = report.gates;
  result["gates_before"] = report.gates_before;
  result["depth"] = report.depth;
  result["proven"] = options.proves;
  result["read_back"] = report.read_back;
  if (!report.kernels.empty()) result["kernels"] = nb::cast(report.kernels);
  if (!report.test_bench.empty()) result["test_bench"] = report.test_bench.string();
  return result;
}

std::string html(const Loaded& loaded) {
  const nb::gil_scoped_release no_gil;
  return html_viewer(loaded.content, loaded.path);
}

constexpr const char* export_doc =
    R"(Writes the hardened circuit to a file, proven equivalent to the model, and returns a report.

Args:
    format: `netlist`, `c`, `verilog` (with a test bench), `blif`, `aiger`, `dot` or `html`.
    path: The file.
    pipeline: For `verilog`: adds registers after so many levels of gates.
    size: For `verilog` of an automaton: writes an array of (height, width) cells.
    classes: Splits the outputs into groups; the circuit computes the group with the most ones.
        Trained classifiers do this by default.
    as_trained: Does not simplify the circuit.
    shared_kernels: For `c` and `verilog`: writes every kernel of a convolution once.
    prove: Proves that the circuit is equivalent to the model before writing it.)";

/// What models of all kinds have.
template <class T>
void bind_common(nb::class_<T>& type) {
  using nb::literals::operator""_a;
  type.def(
          "save", [](const T& m, const fs::path& path) { save(*m.loaded, path); }, "path"_a,
          "Writes the model to a safetensors file.")
      .def(
          "inspect", [](const T& m) { return inspect(*m.loaded); },
          "Gates by kind and layer, depth, and how far soft and hard outputs differ.")
      .def(
          "export",
          [](const T& m, const std::string& format, const fs::path& path,
             std::optional<std::int64_t> pipeline, const std::optional<Size>& size,
             std::optional<std::int64_t> classes, bool as_trained, bool shared_kernels,
             bool prove) {
            return export_file(*m.loaded, {.format = format,
                                           .file = path,
                                           .pipeline = pipeline,
                                           .size = grid_size(size),
                                           .classes = classes,
                                           .as_trained = as_trained,
                                           .shared_kernels = shared_kernels,
                                           .proves = prove});
          },
          "format"_a, "path"_a, nb::kw_only(), "pipeline"_a = nb::none(), "size"_a = nb::none(),
          "classes"_a = nb::none(), "as_trained"_a = false, "shared_kernels"_a = false,
          "prove"_a = true, export_doc)
      .def("_html", [](const T& m) { return html(*m.loaded); })
      .def_prop_ro(
          "name",
          [](const T& m) {
            return m.loaded->content.spec ? m.loaded->content.spec->name : std::string();
          },
          "The name of the experiment; empty if there is none.")
      .def_prop_ro(
          "experiment", [](const T& m) { return m.loaded->experiment; },
          "The experiment that trained the model, as TOML; empty if there is none.")
      .def_prop_ro(
          "path", [](const T& m) { return m.loaded->path; }, "The file that the model came from.");
}

// ---------------------------------------------------------------------------------------------
// Classifiers

nb::object labels_of(const Head& head, const std::vector<double>& predicted) {
  const Tensor values = Tensor::of(predicted);
  return array_of(head.kind == HeadKind::regression ? values : cast(values, DType::int32));
}

nb::object predict(const Classifier& model, nb::handle samples) {
  const Tensor x = features_of(samples, "predict");
  std::vector<double> predicted;
  {
    const nb::gil_scoped_release no_gil;
    predicted = model.hardened().predict(x);
  }
  return labels_of(model.head(), predicted);
}

/// Probabilities [samples, classes] or values [samples] from group sums.
Tensor answers(const Classifier& model, const Tensor& sums) {
  const std::int64_t outputs = model.model().network().outputs();
  if (model.head().kind == HeadKind::regression) {
    return Tensor::of(logic::predictions(model.head(), sums, outputs));
  }
  return transpose(logic::probabilities(model.head(), sums, outputs));
}

nb::object predict_proba(const Classifier& model, nb::handle samples) {
  const Tensor x = features_of(samples, "predict_proba");
  Tensor result;
  {
    const nb::gil_scoped_release no_gil;
    result = answers(model, model.hardened().sums(x));
  }
  return array_of(result);
}

nb::object predict_soft(const Classifier& model, nb::handle samples, const std::string& device) {
  const Tensor x = features_of(samples, "predict_soft");
  Tensor result;
  {
    const nb::gil_scoped_release no_gil;
    result = answers(model, soft_sums(model.model(), x, device_called(device)));
  }
  return array_of(result);
}

nb::object decision_sums(const Classifier& model, nb::handle samples) {
  const Tensor x = features_of(samples, "sums");
  Tensor result;
  {
    const nb::gil_scoped_release no_gil;
    result = transpose(model.hardened().sums(x));
  }
  return array_of(result);
}

nb::object importances(const Classifier& model, nb::handle samples) {
  const Tensor x = features_of(samples, "importances");
  std::vector<double> by_feature;
  {
    const nb::gil_scoped_release no_gil;
    by_feature = model.hardened().feature_influences(x);
  }
  return array_of(by_feature);
}

Circuit to_netlist(const Classifier& model, bool with_head) {
  const nb::gil_scoped_release no_gil;
  const circuit::Netlist netlist = netlist_of(model.loaded->content);
  return Circuit(with_head ? circuit::with_head(netlist, model.head()) : netlist);
}

std::string description(const Classifier& model) {
  const logic::Network& network = model.model().network();
  const bool has_values = model.head().kind == HeadKind::regression;
  return fmt::format("Classifier('{}', {} features, {}, {} layers)",
                     model.loaded->content.spec ? model.loaded->content.spec->name : "",
                     model.parts().thresholds.features(),
                     has_values ? "regression" : fmt::format("{} classes", model.head().classes),
                     network.layers().size());
}

void bind_classifier(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<Classifier> type(module, "Classifier",
                              "A trained classifier or regressor: thresholds, a network of gates "
                              "and a head. Immutable; predictions are thread-safe.");
  type.def_static(
          "load", [](const fs::path& path) { return load_as<Classifier>(path, "a classifier"); },
          "path"_a, "Reads a model file or a checkpoint of a classifier.")
      .def("predict", &predict, "samples"_a.none(),
           "Predictions of the hardened circuit for samples [samples, features], which run on "
           "packed bits: class indices, int32 [samples], or values, float64 [samples].")
      .def("predict_proba", &predict_proba, "samples"_a.none(),
           "Class probabilities of the hardened circuit, float64 [samples, classes]: the softmax "
           "of its group sums. For regression, values [samples].")
      .def("predict_soft", &predict_soft, "samples"_a.none(), "device"_a = "cpu",
           "The same from the soft network, as in training.")
      .def("sums", &decision_sums, "samples"_a.none(),
           "Group sums of the hardened circuit, float64 [samples, groups]. With one group per "
           "class, the largest sum wins.")
      .def("importances", &importances, "samples"_a.none(),
           "How much every feature matters, float64 [features]: the share of the samples whose "
           "class changes if a bit of the feature is flipped, added up over its bits. For "
           "regression, the mean change of the value as a share of its range.")
      .def("to_netlist", &to_netlist, nb::kw_only(), "head"_a = false,
           "The hardened network as a circuit. Its inputs are the bits of the thresholds. With "
           "`head`, its outputs are the binary digits of the class.")
      .def_prop_ro(
          "classes", [](const Classifier& m) { return m.parts().format.classes; },
          "The names of the classes; empty for regression.")
      .def_prop_ro(
          "features", [](const Classifier& m) { return m.parts().thresholds.features(); },
          "The number of features of a sample.")
      .def_prop_ro(
          "feature_names",
          [](const Classifier& m) {
            return data::feature_names(m.parts().format, m.parts().thresholds.features());
          },
          "The names of the features.")
      .def_prop_ro(
          "threshold_features",
          [](const Classifier& m) {
            const auto sources = m.parts().thresholds.sources();
            return array_of(std::vector<std::int32_t>(sources.begin(), sources.end()));
          },
          "The feature that every input bit compares, int32 [bits].")
      .def_prop_ro(
          "thresholds",
          [](const Classifier& m) { return array_of(m.parts().thresholds.values().clone()); },
          "The threshold of every input bit, float32 [bits]: the bit is 1 above it.")
      .def("__repr__", &description);
  bind_common(type);
}

// ---------------------------------------------------------------------------------------------
// Circuits

nb::object predict_circuit(const Network& model, nb::handle inputs) {
  {
    const nb::gil_scoped_release no_gil;
    model.hardened().runner();
  }
  return nb::cast(model.hardened()).attr("evaluate")(inputs);
}

nb::object predict_soft_circuit(const Network& model, nb::handle inputs) {
  const Tensor x = cast(tensor_of(inputs, "predict_soft", "inputs"), model.network().dtype());
  Tensor result;
  {
    const nb::gil_scoped_release no_gil;
    result = soft_outputs(model.network(), x);
  }
  return array_of(result);
}

void bind_network(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<Network> type(module, "CircuitModel",
                           "A trained circuit: a network of gates from bits to bits. Immutable; "
                           "predictions are thread-safe.");
  type.def_static(
          "load", [](const fs::path& path) { return load_as<Network>(path, "a circuit"); },
          "path"_a, "Reads a model file or a checkpoint of a circuit.")
      .def("predict", &predict_circuit, "inputs"_a.none(),
           "Outputs of the hardened circuit, uint8 [samples, outputs], for zeros and ones "
           "[samples, inputs].")
      .def("predict_soft", &predict_soft_circuit, "inputs"_a.none(),
           "Outputs of the soft network for inputs from 0 to 1.")
      .def(
          "to_netlist", [](const Network& m) { return m.hardened(); },
          "The hardened network as a circuit, as trained.")
      .def_prop_ro(
          "inputs", [](const Network& m) { return m.network().inputs(); }, "Number of inputs.")
      .def_prop_ro(
          "outputs", [](const Network& m) { return m.network().outputs(); }, "Number of outputs.")
      .def("__repr__", [](const Network& m) {
        return fmt::format("CircuitModel('{}', {} inputs, {} outputs, {} layers)",
                           m.loaded->content.spec ? m.loaded->content.spec->name : "",
                           m.network().inputs(), m.network().outputs(),
                           m.network().layers().size());
      });
  bind_common(type);
}

// ---------------------------------------------------------------------------------------------
// Automata

/// (step, top, left, height, width)
using DamageTuple =
    std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

/// A state [channels, height, width] or [grids, channels, height, width], with grids second.
Tensor start_of(nb::handle state, const automata::Rule& rule) {
  if (state.is_none()) return {};
  const Tensor bits = bits_of(state, "run", "a state");
  const Shape& shape = bits.shape();
  const bool is_batch = shape.size() == 4;
  const std::size_t channels_at = is_batch ? 1 : 0;
  if ((!is_batch && shape.size() != 3) || shape[channels_at] != rule.channels()) {
    fail("run",
         "expected a state [channels, height, width] or [grids, channels, height, width] with {} "
         "channels, received shape {}",
         rule.channels(), to_string(shape));
  }
  if (bits.size() == 0) {
    fail("run", "expected a state with cells, received shape {}", to_string(shape));
  }
  return is_batch ? transpose(bits, Axes{1, 0, 2, 3})
                  : bits.viewed_as({shape[0], 1, shape[1], shape[2]});
}

/// Keeps all states: uint8 [states, channels, grids, height, width].
class StateRecorder final : public FrameSink {
 public:
  explicit StateRecorder(std::int64_t every) : every_(every) {}
  bool wants(std::int64_t step, bool /*notable*/) const override { return step % every_ == 0; }
  void add(std::int64_t /*step*/, const automata::BitGrid& state) override {
    states_.push_back(state.to_tensor(DType::uint8));
  }
  Tensor states() const { return stack(states_); }

 private:
  std::int64_t every_;
  std::vector<Tensor> states_;
};

struct RunArguments {
  nb::object state;
  std::optional<std::int64_t> steps;
  std::optional<double> fire_rate;
  std::vector<DamageTuple> damage;
  std::optional<Size> size;
  std::optional<std::uint64_t> seed;
  std::string device;
};

Playback playback_of(const Automaton& automaton, const RunArguments& arguments) {
  PlaybackOptions options{.size = grid_size(arguments.size),
                          .steps = arguments.steps,
                          .fire_rate = arguments.fire_rate,
                          .seed = arguments.seed,
                          .start = start_of(arguments.state, automaton.rule()),
                          .device = device_called(arguments.device)};
  if (options.start.defined() && options.size) {
    fail("run", "expected a state or a size, received both");
  }
  for (const auto& [step, top, left, height, width] : arguments.damage) {
    if (step < 0) fail("run", "expected damage at step 0 or later, received {}", step);
    options.damage.push_back({{top, left, height, width}, step, step});
  }
  return make_playback(automaton.loaded->content, options, "run", automaton.loaded->path);
}

/// Grids first, as in arguments; a single grid without that axis unless it was given.
Tensor state_for_python(const Tensor& state, bool is_batch) {
  const Shape& shape = state.shape();
  if (is_batch) return transpose(state, Axes{1, 0, 2, 3});
  return state.viewed_as({shape[0], shape[2], shape[3]});
}

Tensor frames_for_python(const Tensor& frames, bool is_batch) {
  const Shape& shape = frames.shape();
  if (is_batch) return transpose(frames, Axes{0, 2, 1, 3, 4});
  return frames.viewed_as({shape[0], shape[1], shape[3], shape[4]});
}

bool is_batch(const nb::object& state) {
  return !state.is_none() &&
         nb::cast<std::size_t>(nb::module_::import_("numpy").attr("ndim")(state)) == 4;
}

nb::object run(const Automaton& automaton, const RunArguments& arguments,
               std::optional<std::int64_t> every) {
  if (every && *every < 1) fail("run", "expected every of at least 1, received {}", *every);
  const Playback playback = playback_of(automaton, arguments);
  const bool batch = is_batch(arguments.state);
  Tensor result;
  {
    const nb::gil_scoped_release no_gil;
    if (every) {
      StateRecorder recorder(*every);
      play(playback, &recorder);
      result = frames_for_python(recorder.states(), batch);
    } else {
      result = state_for_python(play(playback, nullptr).last.to_tensor(DType::uint8), batch);
    }
  }
  return array_of(result);
}

nb::dict gif(const Automaton& automaton, const fs::path& path, const RunArguments& arguments) {
  const Playback playback = playback_of(automaton, arguments);
  std::optional<std::int64_t> errors;
  {
    const nb::gil_scoped_release no_gil;
    GifRecorder recorder(path, playback);
    errors = play(playback, &recorder).bit_errors;
  }
  nb::dict result;
  result["file"] = path.string();
  result["height"] = playback.size.height;
  result["width"] = playback.size.width;
  result["steps"] = playback.steps;
  result["bit_errors"] = errors ? nb::cast(*errors) : nb::none();
  return result;
}

nb::object target(const Automaton& automaton, const std::optional<Size>& size) {
  const Playback playback =
      make_playback(automaton.loaded->content, {.size = grid_size(size), .steps = 0}, "target",
                    automaton.loaded->path);
  if (!playback.target.defined()) return nb::none();
  return array_of(state_for_python(playback.target.clone(), false));
}

void bind_automaton(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<Automaton> type(module, "Automaton",
                             "A trained cellular automaton: the rule that every cell runs. "
                             "Immutable; runs are thread-safe.");
  type.def_static(
          "load", [](const fs::path& path) { return load_as<Automaton>(path, "an automaton"); },
          "path"_a, "Reads a model file or a checkpoint of an automaton.")
      .def(
          "run",
          [](const Automaton& automaton, nb::object state, std::optional<std::int64_t> steps,
             std::optional<double> fire_rate, const std::vector<DamageTuple>& damage,
             std::optional<Size> size, std::optional<std::uint64_t> seed,
             std::optional<std::int64_t> every, const std::string& device) {
            return run(automaton, {std::move(state), steps, fire_rate, damage, size, seed, device},
                       every);
          },
          "state"_a = nb::none(), "steps"_a = nb::none(), "fire_rate"_a = nb::none(),
          "damage"_a = std::vector<DamageTuple>(), nb::kw_only(), "size"_a = nb::none(),
          "seed"_a = nb::none(), "every"_a = nb::none(), "device"_a = "cpu",
          R"(Runs the hardened rule and returns the last state, uint8 [channels, height, width].

Args:
    state: The state to start from, zeros and ones [channels, height, width], or a batch
        [grids, channels, height, width]. By default, a start as in training.
    steps: Number of steps. By default as in training, and more on a larger grid.
    fire_rate: Probability that a cell updates in a step.
    damage: Rectangles that are set to 0: tuples (step, top, left, height, width).
    size: (height, width) of the grid, if no state is given.
    seed: Seed of random starts and updates.
    every: Return the states after 0, every, 2 every, ... steps: [states, channels, height, width].
    device: `cpu`, `cuda`, `vulkan`, or one of them with an index.)")
      .def(
          "gif",
          [](const Automaton& automaton, const fs::path& path, nb::object state,
             std::optional<std::int64_t> steps, std::optional<double> fire_rate,
             const std::vector<DamageTuple>& damage, std::optional<Size> size,
             std::optional<std::uint64_t> seed, const std::string& device) {
            return gif(automaton, path,
                       {std::move(state), steps, fire_rate, damage, size, seed, device});
          },
          "path"_a, "state"_a = nb::none(), "steps"_a = nb::none(), "fire_rate"_a = nb::none(),
          "damage"_a = std::vector<DamageTuple>(), nb::kw_only(), "size"_a = nb::none(),
          "seed"_a = nb::none(), "device"_a = "cpu",
          "Writes an animation. Arguments as for `run`. Returns its size, the number of steps and "
          "the bit errors of the last state, None without a target.")
      .def("target", &target, "size"_a = nb::none(),
           "The target, uint8 [channels, height, width], on a grid of this size; None if there is "
           "none.")
      .def(
          "to_netlist",
          [](const Automaton& m) {
            const nb::gil_scoped_release no_gil;
            return Circuit(netlist_of(m.loaded->content));
          },
          "The rule of one cell as a circuit, as trained. Input 9 c + n is neighbour n of channel "
          "c, output c its next state.")
      .def_prop_ro(
          "channels", [](const Automaton& m) { return m.rule().channels(); },
          "Number of channels per cell.")
      .def_prop_ro(
          "kernels", [](const Automaton& m) { return m.rule().kernels(); },
          "Number of perception kernels.")
      .def_prop_ro(
          "border", [](const Automaton& m) { return std::string(to_string(m.rule().border())); },
          "What cells at the edge of the grid see: `zero` or `periodic`.")
      .def_prop_ro(
          "size",
          [](const Automaton& m) {
            const GridSize size = default_size(m.spec());
            return Size{size.height, size.width};
          },
          "(height, width) of the grid that `run` uses by default.")
      .def("__repr__", [](const Automaton& m) {
        return fmt::format("Automaton('{}', {} channels, {} kernels)",
                           m.loaded->content.spec ? m.loaded->content.spec->name : "",
                           m.rule().channels(), m.rule().kernels());
      });
  bind_common(type);
}

}  // namespace

void bind_models(nb::module_& module) {
  using nb::literals::operator""_a;
  bind_classifier(module);
  bind_network(module);
  bind_automaton(module);
  module.def("load", &load, "path"_a,
             "Reads a model file or a checkpoint: a `Classifier`, a `CircuitModel` or an "
             "`Automaton`.");
}

}  // namespace boolgrad::python
