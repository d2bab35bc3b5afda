// Plots of a run.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "boolgrad/model/inspection.h"

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

}  // namespace boolgrad::train
