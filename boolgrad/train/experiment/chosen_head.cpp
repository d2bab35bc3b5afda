#include "boolgrad/train/experiment/chosen_head.h"

#include <fmt/format.h>

#include <optional>

#include "boolgrad/data/csv_table.h"
#include "boolgrad/model/samples.h"

namespace boolgrad::train {

Experiment with_chosen_head(Experiment experiment, std::vector<std::string>* notices) {
  constexpr std::size_t max_classes = 20;
  if (!experiment.head.is_automatic) return experiment;
  const bool is_table = experiment.task.kind == data::TaskKind::csv && !experiment.data.in_memory;
  if (is_table && experiment.data.path.empty()) return experiment;
  experiment.head.is_automatic = false;
  if (!is_table) return experiment;
  const data::TableOptions options = table_options(experiment, true);
  const std::optional<std::size_t> numbers = data::distinct_numbers(experiment.data.path, options);
  if (!numbers || *numbers <= max_classes) return experiment;
  experiment.head.kind = HeadKind::regression;
  if (notices != nullptr) {
    notices->push_back(
        fmt::format("column '{}' has {} different numbers: predicting a number (regression); --set "
                    "head.kind=classes predicts classes",
                    data::target_name(experiment.data.path, options), *numbers));
  }
  return experiment;
}

}  // namespace boolgrad::train
