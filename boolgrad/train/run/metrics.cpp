#include "boolgrad/train/run/metrics.h"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"

namespace boolgrad::train {
namespace {

/// Throws with the message of `errno`: `cannot write runs/add-1/metrics.jsonl: ...`.
[[noreturn]] void refuse(const char* action, const std::filesystem::path& path) {
  const int reason = errno != 0 ? errno : EIO;
  fail("metrics", "cannot {} {}: {}", action, path.string(),
       std::generic_category().message(reason));
}

/// Whether a run resumed at `step` has logged this line. The knockout of a step is logged after the
/// step's own line and is repeated on resuming.
bool belongs(const std::string& line, std::int64_t step) {
  const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object() || !object.contains("step") || !object["step"].is_number_integer()) {
    return false;
  }
  const auto at = object["step"].get<std::int64_t>();
  return at < step || (at == step && !object.contains("knocked_out"));
}

std::string kept_lines(const std::filesystem::path& path, std::int64_t step) {
  std::ifstream file(path);
  std::string kept;
  std::string line;
  while (std::getline(file, line)) {
    if (belongs(line, step)) kept += line + "\n";
  }
  return kept;
}

nlohmann::ordered_json layers_of(const std::vector<LayerDiagnosis>& layers) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const LayerDiagnosis& layer : layers) {
    const LayerInspection& seen = layer.inspection;
    list.push_back({{"gates", seen.gates},
                    {"unused", seen.gates - seen.active - seen.off},
                    {"entropy", seen.entropy},
                    {"undecided", seen.undecided},
                    {"soft_hard_gap", seen.gap},
                    {"disagreement", seen.disagreement},
                    {"gradient_norm", layer.gradient_norm}});
  }
  return list;
}

std::optional<double> number_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

std::vector<LoggedLoss> read_losses(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path);
  if (!file) refuse("read", path);
  std::vector<LoggedLoss> losses;
  std::string line;
  while (std::getline(file, line)) {
    const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object()) continue;
    const auto step = number_in(object, "step");
    const auto soft = number_in(object, "soft_loss");
    const auto hard = number_in(object, "hard_loss");
    if (step && soft && hard) losses.push_back({static_cast<std::int64_t>(*step), *soft, *hard});
  }
  return losses;
}

MetricsLog::MetricsLog(const std::filesystem::path& path, std::ios::openmode mode) : path_(path) {
  errno = 0;
  file_.open(path, mode);
  if (!file_) refuse("open", path);
}

MetricsLog MetricsLog::create(const std::filesystem::path& path) {
  return {path, std::ios::out | std::ios::trunc};
}

MetricsLog MetricsLog::resume(const std::filesystem::path& path, std::int64_t step) {
  const std::string kept = kept_lines(path, step);
  write_file("metrics", path, kept);
  return {path, std::ios::out | std::ios::app};
}

std::string to_json(const LogEntry& entry) {
  const Evaluation& evaluation = entry.evaluation;
  nlohmann::ordered_json object = {{"step", entry.step},
                                   {"soft_loss", evaluation.soft_loss},
                                   {"hard_loss", evaluation.hard_loss},
                                   {"soft_accuracy", evaluation.soft_accuracy},
                                   {"hard_accuracy", evaluation.hard_accuracy},
                                   {"bit_accuracy", evaluation.bit_accuracy},
                                   {"learning_rate", entry.learning_rate},
                                   {"seconds", entry.seconds},
                                   {"masked", entry.masked}};
  if (entry.knocked_out) object["knocked_out"] = *entry.knocked_out;
  if (!entry.layers.empty()) object["layers"] = layers_of(entry.layers);
  return object.dump();
}

void MetricsLog::write(const LogEntry& entry) {
  errno = 0;
  file_ << to_json(entry) << std::endl;
  if (!file_) refuse("write", path_);
}

}  // namespace boolgrad::train
