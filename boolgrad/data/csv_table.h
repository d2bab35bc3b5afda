// Tables of numbers and names, from CSV files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "boolgrad/data/data_set.h"

namespace boolgrad::data {

/// Whether the first line of a file has the names of the columns.
enum class HeaderKind : std::uint8_t {
  automatic,  ///< it must, and a line of numbers is refused
  present,
  absent,
};

struct TableOptions {
  std::string target = {};  ///< the column to learn; empty for the last
  /// Numeric columns to treat as categories. A column whose first value is not a number is
  /// categorical anyway.
  std::vector<std::string> categories = {};
  std::vector<std::string> ignored = {};  ///< columns to leave out
  bool values = false;                    ///< learn the target as a number, not as a class
  HeaderKind header = HeaderKind::automatic;
  MissingValues missing = MissingValues::refuse;
  TextEncoding encoding = TextEncoding::utf8;
};

struct Table {
  SampleSet samples;  ///< features float32
  DataFormat format;
  std::int64_t dropped = 0;  ///< lines left out because a value is missing
};

/// Reads a CSV file: a header line, then one line per sample, separated by commas, semicolons or
/// tabs, whichever the first line has. Fields may be in double quotes. In files with semicolons,
/// numbers may have a decimal comma. Classes and categories are sorted by name, or by value if all
/// are numbers. A value is missing if it is empty or one of NA, N/A, NaN and null; its features are
/// NaN if `missing` is `mean` or `category` and it has no category of its own. Error messages name
/// the line.
Table read_table(const std::filesystem::path& path, const TableOptions& options);

/// Chooses what missing values are read as, from the training samples alone: the mean of a number,
/// and the most frequent category. Does nothing where missing values are refused or dropped.
void choose_fills(DataFormat& format, const SampleSet& train);

/// Replaces the NaN of missing values as `choose_fills` has chosen.
void fill_missing(SampleSet& samples, const DataFormat& format);

/// The number of different values of the target if all of them are numbers.
std::optional<std::size_t> distinct_numbers(const std::filesystem::path& path,
                                            const TableOptions& options);

/// The name of the target column.
std::string target_name(const std::filesystem::path& path, const TableOptions& options);

/// Reads samples for a trained model. Columns are matched by name, in any order; other columns are
/// ignored. Missing values are treated as in the training. Throws for categories and classes that
/// the model does not know.
SampleSet read_table_as(const std::filesystem::path& path, const DataFormat& format);

/// A line of a file that cannot be used, and why.
struct RefusedRow {
  std::size_t line = 0;
  std::string reason;
};

/// Samples without labels.
struct FeatureTable {
  Tensor features;                  ///< float32 [samples, features]
  std::vector<std::size_t> lines;   ///< the line of every sample, from 1
  std::vector<RefusedRow> refused;  ///< lines that are not among the samples
};

/// Reads the features of samples for a trained model, as `read_table_as` does, from a file that
/// need not have the target. Lines with mistakes are refused one by one. Throws if the file has no
/// header with the columns of the model.
FeatureTable read_features_as(const std::filesystem::path& path, const DataFormat& format);

}  // namespace boolgrad::data
