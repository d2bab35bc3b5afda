// What is known of a run after its end: plots, and the result on test samples.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "boolgrad/model/evaluation.h"
#include "boolgrad/model/inspection.h"
#include "boolgrad/train/run/run.h"

namespace boolgrad::train {

/// The plots of a run's folder.
inline constexpr const char* losses_file = "losses.png";
inline constexpr const char* gates_file = "gates.png";

struct Plots {
  std::filesystem::path losses;
  std::filesystem::path gates;
};

/// Plots soft and hard loss from the folder's metrics, which include the steps before a resume, and
/// the number of gates of each kind. `name` is the title, `hard_loss` the name of the hard loss.
Plots write_plots(const std::filesystem::path& folder, const std::string& name,
                  std::string_view hard_loss, const Inspection& inspection);

/// The saved model on samples that training and the choice of the model did not use.
struct TestResult {
  Evaluation evaluation;
  std::int64_t samples = 0;
};

/// Evaluates the saved model of a table on the part of the file that was held out for the test.
/// None if there is no such part, or no saved model.
std::optional<TestResult> test_result(const Experiment& experiment, const RunReport& report);

}  // namespace boolgrad::train
