// For every key of experiments: two values that give different results, and an experiment.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace boolgrad::key_rows {

using Overrides = std::vector<std::string>;

// ---------------------------------------------------------------------------------------------
// Experiments and overrides to vary. DATA stands for a folder with files.

inline const std::string circuit = R"(
[task]
kind = "add"
bits = 4
[network]
hidden = [16]
[training]
steps = 12
learning_rate = 0.05
log_every = 4
checkpoint_every = 0
)";

inline const std::string table = R"(
[task]
kind = "table"
file = "DATA/a.csv"
[network]
hidden = [16]
[training]
steps = 12
)";

inline const std::string automaton = R"(
[task]
kind = "checkerboard"
[automaton]
channels = 2
kernels = 2
perceive = [8, 4]
update = [12]
height = 5
width = 6
steps = 3
batch = 2
evaluation_starts = 3
[training]
steps = 12
learning_rate = 0.05
log_every = 4
checkpoint_every = 0
)";

/// A picture that is learned in a few steps: all cells off.
inline const std::string dark = R"(
[task]
kind = "picture"
file = "DATA/dark.txt"
[automaton]
channels = 1
kernels = 1
perceive = [8, 4]
update = [4]
height = 4
width = 4
steps = 2
batch = 1
[training]
steps = 30
learning_rate = 0.5
log_every = 1
checkpoint_every = 0
)";

inline const std::string rule = R"(
[task]
kind = "rule"
rule = "B36/S23"
[automaton]
channels = 1
kernels = 2
perceive = [8, 4]
update = [12]
steps = 1
batch = 40
[training]
steps = 12
learning_rate = 0.05
log_every = 4
checkpoint_every = 0
)";

inline const std::string classifier = R"(
[task]
kind = "monk1"
[network]
hidden = [16]
init = "residual"
[head]
outputs = 12
temperature = 3
[training]
steps = 12
batch = 32
learning_rate = 0.05
log_every = 4
checkpoint_every = 0
)";

inline const std::string images = R"(
[task]
kind = "idx"
[data]
path = "DATA/images"
[binarise]
kind = "uniform"
thresholds = 3
[network]
hidden = [24]
init = "residual"
[head]
outputs = 20
temperature = 3
[training]
steps = 12
batch = 32
learning_rate = 0.05
log_every = 4
checkpoint_every = 0
)";

inline const std::string flowers = R"(
[task]
kind = "csv"
[data]
path = "DATA/flowers.csv"
[binarise]
kind = "quantile"
[network]
hidden = [16]
[head]
outputs = 12
[training]
steps = 12
batch = 32
)";

/// A single gate that should become XOR and learns nothing: only a local search can help.
inline const std::string stuck = R"(
[task]
kind = "xor"
bits = 2
[training]
steps = 8
learning_rate = 1e-9
log_every = 100
[search]
local_search = 4
local_search_every = 3
local_search_max_error = 1
)";

/// The same for an automaton.
inline const std::string stuck_automaton = dark + R"(
[search]
local_search = 400
local_search_every = 3
local_search_max_error = 1
)";

// ---------------------------------------------------------------------------------------------
// Rows

/// Where a difference shows.
enum class Watched : std::uint8_t {
  training,  ///< tensors and evaluation after all steps
  run,       ///< metrics and the saved model
  memory,    ///< memory policy of the backward pass
};

struct Row {
  std::string key;
  std::string base;
  std::string first;
  std::string second;
  Overrides with = {};
  Watched watched = Watched::training;
};

class KeyCases {
 public:
  void circuits(const std::string& key, const std::string& first, const std::string& second,
                const Overrides& with = {}, Watched watched = Watched::training) {
    rows_.push_back({key, circuit, first, second, with, watched});
  }
  void automata(const std::string& key, const std::string& first, const std::string& second,
                const Overrides& with = {}, Watched watched = Watched::training) {
    rows_.push_back({key, automaton, first, second, with, watched});
  }
  void classifiers(const std::string& key, const std::string& first, const std::string& second,
                   const Overrides& with = {}, Watched watched = Watched::training) {
    rows_.push_back({key, classifier, first, second, with, watched});
  }
  void networks(const std::string& key, const std::string& first, const std::string& second,
                const Overrides& with = {}, Watched watched = Watched::training) {
    circuits(key, first, second, with, watched);
    classifiers(key, first, second, with, watched);
  }
  void all(const std::string& key, const std::string& first, const std::string& second,
           const Overrides& with = {}, Watched watched = Watched::training) {
    networks(key, first, second, with, watched);
    automata(key, first, second, with, watched);
  }
  void add(Row row) { rows_.push_back(std::move(row)); }

  const std::vector<Row>& get() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

inline void add_tasks_and_data(KeyCases& rows) {
  rows.all("seed", "1", "2");
  rows.circuits("task.kind", "add", "xor");
  rows.automata("task.kind", "checkerboard", "life", {"automaton.channels=1"});
  rows.classifiers("task.kind", "monk1", "monk2");
  rows.circuits("task.bits", "4", "6");
  rows.add({"task.file", table, "DATA/a.csv", "DATA/b.csv"});
  rows.add({"task.file", dark, "DATA/dark.txt", "DATA/light.txt"});
  rows.add({"task.outputs", table, "1", "2"});
  rows.automata("task.square", "1", "2");
  rows.add({"task.rule", rule, "B36/S23", "B2/S"});
  rows.add({"task.examples", rule, "DATA/seen.npy", "DATA/other.npy", {"task.rule="}});
  const Overrides pictured = {"task.file=DATA/cross.png", "automaton.channels=3"};
  rows.add({"task.max_side", dark, "0", "4", pictured});

  rows.add({"data.path", images, "DATA/images", "DATA/fewer"});
  rows.add({"data.target", flowers, "kind", "colour"});
  rows.add({"data.categories", flowers, "\"\"", "width"});
  rows.add({"data.ignore", flowers, "\"\"", "width"});
  rows.add({"data.header", flowers, "yes", "no"});
  rows.add({"data.missing", flowers, "drop", "mean", {"data.path=DATA/gaps.csv"}});
  rows.classifiers("data.validation", "0", "0.2");
  rows.add({"data.test", flowers, "0", "0.3"});
  rows.classifiers("data.limit", "0", "60");

  rows.add({"binarise.kind", images, "threshold", "uniform"});
  rows.add({"binarise.threshold", images, "0.1", "0.7", {"binarise.kind=threshold"}});
  rows.add({"binarise.thresholds", images, "2", "3"});
  rows.add({"binarise.min_share", images, "0", "0.3"});
  rows.add({"binarise.learn", images, "false", "true"});
  rows.add({"binarise.width", images, "0.1", "0.5", {"binarise.learn=true"}});

  rows.add({"binarise.shared", images, "false", "true"});

  const Overrides convolved = {"convolution.kernels=[4]", "convolution.window=2",
                               "convolution.depth=1", "convolution.pool=1"};
  const auto convolution = [&](const char* key, const char* first, const char* second) {
    rows.add({key, images, first, second, convolved});
  };
  rows.add({"convolution.kernels",
            images,
            "[]",
            "[4]",
            {"convolution.window=2", "convolution.depth=1", "convolution.pool=1"}});
  convolution("convolution.window", "2", "3");
  convolution("convolution.stride", "1", "2");
  convolution("convolution.padding", "0", "1");
  convolution("convolution.depth", "1", "2");
  convolution("convolution.arity", "2", "3");
  convolution("convolution.channels_per_kernel", "1", "3");
  rows.add({"convolution.groups",
            images,
            "1",
            "2",
            {"convolution.kernels=[4]", "convolution.window=2", "convolution.depth=1",
             "convolution.pool=1", "binarise.thresholds=2"}});
  convolution("convolution.pool", "1", "2");
  convolution("convolution.candidates", "1", "3");

  rows.classifiers("head.kind", "classes", "binary");
  rows.add({"head.kind", images, "classes", "bits"});
  rows.classifiers("head.outputs", "12", "20");
  rows.classifiers("head.temperature", "3", "6");
  rows.classifiers("head.temperature_target", "0", "1.2");
  rows.classifiers("head.weights", "ones", "powers");
  rows.classifiers("head.max_exponent", "1", "3",
                   {"head.weights=powers", "training.learning_rate=1"});
}

inline void add_networks(KeyCases& rows) {
  rows.all("network.parametrisation", "sigmoid", "softmax16");
  rows.all("network.dtype", "float32", "float64");
  rows.networks("network.hidden", "[16]", "[20]");
  rows.networks("network.arity", "2", "3");
  rows.networks("network.group_size", "1", "[2, 1]");
  rows.networks("network.wiring", "random", "local");
  rows.networks("network.wiring_noise", "0", "3", {"network.wiring=local"});
  rows.add({"network.window", images, "2", "4", {"network.wiring=window"}});
  const Overrides learned = {"network.candidates=4"};
  rows.networks("network.candidates", "1", "4");
  rows.networks("network.wire_forward", "hard", "soft", learned);
  rows.networks("network.wire_init_strength", "1", "2", learned);
  rows.networks("network.wire_temperature", "1", "2", learned);
  rows.networks("network.final_wire_temperature", "1", "0.2", learned);
  const Overrides redrawn = {"network.candidates=4", "network.redraw_every=3"};
  const Overrides at_random = {"network.candidates=4", "network.redraw_every=3",
                               "network.redraw=random"};
  rows.networks("network.redraw_every", "0", "3", learned);
  rows.networks("network.redraw", "gradient", "random",
                {"network.candidates=4", "network.redraw_every=3", "network.redraw_below=1"});
  rows.networks("network.redraw_share", "0.25", "0.75", redrawn);
  rows.networks("network.redraw_until", "0.3", "0.9", redrawn);
  rows.networks("network.redraw_keep", "0.3", "0.95", at_random);
  rows.networks("network.redraw_below", "0", "1", at_random);
  rows.all("network.init", "gaussian", "pass_through");
  rows.all("network.init_strength", "1", "2");
  rows.add({"network.init_circuit", circuit, "''", "DATA/copy.net", {"task.kind=copy"}});
  rows.classifiers("network.init_circuit", "''", "DATA/robots.net");
  rows.add({"network.init_circuit_strength",
            circuit,
            "2",
            "4",
            {"task.kind=copy", "network.init_circuit=DATA/copy.net"}});
  rows.classifiers("network.init_circuit_strength", "2", "4",
                   {"network.init_circuit=DATA/robots.net"});
  rows.networks("network.gradient_factor", "1", "1.5");

  rows.automata("automaton.channels", "2", "3");
  rows.automata("automaton.kernels", "1", "2");
  rows.automata("automaton.perceive", "[8, 4]", "[8]");
  rows.automata("automaton.update", "[12]", "[16]");
  rows.automata("automaton.border", "zero", "periodic");
  rows.automata("automaton.height", "5", "6");
  rows.automata("automaton.width", "5", "6");
  rows.automata("automaton.steps", "3", "4");
  rows.automata("automaton.batch", "2", "3");
  rows.automata("automaton.start", "random", "seed");
  rows.automata("automaton.fire_rate", "1", "0.6");
  rows.automata("automaton.training_fire_rate", "0", "0.5");
  rows.automata("automaton.loss_steps", "1", "2");
  rows.automata("automaton.stay_steps", "0", "2");
  rows.automata("automaton.extra_steps", "0", "3");
  rows.automata("automaton.pool", "0", "4");
  rows.automata("automaton.evaluation_starts", "3", "8");
  rows.automata("automaton.memory", "1GB", "10000B", {"automaton.steps=12"}, Watched::memory);
}

inline void add_training(KeyCases& rows) {
  rows.all("training.learning_rate", "0.05", "0.1");
  rows.all("training.schedule", "constant", "cosine");
  rows.all("training.warmup_steps", "0", "5");
  rows.all("training.final_learning_rate_factor", "0.01", "0.5", {"training.schedule=cosine"});
  rows.all("training.beta1", "0.9", "0.5");
  rows.all("training.beta2", "0.99", "0.5");
  rows.all("training.epsilon", "1e-8", "0.1");
  rows.all("training.weight_decay", "0", "0.5");
  rows.all("training.clip_value", "0", "1e-6");
  rows.all("training.clip_norm", "0", "1e-6");
  rows.all("training.gradient_noise", "0", "0.1");
  rows.all("training.gate_penalty", "0", "0.1");
  rows.circuits("training.loss", "squares", "l4");
  rows.automata("training.loss", "squares", "l4");
  rows.circuits("training.focal_gamma", "1", "3", {"training.loss=focal"});
  rows.automata("training.focal_gamma", "1", "3", {"training.loss=focal"});
  rows.networks("training.batch", "0", "5");
  rows.networks("training.blocks", "1", "2", {"training.batch=6"});
  rows.automata("training.blocks", "1", "2");
  rows.classifiers("training.label_smoothing", "0", "0.2");
  rows.add({"training.max_shift", images, "0", "1"});
  rows.add({"training.max_rotation", images, "0", "20"});
  rows.add({"training.max_scale", images, "0", "0.2"});
  rows.add({"training.flip", images, "false", "true"});
  rows.add({"training.cutout", images, "0", "2"});
  const Overrides taught = {"training.teacher=DATA/teacher.npy"};
  rows.add({"training.teacher", images, "\"\"", "DATA/teacher.npy"});
  rows.add({"training.teacher_weight", images, "0.2", "0.5", taught});
  rows.add({"training.teacher_temperature", images, "1", "3", taught});

  // Length, evaluation and logging of a run.
  rows.all("training.steps", "6", "9", {}, Watched::run);
  rows.classifiers("training.epochs", "1", "2", {}, Watched::run);
  rows.all("training.log_every", "3", "5", {}, Watched::run);
  rows.all("training.checkpoint_every", "0", "5", {}, Watched::run);
  rows.all("training.diagnose_every", "0", "4", {}, Watched::run);
  rows.classifiers("training.patience", "0", "1", {"training.learning_rate=1e-30"}, Watched::run);
  const Overrides solved = {"network.hidden=[32, 16]", "network.arity=4", "training.loss=l4",
                            "training.learning_rate=0.2", "training.steps=120"};
  const Overrides solved_images = {"training.steps=120", "training.learning_rate=0.1"};
  rows.circuits("training.stop_when_solved", "true", "false", solved, Watched::run);
  rows.add({"training.stop_when_solved", dark, "true", "false", {}, Watched::run});
  rows.add({"training.stop_when_solved", images, "true", "false", solved_images, Watched::run});
  rows.circuits("hardening.saturate", "true", "false", solved, Watched::run);
  rows.classifiers("hardening.saturate", "true", "false", {}, Watched::run);
  rows.add({"hardening.saturate", dark, "true", "false", {}, Watched::run});
}

inline void add_hardening_and_knockouts(KeyCases& rows) {
  const auto with_kind = [](const std::string& kind) {
    return Overrides{"hardening.kind=" + kind, "hardening.threshold=100", "hardening.steps=10"};
  };
  rows.all("hardening.kind", "none", "blend", {"hardening.threshold=100", "hardening.steps=10"});
  rows.all("hardening.threshold", "1e-9", "100", {"hardening.kind=blend", "hardening.steps=10"});
  rows.all("hardening.steps", "10", "20", {"hardening.kind=blend", "hardening.threshold=100"});
  rows.all("hardening.learning_rate_factor", "1", "0.2", with_kind("blend"));
  rows.all("hardening.temperature", "0.1", "0.5", with_kind("temperature"));
  rows.all("hardening.noise", "1", "2", with_kind("noise"));

  rows.networks("knockout.pattern", "none", "random");
  rows.networks("knockout.share", "0.1", "0.5", {"knockout.pattern=random"});
  rows.networks("knockout.layer", "0", "1", {"knockout.pattern=layer"});
  rows.networks("knockout.gates", "[0]", "[1]", {"knockout.pattern=list"});
  rows.networks("knockout.first", "0", "3", {"knockout.pattern=block", "knockout.count=2"});
  rows.networks("knockout.count", "1", "3", {"knockout.pattern=block"});
  rows.networks("knockout.at", "0.1", "0.5", {"knockout.pattern=random"});
  rows.networks("knockout.seed", "-1", "9", {"knockout.pattern=random", "knockout.share=0.4"});
}

inline void add_search(KeyCases& rows) {
  rows.automata("curriculum.until", "[2]", "[6]", {"curriculum.steps=[2]"});
  rows.automata("curriculum.height", "[4]", "[6]", {"curriculum.until=[6]"});
  rows.automata("curriculum.width", "[4]", "[5]", {"curriculum.until=[6]"});
  rows.automata("curriculum.steps", "[1]", "[2]", {"curriculum.until=[6]"});
  rows.automata("curriculum.batch", "[1]", "[3]", {"curriculum.until=[6]"});

  const auto both = [&](const std::string& key, const std::string& first, const std::string& second,
                        const Overrides& with = {}, Watched watched = Watched::training) {
    rows.circuits(key, first, second, with, watched);
    rows.automata(key, first, second, with, watched);
  };
  const std::string slow = "training.learning_rate=1e-9";  // nothing improves
  both("search.members", "1", "2");
  both("search.until", "0", "5", {"search.members=2"});
  both("search.restart", "none", "fresh", {"search.patience=4", "search.every=2", slow});
  both("search.patience", "4", "40", {"search.restart=fresh", "search.every=2", slow});
  both("search.every", "2", "5", {"search.restart=fresh", "search.patience=4", slow});
  both("search.keep_best", "false", "true",
       {"training.learning_rate=4", "search.every=1", "training.steps=31"}, Watched::run);
  rows.add({"search.local_search", stuck, "0", "4"});
  rows.add(
      {"search.local_search_random_moves", stuck, "0", "50", {"search.local_search=1", "seed=2"}});
  rows.add({"search.local_search_every", stuck, "3", "20"});
  rows.add({"search.local_search_max_error", stuck, "0", "1"});
  const Overrides too = {slow, "training.steps=8", "training.log_every=100"};
  const auto with = [&](const std::string& more) {
    Overrides overrides = too;
    overrides.push_back(more);
    return overrides;
  };
  rows.add({"search.local_search", stuck_automaton, "0", "400", too});
  rows.add({"search.local_search_random_moves", stuck_automaton, "0", "4000",
            with("search.local_search=1")});
  rows.add({"search.local_search_every", stuck_automaton, "3", "20", too});
  rows.add({"search.local_search_max_error", stuck_automaton, "0", "1", too});
}

inline std::vector<Row> all_rows() {
  KeyCases rows;
  add_tasks_and_data(rows);
  add_networks(rows);
  add_training(rows);
  add_hardening_and_knockouts(rows);
  add_search(rows);
  return rows.get();
}

}  // namespace boolgrad::key_rows
