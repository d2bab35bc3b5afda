#include "boolgrad/model/spec.h"

#include <array>

#include "boolgrad/core/fail.h"
#include "boolgrad/data/boolean_task.h"
#include "boolgrad/model/keys.h"

namespace boolgrad {
namespace {

constexpr std::string_view where = "experiment";

std::vector<SpecKey<ModelSpec>> make_keys() {
  using K = SpecKeys<ModelSpec>;
  const auto kinds = data::all_task_kinds();
  return {
      K::text("name", BOOLGRAD_MEMBER(name)),
      K::integer("seed", BOOLGRAD_MEMBER(seed), 0),

      K::named<data::TaskKind>("task.kind", BOOLGRAD_MEMBER(task.kind),
                               {kinds.begin(), kinds.end()}),
      K::integer("task.bits", BOOLGRAD_MEMBER(task.bits), 1, data::max_task_bits),
      K::text("task.file", BOOLGRAD_MEMBER(task.file)),
      K::integer("task.outputs", BOOLGRAD_MEMBER(task.outputs), 0),
      K::integer("task.square", BOOLGRAD_MEMBER(task.square), 1, max_side),
      K::text("task.rule", BOOLGRAD_MEMBER(task.rule)),
      K::text("task.examples", BOOLGRAD_MEMBER(task.examples)),
      K::integer("task.max_side", BOOLGRAD_MEMBER(task.max_side), 0, 256),

      K::text("data.path", BOOLGRAD_MEMBER(data.path)),
      K::text("data.target", BOOLGRAD_MEMBER(data.target)),
      K::text("data.categories", BOOLGRAD_MEMBER(data.categories)),
      K::text("data.ignore", BOOLGRAD_MEMBER(data.ignore)),
      K::choice<data::HeaderKind>("data.header", BOOLGRAD_MEMBER(data.header),
                                  {{"auto", data::HeaderKind::automatic},
                                   {"yes", data::HeaderKind::present},
                                   {"no", data::HeaderKind::absent}}),
      K::named<data::MissingValues>("data.missing", BOOLGRAD_MEMBER(data.missing),
                                    {data::MissingValues::refuse, data::MissingValues::drop,
                                     data::MissingValues::mean, data::MissingValues::category}),
      K::named<data::TextEncoding>("data.encoding", BOOLGRAD_MEMBER(data.encoding),
                                   {data::TextEncoding::utf8, data::TextEncoding::latin1}),
      K::below_one("data.validation", BOOLGRAD_MEMBER(data.validation)),
      K::below_one("data.test", BOOLGRAD_MEMBER(data.test)),
      K::integer("data.limit", BOOLGRAD_MEMBER(data.limit), 0),

      K::choice<LossKind>("training.loss", BOOLGRAD_MEMBER(loss.kind),
                          {{"squares", LossKind::squares},
                           {"l4", LossKind::l4},
                           {"bce", LossKind::bce},
                           {"focal", LossKind::focal}}),
      K::non_negative("training.focal_gamma", BOOLGRAD_MEMBER(loss.focal_gamma)),

      K::integer("automaton.channels", BOOLGRAD_MEMBER(automaton.channels), 1, max_channels),
      K::integer("automaton.kernels", BOOLGRAD_MEMBER(automaton.kernels), 1, max_channels),
      K::integers("automaton.perceive", BOOLGRAD_MEMBER(automaton.perceive), false, 1, max_gates),
      K::integers("automaton.update", BOOLGRAD_MEMBER(automaton.update), false, 1, max_gates),
      K::choice<Border>("automaton.border", BOOLGRAD_MEMBER(automaton.border),
                        {{"zero", Border::zero}, {"periodic", Border::periodic}}),
      K::integer("automaton.height", BOOLGRAD_MEMBER(automaton.height), 1, max_side),
      K::integer("automaton.width", BOOLGRAD_MEMBER(automaton.width), 1, max_side),
      K::integer("automaton.steps", BOOLGRAD_MEMBER(automaton.steps), 1, max_gates),
      K::integer("automaton.stay_steps", BOOLGRAD_MEMBER(automaton.stay_steps), 0, max_gates),
      K::integer("automaton.batch", BOOLGRAD_MEMBER(automaton.batch), 1, max_gates),
      K::choice<StartKind>("automaton.start", BOOLGRAD_MEMBER(automaton.start),
                           {{"random", StartKind::random}, {"seed", StartKind::seed}}),
      K::share("automaton.fire_rate", BOOLGRAD_MEMBER(automaton.fire_rate)),
      K::integer("automaton.evaluation_starts", BOOLGRAD_MEMBER(automaton.evaluation_starts), 1,
                 max_gates),
  };
}

constexpr std::array renamed = {
    RenamedKey{"binarise.levels", "binarise.thresholds"},
    RenamedKey{"binarise.least", "binarise.min_share"},
    RenamedKey{"training.warm_up", "training.warmup_steps"},
    RenamedKey{"training.final_share", "training.final_learning_rate_factor"},
    RenamedKey{"training.shift", "training.max_shift"},
    RenamedKey{"automaton.probes", "automaton.evaluation_starts"},
    RenamedKey{"hardening.rate_share", "hardening.learning_rate_factor"},
    RenamedKey{"hardening.seal", "hardening.saturate"},
    RenamedKey{"search.refit", "search.local_search"},
    RenamedKey{"search.refit_walk", "search.local_search_random_moves"},
    RenamedKey{"search.refit_every", "search.local_search_every"},
    RenamedKey{"search.refit_below", "search.local_search_max_error"},
};

/// The value of a key under its present or its old name; null if neither is given.
const toml::node* find_value(const toml::table& table, std::string_view path,
                             const std::string& source) {
  const toml::node* value = table.at_path(path).node();
  for (const RenamedKey& key : renamed) {
    if (key.path != path) continue;
    const toml::node* old = table.at_path(key.old_path).node();
    if (old != nullptr && value != nullptr) refuse_both_names(path, source);
    if (old != nullptr) value = old;
  }
  return value;
}

}  // namespace

std::span<const RenamedKey> renamed_keys() { return renamed; }

std::string current_key(std::string_view path) {
  const auto* const found = std::ranges::find(renamed, path, &RenamedKey::old_path);
  return std::string(found == renamed.end() ? path : found->path);
}

void refuse_both_names(std::string_view path, const std::string& source) {
  const auto* const found = std::ranges::find(renamed, path, &RenamedKey::path);
  fail(where, "{}: expected {} or its old name {}, received both", source, path, found->old_path);
}

const std::vector<SpecKey<ModelSpec>>& model_spec_keys() {
  static const std::vector<SpecKey<ModelSpec>> keys = make_keys();
  return keys;
}

std::string text_of(const toml::node& node) {
  if (node.is_table()) return "a table";
  std::ostringstream out;
  out << toml::node_view<const toml::node>(&node);
  return printable(out.str());
}

toml::table parse_toml(std::string_view text, const std::string& source) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail(where, "{}:{}: not valid TOML: {}", source, error.source().begin.line,
         printable(error.description()));
  }
}

ModelSpec parse_model_spec(std::string_view toml, const std::string& source,
                           const std::string& name) {
  ModelSpec spec;
  spec.name = name;
  const toml::table table = parse_toml(toml, source);
  for (const SpecKey<ModelSpec>& key : model_spec_keys()) {
    const toml::node* value = find_value(table, key.path, source);
    if (value != nullptr && !key.read(spec, *value)) {
      fail(where, "{}: expected {} to be {}, received {}", source, key.path, key.expected,
           text_of(*value));
    }
  }
  return spec;
}

}  // namespace boolgrad
