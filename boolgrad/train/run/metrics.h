// The metrics of a run: JSON lines, one object per logged step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/model/evaluation.h"
#include "boolgrad/train/run/diagnosis.h"

namespace boolgrad::train {

struct LogEntry {
  std::int64_t step = 0;  ///< steps taken so far
  Evaluation evaluation;
  double learning_rate = 0;
  double seconds = 0;
  std::int64_t masked = 0;                                 ///< gates and inputs that are masked
  std::optional<std::int64_t> knocked_out = std::nullopt;  ///< masked by a knockout at this step
  std::vector<LayerDiagnosis> layers = {};                 ///< empty without diagnostics
};

/// A line of metrics: one JSON object, without the end of the line.
std::string to_json(const LogEntry& entry);

/// The losses of one line of metrics.
struct LoggedLoss {
  std::int64_t step = 0;
  double soft = 0;
  double hard = 0;  ///< number of errors
};

/// The losses in a file of metrics, in order. Ignores invalid lines: a killed run may have left an
/// incomplete one.
std::vector<LoggedLoss> read_losses(const std::filesystem::path& path);

class MetricsLog {
 public:
  /// Creates the file, replacing any existing one.
  static MetricsLog create(const std::filesystem::path& path);

  /// Opens an existing file and removes the lines after `step`: a run may have continued after its
  /// last checkpoint.
  static MetricsLog resume(const std::filesystem::path& path, std::int64_t step);

  /// Appends one line and flushes it. Throws if that fails.
  void write(const LogEntry& entry);

 private:
  MetricsLog(const std::filesystem::path& path, std::ios::openmode mode);

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace boolgrad::train
