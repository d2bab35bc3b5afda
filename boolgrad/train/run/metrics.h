// The metrics of a run: JSON lines, one object a logged step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "boolgrad/model/evaluation.h"
#include "boolgrad/train/run/diagnosis.h"

namespace boolgrad {

struct LogEntry {
  std::int64_t step = 0;  ///< steps taken so far
  Evaluation evaluation;
  double learning_rate = 0;
  double seconds = 0;
  std::int64_t masked = 0;                                 ///< gates and inputs now off
  std::optional<std::int64_t> knocked_out = std::nullopt;  ///< how many went off just now
  std::vector<LayerDiagnosis> layers = {};                 ///< where they were diagnosed
};

/// The losses of one line of metrics.
struct LoggedLoss {
  std::int64_t step = 0;
  double soft = 0;
  double hard = 0;  ///< wrong bits
};

/// The losses that a file of metrics holds, in its order. Lines that are none are passed over: a
/// run that was killed may have left half of one.
std::vector<LoggedLoss> read_losses(const std::filesystem::path& path);

class MetricsLog {
 public:
  /// A new file in place of any that is there.
  static MetricsLog create(const std::filesystem::path& path);

  /// The file that is there, cut back to what a run that stands at `step` has logged: a run may
  /// have gone on after its last checkpoint.
  static MetricsLog resume(const std::filesystem::path& path, std::int64_t step);

  /// Adds one line, at once. Throws where it cannot be written.
  void write(const LogEntry& entry);

 private:
  MetricsLog(const std::filesystem::path& path, std::ios::openmode mode);

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace boolgrad
