// What a run leaves for people to look at.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "boolgrad/model/inspection.h"

namespace boolgrad {

/// The plots of a run's folder.
inline constexpr const char* losses_file = "losses.png";
inline constexpr const char* gates_file = "gates.png";

struct Plots {
  std::filesystem::path losses;
  std::filesystem::path gates;
};

/// Plots soft and hard loss over the steps, from the folder's metrics, so that a run that was
/// stopped and resumed is plotted whole; and how many gates of which kind there are. `name` is what
/// the plots say they are of, `hard_loss` what the hard loss is.
Plots write_plots(const std::filesystem::path& folder, const std::string& name,
                  std::string_view hard_loss, const Inspection& inspection);

}  // namespace boolgrad
