// Table and plots of a sweep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/train/sweep/sweep.h"

namespace boolgrad::train {

/// The files of a sweep's folder.
inline constexpr const char* sweep_table_file = "sweep.csv";
inline constexpr const char* converged_file = "converged.png";
inline constexpr const char* sweep_losses_file = "soft_against_hard.png";

/// The runs of one combination of values.
struct SweepVariant {
  std::vector<std::string> values;
  std::int64_t runs = 0;                        ///< finished or failed
  std::vector<std::int64_t> steps_to_converge;  ///< of those that converged, ascending

  std::int64_t converged() const { return static_cast<std::int64_t>(steps_to_converge.size()); }
  /// Median of `steps_to_converge`; none if no run converged.
  std::optional<double> median() const;
};

/// One per combination of values, in the order of the entries.
std::vector<SweepVariant> variants_of(const std::vector<SweepEntry>& entries);

/// A combination of values as text, without sections: `learning_rate = 0.05, batch = 2`.
std::string variant_text(const Sweep& sweep, const std::vector<std::string>& values);

struct SweepFiles {
  std::filesystem::path table;
  std::filesystem::path converged;
  std::filesystem::path losses;
};

/// Writes one CSV line per run, and plots the share of converged runs over updates and the final
/// hard loss over the final soft loss.
SweepFiles write_sweep_report(const std::filesystem::path& folder, const Sweep& sweep,
                              const std::vector<SweepEntry>& entries);

}  // namespace boolgrad::train
