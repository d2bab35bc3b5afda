#include "boolgrad/train/experiment/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"
#include "boolgrad/train/experiment/experiment_keys.h"
#include "boolgrad/train/experiment/initial_circuit.h"

namespace boolgrad::train {
namespace {

constexpr std::string_view where = "experiment";

const ExperimentKey* find_key(const std::string& path) {
  const auto& table = experiment_key_table();
  const auto found = std::ranges::find(table, path, &ExperimentKey::path);
  return found == table.end() ? nullptr : &*found;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// The closest known key. The part after the section must be close as well, since a common section
/// makes any two keys look alike. A key with a missing or wrong section is found by its last part.
std::optional<std::string> nearest_key(const std::string& path) {
  const std::vector<std::string> keys = experiment_keys();
  const std::string part = last_part(path);
  auto whole = nearest_name(path, keys);
  if (whole && nearest_name(part, std::vector{last_part(*whole)})) return whole;
  std::vector<std::string> parts;
  for (const std::string& key : keys) parts.push_back(last_part(key));
  const auto nearest = nearest_name(part, parts);
  if (!nearest) return std::nullopt;
  return keys[static_cast<std::size_t>(std::ranges::find(parts, *nearest) - parts.begin())];
}

[[noreturn]] void refuse_unknown(const std::string& path, const std::string& source) {
  const auto nearest = nearest_key(path);
  fail(where, "{}: unknown key '{}'{}", source, printable(path),
       nearest ? fmt::format(", did you mean '{}'?", *nearest) : "");
}

/// The keys that a file or the command line has set.
class GivenKeys {
 public:
  explicit GivenKeys(std::string source) : source_(std::move(source)) {}

  /// Adds a key as it was written. Throws if it was written before under its other name.
  void add(const std::string& written) {
    const std::string path = current_key(written);
    const auto [known, is_new] = written_.try_emplace(path, written);
    if (known->second != written) refuse_both_names(path, source_);
    if (is_new && path != written) {
      renames_.push_back(fmt::format("{} is now {}", written, path));
    }
    paths_.push_back(path);
  }

  /// By their present names.
  const std::vector<std::string>& paths() const { return paths_; }
  bool has(std::string_view path) const { return std::ranges::find(paths_, path) != paths_.end(); }
  /// `binarise.levels is now binarise.thresholds`, for each old name.
  const std::vector<std::string>& renames() const { return renames_; }

 private:
  std::string source_;
  std::map<std::string, std::string> written_;  ///< by present names
  std::vector<std::string> paths_;
  std::vector<std::string> renames_;
};

/// Reads all values of `table`, whose own path is `prefix`.
void read_table(Experiment& experiment, const toml::table& table, const std::string& prefix,
                const std::string& source, GivenKeys& given) {
  for (const auto& [name, node] : table) {
    const std::string path = prefix + std::string(name.str());
    const ExperimentKey* key = find_key(current_key(path));
    const toml::table* inner = node.as_table();
    if (key == nullptr && inner != nullptr && !inner->empty()) {
      read_table(experiment, *inner, path + ".", source, given);
    } else if (key == nullptr) {
      refuse_unknown(path, source);
    } else if (!key->read(experiment, node)) {
      fail(where, "{}: expected {} to be {}, received {}", source, path, key->expected,
           text_of(node));
    } else {
      given.add(path);
    }
  }
}

/// The value of an override. Anything that is not a TOML value is a string, so that
/// `training.loss=bce` needs no quotes.
toml::table parse_override(const std::string& value) {
  try {
    toml::table table = toml::parse("value = " + value);
    if (table.size() == 1) return table;
  } catch (const toml::parse_error&) {
    // A string without quotes.
  }
  return toml::table{{"value", value}};
}

void apply_override(Experiment& experiment, const std::string& text, const std::string& source,
                    GivenKeys& given) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail(where, "{}: expected key=value, received '{}'", source, printable(text));
  }
  const std::string path = text.substr(0, equals);
  const ExperimentKey* key = find_key(current_key(path));
  if (key == nullptr) refuse_unknown(path, source);
  const toml::table table = parse_override(text.substr(equals + 1));
  const toml::node& node = *table.get("value");
  if (!key->read(experiment, node)) {
    fail(where, "{}: expected {} to be {}, received {}", source, path, key->expected,
         text_of(node));
  }
  given.add(path);
}

std::array<std::string*, 5> files_of(Experiment& experiment) {
  return {&experiment.task.file, &experiment.task.examples, &experiment.data.path,
          &experiment.training.teacher.path, &experiment.network.init_circuit};
}

/// So that a checkpoint can be resumed and a model evaluated from any folder.
void make_absolute(Experiment& experiment) {
  for (std::string* file : files_of(experiment)) {
    if (!file->empty()) *file = std::filesystem::absolute(*file).string();
  }
}

void check_per_layer(const std::vector<std::int64_t>& values, std::size_t layers,
                     std::string_view key, const std::string& source) {
  if (values.size() != 1 && values.size() != layers) {
    fail(where, "{}: expected {} with 1 or {} values (hidden layers and output layer), received {}",
         source, key, layers, values.size());
  }
}

void check_arity(const NetworkOptions& network, const std::string& source) {
  const auto is_not_two = [](std::int64_t arity) { return arity != 2; };
  const auto found = std::ranges::find_if(network.arity, is_not_two);
  if (found == network.arity.end()) return;
  if (network.parametrisation == Parametrisation::softmax16) {
    fail(where, "{}: expected network.arity = 2 with softmax16, received {}", source, *found);
  }
  if (network.wiring == WiringKind::unique || network.wiring == WiringKind::butterfly) {
    fail(where, "{}: expected network.arity = 2 with {} wiring, received {}", source,
         to_string(network.wiring), *found);
  }
}

void check_convolutions(const Experiment& experiment, const std::string& source) {
  const ConvolutionStack& stack = experiment.convolution;
  if (stack.size() == 0) return;
  if (!experiment.is_classifier()) {
    fail(where, "{}: convolution.kernels is for classifiers of images only", source);
  }
  const auto check_list = [&](const std::vector<std::int64_t>& values, std::string_view key) {
    if (values.size() == 1 || values.size() == stack.size()) return;
    fail(where, "{}: expected {} with 1 or {} values, one per convolution, received {}", source,
         key, stack.size(), values.size());
  };
  check_list(stack.window, "convolution.window");
  check_list(stack.stride, "convolution.stride");
  check_list(stack.padding, "convolution.padding");
  check_list(stack.depth, "convolution.depth");
  check_list(stack.arity, "convolution.arity");
  check_list(stack.channels_per_kernel, "convolution.channels_per_kernel");
  check_list(stack.groups, "convolution.groups");
  check_list(stack.pool, "convolution.pool");
  check_list(stack.candidates, "convolution.candidates");
  const auto not_two = std::ranges::find_if(stack.arity, [](auto arity) { return arity != 2; });
  if (experiment.network.parametrisation == Parametrisation::softmax16 &&
      not_two != stack.arity.end()) {
    fail(where, "{}: expected convolution.arity = 2 with softmax16, received {}", source, *not_two);
  }
  if (experiment.network.wiring == WiringKind::window) {
    fail(where, "{}: expected another network.wiring than window with convolutions", source);
  }
  if (experiment.binarise.learn) {
    fail(where,
         "{}: expected binarise.learn = false with convolutions, whose pixels share "
         "thresholds",
         source);
  }
}

void check_wires(const Experiment& experiment, const std::string& source) {
  const NetworkOptions& network = experiment.network;
  if (network.wiring == WiringKind::window && !experiment.is_classifier()) {
    fail(where, "{}: network.wiring = window is for images only", source);
  }
  if (experiment.is_automaton() || !network.learns_wires()) return;
  const bool has_candidates =
      network.wiring == WiringKind::random || network.wiring == WiringKind::window;
  if (!has_candidates) {
    fail(where,
         "{}: expected network.wiring = random or window with network.candidates, received {}",
         source, to_string(network.wiring));
  }
  const auto grouped =
      std::ranges::find_if(network.group_size, [](auto size) { return size != 1; });
  if (grouped != network.group_size.end()) {
    fail(where, "{}: expected network.group_size = 1 with learned wires, received {}", source,
         *grouped);
  }
}

void check_stages(const std::vector<std::int64_t>& values, std::size_t stages, std::string_view key,
                  const std::string& source) {
  if (!values.empty() && values.size() != stages) {
    fail(where, "{}: expected {} with {} values, one per stage of curriculum.until, received {}",
         source, key, stages, values.size());
  }
}

void check_curriculum(const Experiment& experiment, const std::string& source) {
  const CurriculumOptions& curriculum = experiment.curriculum;
  const std::size_t stages = curriculum.until.size();
  if (std::ranges::adjacent_find(curriculum.until, std::greater_equal<>()) !=
      curriculum.until.end()) {
    fail(where, "{}: expected curriculum.until to be increasing, received [{}]", source,
         fmt::join(curriculum.until, ", "));
  }
  check_stages(curriculum.height, stages, "curriculum.height", source);
  check_stages(curriculum.width, stages, "curriculum.width", source);
  check_stages(curriculum.steps, stages, "curriculum.steps", source);
  check_stages(curriculum.batch, stages, "curriculum.batch", source);
  if (stages > 0 && !experiment.is_automaton()) {
    fail(where, "{}: a curriculum is for automata only", source);
  }
  const bool grids = !curriculum.height.empty() || !curriculum.width.empty();
  if (grids && experiment.task.kind != data::TaskKind::checkerboard) {
    fail(where, "{}: curriculum.height and curriculum.width are for the checkerboard only, not {}",
         source, to_string(experiment.task.kind));
  }
  if (experiment.automaton.border != Border::periodic) return;
  for (const auto* sides : {&curriculum.height, &curriculum.width}) {
    for (const std::int64_t side : *sides) {
      if (side >= 3) continue;
      fail(where, "{}: expected at least 3 cells per side with periodic borders, received {}",
           source, side);
    }
  }
}

void check_search(const Experiment& experiment, const std::string& source) {
  const SearchOptions& search = experiment.search;
  if (experiment.is_classifier() &&
      (search.members > 1 || search.restart != RestartKind::none || search.local_search > 0)) {
    fail(where,
         "{}: search.members, search.restart and search.local_search are not for classifiers",
         source);
  }
  if (experiment.search.members > 1 && experiment.knockout.pattern != KnockoutPattern::none) {
    fail(where, "{}: expected search.members = 1 with a knockout, received {}", source,
         experiment.search.members);
  }
  if (search.local_search > 0 && experiment.network.parametrisation == Parametrisation::walsh) {
    fail(where, "{}: expected softmax16 or sigmoid for search.local_search, received walsh",
         source);
  }
}

void check_rule(const Experiment& experiment, const std::string& source) {
  const AutomatonOptions& automaton = experiment.automaton;
  if (!experiment.task.rule.empty() && !experiment.task.examples.empty()) {
    fail(where, "{}: expected task.rule or task.examples, received both", source);
  }
  const std::int64_t steps =
      automaton.steps + automaton.stay_steps + experiment.rollout.extra_steps;
  if (steps != 1) {
    fail(
        where,
        "{}: expected automaton.steps = 1 for a rule, without stay_steps and extra_steps, received "
        "{} steps",
        source, steps);
  }
}

void check_automaton(const Experiment& experiment, const std::string& source) {
  const AutomatonOptions& automaton = experiment.automaton;
  if (automaton.perceive.empty() || automaton.perceive[0] != 8) {
    fail(where,
         "{}: expected automaton.perceive to begin with 8 gates, one per neighbour, received {}",
         source, automaton.perceive.empty() ? "none" : fmt::format("{}", automaton.perceive[0]));
  }
  const bool too_small = automaton.height < 3 || automaton.width < 3;
  if (automaton.border == Border::periodic && too_small && !experiment.learns_rule()) {
    fail(where, "{}: expected a grid of at least 3x3 cells with periodic borders, received {}x{}",
         source, automaton.height, automaton.width);
  }
  if (experiment.task.kind == data::TaskKind::life && automaton.channels != 1) {
    fail(where, "{}: expected automaton.channels = 1 for life, received {}", source,
         automaton.channels);
  }
  const RolloutTraining& rollout = experiment.rollout;
  if (rollout.loss_steps > automaton.steps) {
    fail(where, "{}: expected automaton.loss_steps of at most automaton.steps = {}, received {}",
         source, automaton.steps, rollout.loss_steps);
  }
  if (rollout.pool > 0 && rollout.pool < automaton.batch) {
    fail(where, "{}: expected automaton.pool of at least automaton.batch = {}, received {}", source,
         automaton.batch, rollout.pool);
  }
  if (rollout.pool > 0 && experiment.learns_rule()) {
    fail(where, "{}: expected automaton.pool = 0 for {}, which has its own starts, received {}",
         source, to_string(experiment.task.kind), rollout.pool);
  }
  if (experiment.task.kind == data::TaskKind::rule) check_rule(experiment, source);
  if (experiment.knockout.pattern != KnockoutPattern::none) {
    fail(where, "{}: a knockout is for circuits only", source);
  }
}

void check_blocks(const Experiment& experiment, const std::string& source) {
  const std::int64_t blocks = experiment.training.blocks;
  if ((blocks & (blocks - 1)) != 0) {
    fail(where, "{}: expected training.blocks to be 1, 2, 4, 8, ..., received {}", source, blocks);
  }
  if (blocks == 1) return;
  if (experiment.adapts_temperature()) {
    fail(where, "{}: training.blocks and head.temperature_target do not go together", source);
  }
  if (experiment.hardening.kind == HardeningKind::states) {
    fail(where, "{}: training.blocks and hardening.kind = states do not go together", source);
  }
}

void check_training(const Experiment& experiment, const std::string& source) {
  const TrainingOptions& training = experiment.training;
  if (!experiment.is_classifier() && training.log_every == 0) {
    fail(where, "{}: expected training.log_every of at least 1 without epochs, received 0", source);
  }
  if (!experiment.is_classifier() && training.epochs != 0) {
    fail(where, "{}: training.epochs is for classifiers only, received {}", source,
         training.epochs);
  }
  check_blocks(experiment, source);
  const bool has_classes = experiment.is_classifier() && experiment.head.kind == HeadKind::classes;
  if (!training.teacher.path.empty() && !has_classes) {
    fail(where, "{}: training.teacher is for classifiers with head.kind = classes only", source);
  }
  if (!experiment.is_automaton() && experiment.hardening.kind == HardeningKind::states) {
    fail(where, "{}: hardening.kind = states is for automata only", source);
  }
  if (experiment.is_automaton() && experiment.network.gradient_factor != 1) {
    fail(where, "{}: network.gradient_factor is for circuits only, received {}", source,
         experiment.network.gradient_factor);
  }
}

void check(const Experiment& experiment, const std::string& source) {
  check_training(experiment, source);
  if (experiment.is_automaton()) check_automaton(experiment, source);
  check_curriculum(experiment, source);
  check_search(experiment, source);
  const NetworkOptions& network = experiment.network;
  const std::size_t layers = network.hidden.size() + 1;
  check_per_layer(network.arity, layers, "network.arity", source);
  check_per_layer(network.group_size, layers, "network.group_size", source);
  check_per_layer(network.candidates, layers, "network.candidates", source);
  check_wires(experiment, source);
  check_initial_circuit(experiment, source);
  check_arity(network, source);
  check_convolutions(experiment, source);
  if (experiment.binarise.learn && experiment.binarise.thresholds.shared) {
    fail(where, "{}: expected binarise.learn = false with binarise.shared, received true", source);
  }
  if (experiment.task.kind == data::TaskKind::table && experiment.task.file.empty()) {
    fail(where, "{}: expected task.file for a table, received none", source);
  }
  if (experiment.training.schedule == ScheduleKind::exponential &&
      experiment.training.final_learning_rate_factor == 0) {
    fail(where,
         "{}: expected training.final_learning_rate_factor above 0 for exponential, received 0",
         source);
  }
  std::int64_t knockout_layers = static_cast<std::int64_t>(layers);
  for (std::size_t i = 0; i < experiment.convolution.size(); ++i) {
    knockout_layers += experiment.convolution.at(i).layers();
  }
  if (experiment.knockout.layer > knockout_layers) {
    fail(where, "{}: expected knockout.layer from 0 to {}, received {}", source, knockout_layers,
         experiment.knockout.layer);
  }
}

}  // namespace

std::string_view to_string(WiringKind kind) {
  switch (kind) {
    case WiringKind::random: return "random";
    case WiringKind::unique: return "unique";
    case WiringKind::local: return "local";
    case WiringKind::butterfly: return "butterfly";
    case WiringKind::window: return "window";
  }
  return "";
}

logic::ConvolutionOptions ConvolutionStack::at(std::size_t index) const {
  const auto of = [index](const std::vector<std::int64_t>& values) {
    return values.size() == 1 ? values[0] : values.at(index);
  };
  return {.kernels = kernels.at(index),
          .window = of(window),
          .stride = of(stride),
          .padding = of(padding),
          .depth = static_cast<int>(of(depth)),
          .arity = static_cast<int>(of(arity)),
          .channels_per_kernel = of(channels_per_kernel),
          .groups = of(groups),
          .pool = of(pool)};
}

std::int64_t ConvolutionStack::candidates_at(std::size_t index) const {
  return candidates.size() == 1 ? candidates[0] : candidates.at(index);
}

bool Experiment::learns_wires() const {
  const bool learns_places =
      convolution.size() > 0 &&
      std::ranges::any_of(convolution.candidates, [](std::int64_t count) { return count > 1; });
  return network.learns_wires() || learns_places;
}

std::int64_t Experiment::knockout_step() const {
  if (knockout.pattern == KnockoutPattern::none) return -1;
  const double step = std::floor(knockout.at * static_cast<double>(training.steps));
  return static_cast<std::int64_t>(step);
}

namespace {

/// Throws for an override that only other kinds of experiments use.
void check_overrides(const Experiment& experiment, const GivenKeys& overridden,
                     const std::string& source) {
  for (const std::string& path : overridden.paths()) {
    const std::optional<NoEffect> nothing = no_effect(experiment, path);
    if (nothing && nothing->by_family) fail(where, "{}: {}", source, nothing->reason);
  }
}

/// A line for every old name and for every key without effect. A key of the file that an override
/// makes useless is not mentioned: `--epochs` replaces the steps of a built-in experiment.
std::vector<std::string> notices_of(const Experiment& of_file, const GivenKeys& given,
                                    const Experiment& experiment, const GivenKeys& overridden) {
  std::vector<std::string> notices = given.renames();
  for (const std::string& path : given.paths()) {
    const auto nothing = no_effect(experiment, path);
    if (nothing && no_effect(of_file, path)) notices.push_back(nothing->reason);
  }
  notices.insert(notices.end(), overridden.renames().begin(), overridden.renames().end());
  for (const std::string& path : overridden.paths()) {
    if (const auto nothing = no_effect(experiment, path)) notices.push_back(nothing->reason);
  }
  return notices;
}

/// Whether hidden layers and a circuit to start from were given together, or the layers alone in an
/// override. The layers of a built-in experiment may grow.
bool fixes_hidden(const GivenKeys& given, const GivenKeys& overridden) {
  constexpr std::string_view hidden = "network.hidden";
  return overridden.has(hidden) || (given.has(hidden) && given.has("network.init_circuit"));
}

/// An experiment, and notices about keys that were given.
struct Parsed {
  Experiment experiment;
  std::vector<std::string> notices;
};

Parsed parse_with_notices(std::string_view text, const std::string& source, const std::string& name,
                          const std::filesystem::path& folder,
                          std::span<const std::string> overrides) {
  Parsed parsed;
  Experiment& experiment = parsed.experiment;
  experiment.name = name;
  GivenKeys given(source);
  GivenKeys overridden("--set");
  read_table(experiment, parse_toml(text, source), "", source, given);
  const Experiment of_file = experiment;
  for (std::string* file : files_of(experiment)) {
    if (!file->empty()) *file = (folder / *file).lexically_normal().string();
  }
  for (const std::string& one : overrides) apply_override(experiment, one, "--set", overridden);
  make_absolute(experiment);
  experiment.network.hidden_is_fixed = fixes_hidden(given, overridden);
  check(experiment, source);
  check_overrides(experiment, overridden, "--set");
  parsed.notices = notices_of(of_file, given, experiment, overridden);
  return parsed;
}

}  // namespace

Experiment parse_experiment(std::string_view text, const std::string& source,
                            const std::string& name, const std::filesystem::path& folder,
                            std::span<const std::string> overrides) {
  return parse_with_notices(text, source, name, folder, overrides).experiment;
}

Experiment with_overrides(Experiment experiment, std::span<const std::string> overrides,
                          const std::string& source) {
  GivenKeys overridden(source);
  for (const std::string& one : overrides) apply_override(experiment, one, source, overridden);
  make_absolute(experiment);
  if (overridden.has("network.hidden")) experiment.network.hidden_is_fixed = true;
  check(experiment, source);
  check_overrides(experiment, overridden, source);
  return experiment;
}

std::vector<std::string> rename_notices(std::span<const std::string> overrides) {
  GivenKeys given("--set");
  for (const std::string& one : overrides) given.add(one.substr(0, one.find('=')));
  return given.renames();
}

Experiment read_experiment(const std::filesystem::path& path,
                           std::span<const std::string> overrides,
                           std::vector<std::string>* notices) {
  std::ifstream file = open_for_reading(where, path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Parsed parsed =
      parse_with_notices(text, path.string(), path.stem().string(), path.parent_path(), overrides);
  if (notices != nullptr) *notices = std::move(parsed.notices);
  return std::move(parsed.experiment);
}

std::string_view hard_loss_name(const Experiment& experiment) {
  if (!experiment.is_classifier()) return "bit errors";
  return experiment.head.kind == HeadKind::regression ? "squared error" : "errors";
}

std::string to_toml(const Experiment& experiment) {
  std::string text;
  std::string section;
  for (const ExperimentKey& key : experiment_key_table()) {
    const std::size_t dot = key.path.find('.');
    const bool top_level = dot == std::string::npos;
    const std::string own = top_level ? "" : key.path.substr(0, dot);
    if (own != section) text += fmt::format("\n[{}]\n", section = own);
    text += fmt::format("{} = {}\n", top_level ? key.path : key.path.substr(dot + 1),
                        key.write(experiment));
  }
  return text;
}

std::pair<std::string, std::string> first_difference(const std::string& a, const std::string& b) {
  std::istringstream first(a);
  std::istringstream second(b);
  std::string x;
  std::string y;
  std::string section;
  while (std::getline(first, x) && std::getline(second, y)) {
    if (x != y) return {section + x, section + y};
    if (x.starts_with('[')) section = x.substr(1, x.size() - 2) + ".";
  }
  return {"another experiment", "this one"};
}

std::vector<std::string> experiment_keys() {
  std::vector<std::string> keys;
  for (const ExperimentKey& key : experiment_key_table()) keys.push_back(key.path);
  return keys;
}

void check_resumable(const Experiment& saved, const Experiment& wanted, const std::string& source) {
  constexpr std::array free = {"training.steps",
                               "training.epochs",
                               "training.log_every",
                               "training.checkpoint_every",
                               "training.diagnose_every",
                               "training.stop_when_solved",
                               "training.patience",
                               "automaton.memory",
                               "data.path"};
  for (const ExperimentKey& key : experiment_key_table()) {
    if (std::ranges::find(free, key.path) != free.end()) continue;
    const std::string before = key.write(saved);
    const std::string now = key.write(wanted);
    if (before != now) {
      fail("resume", "{}: the run was started with {} = {}, received {}", source, key.path,
           printable(before), printable(now));
    }
  }
  const auto& circuit = saved.network.circuit;
  if (circuit && wanted.network.circuit && circuit->netlist != wanted.network.circuit->netlist) {
    fail("resume", "{}: the run was started from another circuit than {} has now", source,
         printable(wanted.network.init_circuit));
  }
}

}  // namespace boolgrad::train
