// The part of an experiment that is needed to use and evaluate a trained model.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/data/csv_table.h"
#include "boolgrad/data/data_set.h"
#include "boolgrad/data/task_kind.h"
#include "boolgrad/options/border.h"
#include "boolgrad/options/loss.h"

namespace boolgrad {

struct TaskOptions {
  data::TaskKind kind = data::TaskKind::copy;
  std::int64_t bits = 8;  ///< inputs of a Boolean function
  /// For `table` a CSV file, for `picture` a PNG or a text bitmap; relative to the experiment.
  std::string file;
  std::int64_t outputs = 0;  ///< for `table`: the last `outputs` columns are outputs
  std::int64_t square = 2;   ///< for `checkerboard`: side of a square, in cells
  std::string rule;          ///< for `rule`: a name such as `B36/S23`, or a truth table
  std::string examples;      ///< for `rule`: an NPY or GIF file of successive states
  /// For `picture`: if above 0, the grid is chosen from the picture, with at most so many cells per
  /// side.
  std::int64_t max_side = 0;
};

/// The samples of a classifier.
struct DataOptions {
  std::string path;        ///< the folder, or for `csv` the file
  std::string target;      ///< for `csv`: the column to learn; empty for the last
  std::string categories;  ///< for `csv`: numeric columns to treat as categories: `size,month`
  std::string ignore;      ///< for `csv`: columns to leave out: `id,name`
  data::HeaderKind header = data::HeaderKind::automatic;      ///< for `csv`
  data::MissingValues missing = data::MissingValues::refuse;  ///< for `csv`
  data::TextEncoding encoding = data::TextEncoding::utf8;     ///< for `csv`
  double validation = 0;   ///< share of the training samples held out for validation; 0: none
  double test = 0;         ///< for `csv`: share of the file held out for the test
  std::int64_t limit = 0;  ///< maximum number of training samples; 0: all
  /// Training samples in memory, used instead of files of any kind. Not part of the TOML.
  std::shared_ptr<const data::DescribedSamples> in_memory = {};
};

/// The state that an automaton starts from.
enum class StartKind : std::uint8_t {
  random,  ///< random bits, sampled separately for every grid
  seed,    ///< all channels of the middle cell are 1, all other cells 0
};

/// An automaton and its grid. The tasks `life` and `rule` bring their own grid and starts.
struct AutomatonOptions {
  std::int64_t channels = 8;
  std::int64_t kernels = 16;
  std::vector<std::int64_t> perceive = {8, 4, 2};  ///< gates per layer of a kernel
  std::vector<std::int64_t> update = {256};        ///< gates per layer, without the last layer
  Border border = Border::zero;
  std::int64_t height = 16;
  std::int64_t width = 16;
  std::int64_t steps = 20;      ///< from the start to the state that is compared with the target
  std::int64_t stay_steps = 0;  ///< further steps in which the state should equal the target
  std::int64_t batch = 2;       ///< grids per training step
  StartKind start = StartKind::random;
  double fire_rate = 1;
  std::int64_t evaluation_starts = 32;  ///< starts that decide whether the task is solved
};

struct ModelSpec {
  std::string name;
  std::int64_t seed = 1;
  TaskOptions task;
  DataOptions data;
  AutomatonOptions automaton;
  LossOptions loss;  ///< for circuits and automata

  data::TaskFamily family() const { return data::family_of(task.kind); }
  bool is_automaton() const { return family() == data::TaskFamily::automaton; }
  /// Whether an automaton learns a rule, rather than to reach a pattern.
  bool learns_rule() const {
    return task.kind == data::TaskKind::life || task.kind == data::TaskKind::rule;
  }
  bool is_classifier() const { return family() == data::TaskFamily::classifier; }
};

/// Reads the specification from the TOML of a model's experiment. Ignores keys that only training
/// reads. Error messages start with `source`.
ModelSpec parse_model_spec(std::string_view toml, const std::string& source,
                           const std::string& name);

}  // namespace boolgrad
