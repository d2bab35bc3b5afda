// Boolean functions from a file.
#pragma once

#include <cstdint>
#include <filesystem>

#include "boolgrad/data/boolean_task.h"

namespace boolgrad {

/// Reads a truth table from a CSV file: a line that names the columns, then a line a case, every
/// value 0 or 1. Outputs are the columns whose names start with `out`, or, where `outputs` is
/// above 0, the last `outputs` columns; all others are inputs, in the order of the file.
///
/// Cases may be left out, and then nothing is asked of the circuit there. Inputs that come twice
/// are refused, with the lines of both.
BooleanTask read_truth_table(const std::filesystem::path& path, std::int64_t outputs = 0);

}  // namespace boolgrad
