// Boolean functions from a file.
#pragma once

#include <cstdint>
#include <filesystem>

#include "boolgrad/data/boolean_task.h"

namespace boolgrad::data {

/// Reads a truth table from a CSV file: a header line, then one line per case with values 0 or 1.
/// Outputs are the columns whose names start with `out` or, if `outputs` is above 0, the last
/// `outputs` columns. All others are inputs, in the order of the file.
///
/// Missing cases are don't-cares. Throws if the same inputs occur twice; the message names both
/// lines.
BooleanTask read_truth_table(const std::filesystem::path& path, std::int64_t outputs = 0);

}  // namespace boolgrad::data
