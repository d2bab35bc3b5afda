#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "boolgrad/core/error.h"
#include "boolgrad/train/experiment/experiment_keys.h"

namespace boolgrad {
namespace {

using E = const Experiment&;

bool is_life(E e) { return e.task.kind == TaskKind::life; }
bool is_csv(E e) { return e.task.kind == TaskKind::csv; }

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

constexpr std::string_view no_life = "a task other than life, which has its own";
bool is_not_life(E e) { return !is_life(e); }

const std::vector<KeyUse>& uses() {
  static const std::vector<KeyUse> rows = {
      all("name"),
      all("seed"),
      all("task.kind"),
      circuits_only("task.bits", "a Boolean function",
                    [](E e) { return e.task.kind != TaskKind::table; }),
      no_classifiers(
          "task.file", "task.kind = table or picture",
          [](E e) { return e.task.kind == TaskKind::table || e.task.kind == TaskKind::picture; }),
      circuits_only("task.outputs", "task.kind = table",
                    [](E e) { return e.task.kind == TaskKind::table; }),
      automata_only("task.square", "task.kind = checkerboard",
                    [](E e) { return e.task.kind == TaskKind::checkerboard; }),

      classifiers_only("data."),
      classifiers_only("data.path", "a task with files",
                       [](E e) { return e.task.kind < TaskKind::monk1; }),
      classifiers_only("data.target", "task.kind = csv", is_csv),
      classifiers_only("data.categories", "task.kind = csv", is_csv),
      classifiers_only("data.test", "task.kind = csv", is_csv),

      classifiers_only("binarise."),
      classifiers_only("binarise.threshold", "binarise.kind = threshold",
                       [](E e) { return e.binarise.levels.kind == BinarisationKind::threshold; }),
      classifiers_only("binarise.levels", "binarise.kind = uniform or quantile",
                       [](E e) { return e.binarise.levels.kind != BinarisationKind::threshold; }),
      classifiers_only("binarise.width", "binarise.learn = true",
                       [](E e) { return e.binarise.learn; }),

      classifiers_only("head."),
      classifiers_only("head.temperature", "a head of classes",
                       [](E e) { return e.head.kind != HeadKind::regression; }),

      all("network."),
      networks_only("network.hidden"),
      networks_only("network.arity"),
      networks_only("network.group_size"),
      networks_only("network.wiring"),
      networks_only("network.wiring_noise", "network.wiring = local",
                    [](E e) { return e.network.wiring == WiringKind::local; }),
      networks_only("network.gradient_factor"),

      all("training."),
      all("training.steps", "training.epochs = 0", [](E e) { return e.training.epochs == 0; }),
      classifiers_only("training.epochs"),
      all("training.final_share", "a schedule that falls",
          [](E e) { return e.training.schedule != ScheduleKind::constant; }),
      automata_only("training.gate_penalty"),
      no_classifiers("training.loss"),
      no_classifiers("training.focal_gamma", "training.loss = focal",
                     [](E e) { return e.loss.kind == LossKind::focal; }),
      networks_only("training.batch"),
      classifiers_only("training.label_smoothing", "a head of classes",
                       [](E e) { return e.head.kind != HeadKind::regression; }),
      classifiers_only("training.shift"),
      classifiers_only("training.patience"),

      automata_only("automaton."),
      automata_only("automaton.border", no_life, is_not_life),
      automata_only("automaton.height", no_life, is_not_life),
      automata_only("automaton.width", no_life, is_not_life),
      automata_only("automaton.batch", no_life, is_not_life),
      automata_only("automaton.start", no_life, is_not_life),
      automata_only("automaton.probes", no_life, is_not_life),
      automata_only("automaton.pool", no_life, is_not_life),

      all("hardening."),
      all("hardening.threshold", "a hardening.kind that rises with training",
          [](E e) {
            return e.hardening.kind != HardeningKind::none &&
                   e.hardening.kind != HardeningKind::straight_through;
          }),
      all("hardening.steps", "a hardening.kind that rises with training",
          [](E e) {
            return e.hardening.kind != HardeningKind::none &&
                   e.hardening.kind != HardeningKind::straight_through;
          }),
      all("hardening.rate_share", "a hardening.kind",
          [](E e) { return e.hardening.kind != HardeningKind::none; }),
      all("hardening.temperature", "hardening.kind = temperature",
          [](E e) { return e.hardening.kind == HardeningKind::temperature; }),
      all("hardening.noise", "hardening.kind = noise",
          [](E e) { return e.hardening.kind == HardeningKind::noise; }),
      no_classifiers("hardening.seal"),

      automata_only("curriculum."),

      no_classifiers("search."),
      no_classifiers("search.until", "search.members above 1",
                     [](E e) { return e.search.members > 1; }),
      no_classifiers("search.patience", "a search.restart",
                     [](E e) { return e.search.restart != RestartKind::none; }),
      no_classifiers("search.every", "search.restart, search.keep_best or search.refit",
                     [](E e) {
                       return e.search.restart != RestartKind::none || e.search.keep_best ||
                              e.search.refit > 0;
                     }),
      no_classifiers("search.refit_walk", "search.refit above 0",
                     [](E e) { return e.search.refit > 0; }),
      no_classifiers("search.refit_every", "search.refit above 0",
                     [](E e) { return e.search.refit > 0; }),
      no_classifiers("search.refit_below", "search.refit above 0",
                     [](E e) { return e.search.refit > 0; }),

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
    fail("experiment", "expected a key whose use is listed, received {}", path);
  }
  return *found;
}

std::optional<NoEffect> no_effect(const Experiment& experiment, std::string_view path) {
  const KeyUse& use = use_of(path);
  const TaskFamily family = experiment.family();
  const bool read = family == TaskFamily::circuit     ? use.circuit
                    : family == TaskFamily::automaton ? use.automaton
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

}  // namespace boolgrad
