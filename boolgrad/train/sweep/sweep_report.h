// What a sweep leaves for people to look at: a table and plots.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/train/sweep/sweep.h"

namespace boolgrad {

/// The files of a sweep's folder.
inline constexpr const char* sweep_table_file = "sweep.csv";
inline constexpr const char* converged_file = "converged.png";
inline constexpr const char* sweep_losses_file = "soft_against_hard.png";

/// The runs of one combination of values.
struct SweepVariant {
  std::vector<std::string> values;
  std::int64_t runs = 0;                        ///< finished or failed
  std::vector<std::int64_t> steps_to_converge;  ///< of those that did, in rising order

  std::int64_t converged() const { return static_cast<std::int64_t>(steps_to_converge.size()); }
  /// Updates after which half of those that converge have done so; none where none does.
  std::optional<double> median() const;
};

/// One a combination, in the order of the entries; a single one where nothing varies.
std::vector<SweepVariant> variants_of(const std::vector<SweepEntry>& entries);

/// `learning_rate = 0.05, batch = 2`: the values of a combination, keys without their sections.
std::string variant_text(const Sweep& sweep, const std::vector<std::string>& values);

struct SweepFiles {
  std::filesystem::path table;
  std::filesystem::path converged;
  std::filesystem::path losses;
};

/// Writes a line a run as CSV, the share of runs that have converged against updates, and the wrong
/// bits of the hardened models against the soft losses in the end.
SweepFiles write_sweep_report(const std::filesystem::path& folder, const Sweep& sweep,
                              const std::vector<SweepEntry>& entries);

}  // namespace boolgrad
