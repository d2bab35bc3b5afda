// Tables of numbers and names, from CSV files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "boolgrad/data/data_set.h"

namespace boolgrad {

struct TableOptions {
  std::string target;  ///< the column to learn; empty for the last
  /// Columns to take as names though they hold numbers. One that does not begin with a number is
  /// taken so in any case.
  std::vector<std::string> categories = {};
  bool values = false;  ///< learn the target as a number, not as a class
};

struct Table {
  SampleSet samples;  ///< features float32
  DataForm form;
};

/// Reads a CSV file: a line that names the columns, then a line a sample. Fields may be in double
/// quotes. Classes and categories are in the order of their names, or of their numbers where all
/// of them are numbers. Errors name the line.
Table read_table(const std::filesystem::path& path, const TableOptions& options);

/// The same for a model that has been trained: columns are found by their names, in any order, and
/// others are passed over. Refuses names and classes that the model does not know.
SampleSet read_table_as(const std::filesystem::path& path, const DataForm& form);

}  // namespace boolgrad
