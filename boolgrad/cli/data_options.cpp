#include "boolgrad/cli/data_options.h"

#include <fmt/format.h>

#include "boolgrad/cli/command.h"
#include "boolgrad/core/text.h"

namespace boolgrad::cli {

void add_data_options(CLI::App& command, train::ExperimentChanges& changes) {
  command
      .add_option("--data", changes.data,
                  "Training samples: a folder with IDX, CIFAR-10 or NPY files, or a CSV file")
      ->type_name("PATH");
  command
      .add_option(
          "--target", changes.target,
          "For automata: the pattern to grow, a PNG or a text bitmap (.txt). For CSV files: "
          "the column to predict")
      ->type_name("FILE|COLUMN");
  command
      .add_option("--rule", changes.rule,
                  "For the experiment `rule`: a rule such as B36/S23 or B2/S/3, or the 128 "
                  "hexadecimal digits of a truth table")
      ->type_name("RULE");
  command
      .add_option("--examples", changes.examples,
                  "For the experiment `rule`: an NPY or GIF file of successive states to learn "
                  "from")
      ->type_name("FILE");
  command.add_flag("--no-header", changes.no_header,
                   "The CSV file has no line with the names of its columns");
  command
      .add_option(
          "--missing", changes.missing,
          "Missing values of a CSV file: refuse, drop the line, mean (and the most frequent "
          "category), or category (of their own)")
      ->type_name("HOW")
      ->check(CLI::IsMember({"refuse", "drop", "mean", "category"}));
  command.add_option("--encoding", changes.encoding, "Encoding of the CSV file: utf-8 or latin1")
      ->type_name("NAME")
      ->check(CLI::IsMember({"utf-8", "latin1"}));
}

void check_data_options(std::string_view where, const train::ExperimentChanges& changes,
                        const train::Experiment& experiment) {
  const bool is_table = experiment.task.kind == data::TaskKind::csv;
  const bool grows_pattern = experiment.is_automaton() && !experiment.learns_rule();
  const std::string name = printable(experiment.name);
  if (!changes.target.empty() && !grows_pattern && !is_table) {
    throw UsageError(fmt::format(
        "[{}] --target is for automata that grow a pattern and for CSV files, not for {}", where,
        name));
  }
  const bool has_rule = !changes.rule.empty() || !changes.examples.empty();
  if (has_rule && experiment.task.kind != data::TaskKind::rule) {
    throw UsageError(fmt::format(
        "[{}] --rule and --examples are for the experiment rule, not for {}", where, name));
  }
  if (!changes.rule.empty() && !changes.examples.empty()) {
    throw UsageError(fmt::format("[{}] expected --rule or --examples, received both", where));
  }
  if (!changes.data.empty() && !experiment.is_classifier()) {
    throw UsageError(fmt::format("[{}] --data is for classifiers, not for {}", where, name));
  }
  if (!is_table && (changes.no_header || !changes.missing.empty() || !changes.encoding.empty())) {
    throw UsageError(fmt::format(
        "[{}] --no-header, --missing and --encoding are for CSV files, not for {}", where, name));
  }
}

}  // namespace boolgrad::cli
