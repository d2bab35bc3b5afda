// What a run leaves for people to look at.
#pragma once

#include <filesystem>
#include <string>

#include "boolgrad/train/inspection.h"

namespace boolgrad {

/// The plots of a run's folder.
inline constexpr const char* losses_file = "losses.png";
inline constexpr const char* gates_file = "gates.png";

struct Plots {
  std::filesystem::path losses;
  std::filesystem::path gates;
};

/// Plots soft loss and wrong bits over the steps, from the folder's metrics, so that a run that was
/// stopped and resumed is plotted whole; and how many gates of which kind there are. `name` is what
/// the plots say they are of.
Plots write_plots(const std::filesystem::path& folder, const std::string& name,
                  const Inspection& inspection);

}  // namespace boolgrad
