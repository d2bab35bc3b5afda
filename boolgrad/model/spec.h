// What a model was trained to do: all that is needed to use and to evaluate it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/backend/options/border.h"
#include "boolgrad/backend/options/loss.h"
#include "boolgrad/data/task_kind.h"

namespace boolgrad {

struct TaskOptions {
  TaskKind kind = TaskKind::copy;
  std::int64_t bits = 8;  ///< inputs of a Boolean function
  /// For `table` a CSV file, for `picture` a PNG or a text bitmap; relative to the experiment.
  std::string file;
  std::int64_t outputs = 0;  ///< for `table`: how many of the last columns are outputs
  std::int64_t square = 2;   ///< for `checkerboard`: cells along the side of a square
};

/// The samples of a classifier.
struct DataOptions {
  std::string path;        ///< the folder, or for `csv` the file
  std::string target;      ///< for `csv`: the column to learn; empty for the last
  std::string categories;  ///< for `csv`: columns of names that are numbers, as in `size,month`
  double validation = 0;   ///< share of the training samples that is kept to evaluate on; 0: none
  double test = 0;         ///< for `csv`: share of the file that is kept for the test
  std::int64_t limit = 0;  ///< training samples at most; 0: all
};

/// The state that an automaton starts from.
enum class StartKind : std::uint8_t {
  random,  ///< every channel of every cell 0 or 1, drawn for every grid
  seed,    ///< the cell in the middle 1 in every channel, all others 0
};

/// An automaton and its grid. `life` has a grid, a batch and a start of its own.
struct AutomatonOptions {
  std::int64_t channels = 8;
  std::int64_t kernels = 16;
  std::vector<std::int64_t> perceive = {8, 4, 2};  ///< gates of a kernel's layers
  std::vector<std::int64_t> update = {256};        ///< gates of the layers before the last
  Border border = Border::zero;
  std::int64_t height = 16;
  std::int64_t width = 16;
  std::int64_t steps = 20;  ///< from the start to the state that is compared with the target
  std::int64_t batch = 2;   ///< grids per training step
  StartKind start = StartKind::random;
  double fire_rate = 1;
  std::int64_t probes = 32;  ///< evaluation starts that decide whether it is solved
};

struct ModelSpec {
  std::string name;
  std::int64_t seed = 1;
  TaskOptions task;
  DataOptions data;
  AutomatonOptions automaton;
  LossOptions loss;  ///< of circuits and automata

  TaskFamily family() const { return family_of(task.kind); }
  bool is_automaton() const { return family() == TaskFamily::automaton; }
  bool is_classifier() const { return family() == TaskFamily::classifier; }
};

/// The specification in the TOML of a model's experiment. Keys that only training reads are passed
/// over; `source` opens messages.
ModelSpec parse_model_spec(std::string_view toml, const std::string& source,
                           const std::string& name);

}  // namespace boolgrad
