#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "boolgrad/core/fail.h"
#include "boolgrad/train/experiment/experiment_keys.h"

namespace boolgrad::train {
namespace {

using E = const Experiment&;

bool is_csv(E e) { return e.task.kind == data::TaskKind::csv; }

KeyUse circuits_only(std::string_view path, std::string_view needs, bool (*is_met)(E)) {
  return {path, true, false, false, needs, is_met};
}
KeyUse automata_only(std::string_view path, std::string_view needs = {},
                     bool (*is_met)(E) = nullptr) {
  return {path, false, true, false, needs, is_met};
}
KeyUse classifiers_only(std::string_view path, std::string_view needs = {},
                        bool (*is_met)(E) = nullptr) {
  return {path, false, false, true, needs, is_met};
}
KeyUse networks_only(std::string_view path, std::string_view needs = {},
                     bool (*is_met)(E) = nullptr) {
  return {path, true, false, true, needs, is_met};
}
KeyUse no_classifiers(std::string_view path, std::string_view needs = {},
                      bool (*is_met)(E) = nullptr) {
  return {path, true, true, false, needs, is_met};
}
KeyUse all(std::string_view path, std::string_view needs = {}, bool (*is_met)(E) = nullptr) {
  return {path, true, true, true, needs, is_met};
}

constexpr std::string_view a_pattern = "a task other than life and rule";
bool grows_pattern(E e) { return !e.learns_rule(); }
constexpr std::string_view a_grid = "a task other than life and rule, and task.max_side = 0";
bool has_given_grid(E e) {
  const bool has_own = e.task.kind == data::TaskKind::picture && e.task.max_side > 0;
  return grows_pattern(e) && !has_own;
}
bool is_rule(E e) { return e.task.kind == data::TaskKind::rule; }
bool is_picture(E e) { return e.task.kind == data::TaskKind::picture; }

constexpr std::string_view learned_wires =
    "network.candidates or convolution.candidates other than 1";
bool has_learned_wires(E e) { return e.learns_wires(); }
constexpr std::string_view redraws = "network.redraw_every above 0";
bool has_redraws(E e) { return e.network.learns_wires() && e.network.redraw_every > 0; }

constexpr std::string_view random_redraws = "network.redraw = random";
bool has_random_redraws(E e) { return has_redraws(e) && e.network.redraw == RedrawKind::random; }
constexpr std::string_view convolutions = "convolution.kernels";
bool has_convolutions(E e) { return e.convolution.size() > 0; }
constexpr std::string_view a_teacher = "a training.teacher";
bool has_teacher(E e) { return !e.training.teacher.path.empty(); }

const std::vector<KeyUse>& uses() {
  static const std::vector<KeyUse> rows = {
      all("name"),
      all("seed"),
      all("task.kind"),
      circuits_only("task.bits", "a Boolean function",
                    [](E e) { return e.task.kind != data::TaskKind::table; }),
      no_classifiers("task.file", "task.kind = table or picture",
                     [](E e) {
                       return e.task.kind == data::TaskKind::table ||
                              e.task.kind == data::TaskKind::picture;
                     }),
      circuits_only("task.outputs", "task.kind = table",
                    [](E e) { return e.task.kind == data::TaskKind::table; }),
      automata_only("task.square", "task.kind = checkerboard",
                    [](E e) { return e.task.kind == data::TaskKind::checkerboard; }),
      automata_only("task.rule", "task.kind = rule", is_rule),
      automata_only("task.examples", "task.kind = rule", is_rule),
      automata_only("task.max_side", "task.kind = picture", is_picture),

      classifiers_only("data."),
      classifiers_only("data.path", "a task that reads files",
                       [](E e) { return e.task.kind < data::TaskKind::monk1; }),
      classifiers_only("data.target", "task.kind = csv", is_csv),
      classifiers_only("data.categories", "task.kind = csv", is_csv),
      classifiers_only("data.test", "task.kind = csv", is_csv),
      classifiers_only("data.ignore", "task.kind = csv", is_csv),
      classifiers_only("data.header", "task.kind = csv", is_csv),
      classifiers_only("data.missing", "task.kind = csv", is_csv),
      classifiers_only("data.encoding", "task.kind = csv", is_csv),

      classifiers_only("binarise."),
      classifiers_only(
          "binarise.threshold", "binarise.kind = threshold",
          [](E e) { return e.binarise.thresholds.kind == data::BinarisationKind::threshold; }),
      classifiers_only(
          "binarise.thresholds", "binarise.kind = uniform or quantile",
          [](E e) { return e.binarise.thresholds.kind != data::BinarisationKind::threshold; }),
      classifiers_only("binarise.shared", "convolution.kernels = []",
                       [](E e) { return e.convolution.size() == 0; }),
      classifiers_only(
          "binarise.min_share", "thresholds that pixels do not share",
          [](E e) { return !e.binarise.thresholds.shared && e.convolution.size() == 0; }),
      classifiers_only("binarise.width", "binarise.learn = true",
                       [](E e) { return e.binarise.learn; }),

      classifiers_only("head."),
      classifiers_only("head.temperature", "head.kind = classes, binary or bits",
                       [](E e) { return e.head.kind != HeadKind::regression; }),
      classifiers_only("head.temperature_target", "head.kind = classes",
                       [](E e) { return e.head.kind == HeadKind::classes; }),
      classifiers_only("head.max_exponent", "head.weights = powers",
                       [](E e) { return e.head.weights == HeadWeights::powers; }),

      classifiers_only("convolution.", convolutions, has_convolutions),
      classifiers_only("convolution.kernels"),

      all("network."),
      networks_only("network.hidden"),
      networks_only("network.arity"),
      networks_only("network.group_size"),
      networks_only("network.wiring"),
      networks_only("network.wiring_noise", "network.wiring = local",
                    [](E e) { return e.network.wiring == WiringKind::local; }),
      classifiers_only("network.window", "network.wiring = window",
                       [](E e) { return e.network.wiring == WiringKind::window; }),
      networks_only("network.candidates"),
      networks_only("network.wire_forward", learned_wires, has_learned_wires),
      networks_only("network.wire_init_strength", learned_wires, has_learned_wires),
      networks_only("network.wire_temperature", learned_wires, has_learned_wires),
      networks_only("network.final_wire_temperature", learned_wires, has_learned_wires),
      networks_only("network.redraw_every", learned_wires, has_learned_wires),
      networks_only("network.redraw_until", redraws, has_redraws),
      networks_only("network.redraw", redraws, has_redraws),
      networks_only("network.redraw_share", "network.redraw = gradient",
                    [](E e) { return has_redraws(e) && e.network.redraw == RedrawKind::gradient; }),
      networks_only("network.redraw_keep", random_redraws, has_random_redraws),
      networks_only("network.redraw_below", random_redraws, has_random_redraws),
      networks_only("network.init_circuit"),
      networks_only("network.init_circuit_strength", "a network.init_circuit",
                    [](E e) { return !e.network.init_circuit.empty(); }),
      networks_only("network.gradient_factor"),

      all("training."),
      all("training.steps", "training.epochs = 0", [](E e) { return e.training.epochs == 0; }),
      classifiers_only("training.epochs"),
      all("training.final_learning_rate_factor", "a decreasing training.schedule",
          [](E e) { return e.training.schedule != ScheduleKind::constant; }),
      all("training.gate_penalty"),
      no_classifiers("training.loss"),
      no_classifiers("training.focal_gamma", "training.loss = focal",
                     [](E e) { return e.loss.kind == LossKind::focal; }),
      networks_only("training.batch"),
      classifiers_only("training.label_smoothing", "head.kind = classes, binary or bits",
                       [](E e) { return e.head.kind != HeadKind::regression; }),
      classifiers_only("training.max_shift"),
      classifiers_only("training.max_rotation"),
      classifiers_only("training.max_scale"),
      classifiers_only("training.flip"),
      classifiers_only("training.cutout"),
      classifiers_only("training.teacher"),
      classifiers_only("training.teacher_weight", a_teacher, has_teacher),
      classifiers_only("training.teacher_temperature", a_teacher, has_teacher),
      classifiers_only("training.patience"),

      automata_only("automaton."),
      automata_only("automaton.border", a_pattern, grows_pattern),
      automata_only("automaton.channels", "a task other than rule",
                    [](E e) { return !is_rule(e); }),
      automata_only("automaton.height", a_grid, has_given_grid),
      automata_only("automaton.width", a_grid, has_given_grid),
      automata_only("automaton.batch", "a task other than life",
                    [](E e) { return e.task.kind != data::TaskKind::life; }),
      automata_only("automaton.start", a_pattern, grows_pattern),
      automata_only("automaton.stay_steps", a_pattern, grows_pattern),
      automata_only("automaton.evaluation_starts", a_pattern, grows_pattern),
      automata_only("automaton.pool", a_pattern, grows_pattern),

      all("hardening."),
      all("hardening.threshold", "a hardening.kind that progresses during training",
          [](E e) {
            return e.hardening.kind != HardeningKind::none &&
                   e.hardening.kind != HardeningKind::straight_through;
          }),
      all("hardening.steps", "a hardening.kind that progresses during training",
          [](E e) {
            return e.hardening.kind != HardeningKind::none &&
                   e.hardening.kind != HardeningKind::straight_through;
          }),
      all("hardening.learning_rate_factor", "a hardening.kind",
          [](E e) { return e.hardening.kind != HardeningKind::none; }),
      all("hardening.temperature", "hardening.kind = temperature",
          [](E e) { return e.hardening.kind == HardeningKind::temperature; }),
      all("hardening.noise", "hardening.kind = noise",
          [](E e) { return e.hardening.kind == HardeningKind::noise; }),

      automata_only("curriculum."),

      no_classifiers("search."),
      no_classifiers("search.until", "search.members above 1",
                     [](E e) { return e.search.members > 1; }),
      no_classifiers("search.patience", "a search.restart",
                     [](E e) { return e.search.restart != RestartKind::none; }),
      no_classifiers("search.every", "search.restart, search.keep_best or search.local_search",
                     [](E e) {
                       return e.search.restart != RestartKind::none || e.search.keep_best ||
                              e.search.local_search > 0;
                     }),
      no_classifiers("search.local_search_random_moves", "search.local_search above 0",
                     [](E e) { return e.search.local_search > 0; }),
      no_classifiers("search.local_search_every", "search.local_search above 0",
                     [](E e) { return e.search.local_search > 0; }),
      no_classifiers("search.local_search_max_error", "search.local_search above 0",
                     [](E e) { return e.search.local_search > 0; }),

      networks_only("knockout."),
      networks_only("knockout.share", "knockout.pattern = random",
                    [](E e) { return e.knockout.pattern == KnockoutPattern::random; }),
      networks_only("knockout.layer", "knockout.pattern = list, layer or block",
                    [](E e) {
                      return e.knockout.pattern != KnockoutPattern::none &&
                             e.knockout.pattern != KnockoutPattern::random;
                    }),
      networks_only("knockout.gates", "knockout.pattern = list",
                    [](E e) { return e.knockout.pattern == KnockoutPattern::list; }),
      networks_only("knockout.first", "knockout.pattern = block",
                    [](E e) { return e.knockout.pattern == KnockoutPattern::block; }),
      networks_only("knockout.count", "knockout.pattern = block",
                    [](E e) { return e.knockout.pattern == KnockoutPattern::block; }),
      networks_only("knockout.at", "a knockout.pattern",
                    [](E e) { return e.knockout.pattern != KnockoutPattern::none; }),
      networks_only("knockout.seed", "knockout.pattern = random",
                    [](E e) { return e.knockout.pattern == KnockoutPattern::random; }),
  };
  return rows;
}

}  // namespace

const KeyUse& use_of(std::string_view path) {
  const auto exact = std::ranges::find(uses(), path, &KeyUse::path);
  if (exact != uses().end()) return *exact;
  const std::string_view section = path.substr(0, path.find('.') + 1);
  const auto found = std::ranges::find(uses(), section, &KeyUse::path);
  if (section.empty() || found == uses().end()) {
    fail("experiment", "key without an entry in the table of uses: {}", path);
  }
  return *found;
}

std::optional<NoEffect> no_effect(const Experiment& experiment, std::string_view path) {
  const KeyUse& use = use_of(path);
  const data::TaskFamily family = experiment.family();
  const bool read = family == data::TaskFamily::circuit     ? use.circuit
                    : family == data::TaskFamily::automaton ? use.automaton
                                                            : use.classifier;
  if (!read) {
    return NoEffect{fmt::format("{} has no effect on {}", path, to_string(family)), true};
  }
  if (use.is_met == nullptr || use.is_met(experiment)) return std::nullopt;
  return NoEffect{fmt::format("{} has no effect without {}", path, use.needs), false};
}

std::string why_no_effect(const Experiment& experiment, std::string_view key) {
  const std::optional<NoEffect> nothing = no_effect(experiment, key);
  return nothing ? nothing->reason : "";
}

}  // namespace boolgrad::train
