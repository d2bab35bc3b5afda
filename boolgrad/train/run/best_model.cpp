#include "boolgrad/train/run/best_model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace boolgrad::train {
namespace {

const std::string prefix = "best.";

bool is_better(const Evaluation& a, const Evaluation& b, BestKind kind) {
  if (kind == BestKind::hard_loss && a.hard_loss != b.hard_loss) return a.hard_loss < b.hard_loss;
  if (kind == BestKind::hard_loss) return a.soft_loss < b.soft_loss;
  return a.hard_accuracy != b.hard_accuracy ? a.hard_accuracy > b.hard_accuracy
                                            : a.soft_loss < b.soft_loss;
}

}  // namespace

void BestModel::consider(const LogEntry& entry, const Trainer& trainer) {
  ++lines_since_;
  if (entry_ && !is_better(entry.evaluation, entry_->evaluation, kind_)) return;
  entry_ = entry;
  lines_since_ = 0;
  model_ = logic::without_candidates(trainer.learner().model().to_file());
  // Training changes parameters in place, so sharing memory is not enough.
  for (auto& [name, tensor] : model_.tensors) tensor = tensor.clone();
}

void BestModel::replace(const Evaluation& evaluation, TensorFile model) {
  entry_->evaluation = evaluation;
  model_ = std::move(model);
}

void BestModel::save(TensorFile& file) const {
  if (!entry_) return;
  const Evaluation& evaluation = entry_->evaluation;
  for (const auto& [name, tensor] : model_.tensors) file.tensors[prefix + name] = tensor;
  for (const auto& [key, value] : model_.metadata) file.metadata[prefix + key] = value;
  file.metadata[prefix] = nlohmann::json{
      {"step", entry_->step},
      {"soft_loss", evaluation.soft_loss},
      {"soft_accuracy", evaluation.soft_accuracy},
      {"hard_loss", evaluation.hard_loss},
      {"hard_accuracy", evaluation.hard_accuracy},
      {"bit_accuracy", evaluation.bit_accuracy},
      {"learning_rate", entry_->learning_rate},
      {"seconds", entry_->seconds},
      {"lines_since",
       lines_since_}}.dump();
}

void BestModel::load(const TensorFile& file) {
  const auto found = file.metadata.find(prefix);
  if (found == file.metadata.end()) return;
  const nlohmann::json object = nlohmann::json::parse(found->second, nullptr, false);
  if (!object.is_object()) return;
  LogEntry entry{.step = object.value("step", std::int64_t{0}),
                 .evaluation = {.soft_loss = object.value("soft_loss", 0.0),
                                .soft_accuracy = object.value("soft_accuracy", 0.0),
                                .hard_loss = object.value("hard_loss", 0.0),
                                .hard_accuracy = object.value("hard_accuracy", 0.0),
                                .bit_accuracy = object.value("bit_accuracy",
                                                             object.value("hard_accuracy", 0.0))},
                 .learning_rate = object.value("learning_rate", 0.0),
                 .seconds = object.value("seconds", 0.0)};
  entry_ = entry;
  lines_since_ = object.value("lines_since", std::int64_t{0});
  for (const auto& [name, tensor] : file.tensors) {
    if (name.starts_with(prefix)) model_.tensors[name.substr(prefix.size())] = tensor;
  }
  for (const auto& [key, value] : file.metadata) {
    if (key.starts_with(prefix) && key != prefix)
      model_.metadata[key.substr(prefix.size())] = value;
  }
}

}  // namespace boolgrad::train
