#include "boolgrad/data/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "boolgrad/core/error.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"

namespace boolgrad::data {
namespace {

constexpr std::string_view where = "csv";
constexpr std::size_t longest_line = 1 << 20;
constexpr std::size_t max_categories = 1024;  // per column: more are probably not categories

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

/// Sorted by value if all are numbers, else by name.
std::vector<std::string> in_order(const std::set<std::string>& names) {
  std::vector<std::string> result(names.begin(), names.end());
  const auto is_number = [](const std::string& name) { return number_in(name).has_value(); };
  if (std::ranges::all_of(result, is_number)) {
    std::ranges::stable_sort(result, {}, [](const std::string& name) { return *number_in(name); });
  }
  return result;
}

/// A mistake in a line.
struct LineError : Error {
  LineError(const std::string& message, std::string why) : Error(message), reason(std::move(why)) {}
  std::string reason;  ///< the message without file and line
};

struct Row {
  std::size_t line = 0;
  std::vector<std::string> fields;
};

/// What to do with a line that has a mistake.
enum class Mistakes : std::uint8_t {
  fail,    ///< throw
  refuse,  ///< leave the line out and keep the reason
};

/// The rows of a file, with one field per column.
class CsvFile {
 public:
  explicit CsvFile(const std::filesystem::path& path, Mistakes mistakes = Mistakes::fail)
      : path_(path), mistakes_(mistakes) {
    std::ifstream file = open_for_reading(where, path);
    std::string text;
    for (std::size_t line = 1; std::getline(file, text); ++line) {
      constexpr std::string_view mark = "\xEF\xBB\xBF";  // some editors start UTF-8 files with it
      if (line == 1 && text.starts_with(mark)) text.erase(0, mark.size());
      if (text.size() > longest_line) {
        refuse(line, fmt::format("expected a line of at most {} bytes, received {}", longest_line,
                                 text.size()));
      }
      if (trimmed(text).empty()) continue;
      // Nothing can be read without a header.
      if (names_.empty()) add(line, text);
      else attempt(line, [&] { add(line, text); });
    }
    if (names_.empty()) refuse(1, "expected a header line, received an empty file");
    if (rows_.empty() && refused_.empty()) refuse(1, "expected at least one sample, received none");
  }

  /// Whether `action` on a line made no mistake. Throws for a mistake if these are not kept.
  template <class Action>
  bool attempt(std::size_t line, const Action& action) const {
    if (mistakes_ == Mistakes::fail) {
      action();
      return true;
    }
    try {
      action();
      return true;
    } catch (const LineError& error) {
      refused_.push_back({line, error.reason});
      return false;
    }
  }

  const std::vector<RefusedRow>& refused() const { return refused_; }

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Row>& rows() const { return rows_; }

  std::size_t column(const std::string& name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) {
      fail(where, "{}: no column '{}'; the columns are {}", path_.string(), printable(name),
           printable(utf8_prefix(fmt::format("{}", fmt::join(names_, ", ")), 200)));
    }
    return static_cast<std::size_t>(found - names_.begin());
  }

  double number(const Row& row, std::size_t column) const {
    const auto value = number_in(row.fields[column]);
    if (!value) {
      refuse(row.line, fmt::format("expected a number in column '{}', received '{}'",
                                   printable(names_[column]), printable(row.fields[column])));
    }
    return *value;
  }

  [[noreturn]] void refuse(std::size_t line, const std::string& message) const {
    throw LineError(fmt::format("[{}] {}:{}: {}", where, path_.string(), line, message), message);
  }

 private:
  /// Comma-separated fields. A field in double quotes may contain commas, and quotes written twice.
  std::vector<std::string> fields_of(std::size_t line, std::string_view text) const {
    std::vector<std::string> fields;
    while (true) {
      const std::size_t first = text.find_first_not_of(" \t");
      if (first == std::string_view::npos || text[first] != '"') {
        const std::size_t comma = text.find(',');
        fields.emplace_back(trimmed(text.substr(0, comma)));
        if (comma == std::string_view::npos) return fields;
        text.remove_prefix(comma + 1);
        continue;
      }
      text.remove_prefix(first + 1);
      std::string field;
      while (true) {
        const std::size_t quote = text.find('"');
        if (quote == std::string_view::npos) refuse(line, "missing closing quote");
        field += text.substr(0, quote);
        text.remove_prefix(quote + 1);
        if (!text.starts_with('"')) break;
        field += '"';
        text.remove_prefix(1);
      }
      fields.push_back(std::move(field));
      text = trimmed(text);
      if (text.empty()) return fields;
      if (text[0] != ',') {
        refuse(line, fmt::format("expected a comma after a quoted field, received '{}'",
                                 printable(text.substr(0, 1))));
      }
      text.remove_prefix(1);
    }
  }

  void add(std::size_t line, std::string_view text) {
    std::vector<std::string> fields = fields_of(line, text);
    if (names_.empty()) {
      names_ = std::move(fields);
      for (std::size_t i = 0; i < names_.size(); ++i) {
        const auto same =
            std::find(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(i), names_[i]);
        if (names_[i].empty() || same != names_.begin() + static_cast<std::ptrdiff_t>(i)) {
          refuse(line, fmt::format("expected distinct, non-empty column names, received '{}'",
                                   printable(names_[i])));
        }
      }
      return;
    }
    if (fields.size() != names_.size()) {
      refuse(line, fmt::format("expected {} values, received {}", names_.size(), fields.size()));
    }
    rows_.push_back({line, std::move(fields)});
  }

  const std::filesystem::path& path_;
  Mistakes mistakes_;
  std::vector<std::string> names_;
  std::vector<Row> rows_;
  mutable std::vector<RefusedRow> refused_;
};

std::vector<std::string> names_in(const CsvFile& file, std::size_t column) {
  std::set<std::string> names;
  for (const Row& row : file.rows()) {
    if (row.fields[column].empty()) {
      file.refuse(row.line, fmt::format("expected a value in column '{}', received none",
                                        printable(file.names()[column])));
    }
    names.insert(row.fields[column]);
    if (names.size() > max_categories) {
      file.refuse(row.line,
                  fmt::format("expected at most {} categories in column '{}', received more",
                              max_categories, printable(file.names()[column])));
    }
  }
  return in_order(names);
}

/// The index of a field in a list of names.
std::size_t index_of(const CsvFile& file, const Row& row, std::size_t column,
                     const std::vector<std::string>& names, std::string_view what) {
  const auto found = std::ranges::find(names, row.fields[column]);
  if (found == names.end()) {
    file.refuse(row.line,
                fmt::format("expected {} of the training data in column '{}', received "
                            "'{}'",
                            what, printable(file.names()[column]), printable(row.fields[column])));
  }
  return static_cast<std::size_t>(found - names.begin());
}

/// The columns that a model reads.
class FeatureColumns {
 public:
  FeatureColumns(const CsvFile& file, const DataFormat& format) : file_(file), format_(format) {
    for (const Column& column : format.columns) {
      indices_.push_back(file.column(column.name));
      width_ += column.categories.empty() ? 1 : column.categories.size();
    }
  }

  std::size_t width() const { return width_; }

  /// Writes the features of a row to `to`, which is 0.
  void read(const Row& row, std::span<float> to) const {
    auto next = to.begin();
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      const std::vector<std::string>& names = format_.columns[i].categories;
      if (names.empty()) {
        *next++ = static_cast<float>(file_.number(row, indices_[i]));
      } else {
        next[static_cast<std::ptrdiff_t>(index_of(file_, row, indices_[i], names, "a category"))] =
            1;
        next += std::ssize(names);
      }
    }
  }

 private:
  const CsvFile& file_;
  const DataFormat& format_;
  std::vector<std::size_t> indices_;
  std::size_t width_ = 0;
};

Tensor features_of(const CsvFile& file, const DataFormat& format) {
  const FeatureColumns columns(file, format);
  const std::size_t width = columns.width();
  Tensor features =
      Tensor::zeros({std::ssize(file.rows()), static_cast<std::int64_t>(width)}, DType::float32);
  const std::span<float> to = features.mutable_values<float>();
  for (std::size_t i = 0; i < file.rows().size(); ++i) {
    columns.read(file.rows()[i], to.subspan(i * width, width));
  }
  return features;
}

Tensor labels_of(const CsvFile& file, const DataFormat& format) {
  const std::size_t column = file.column(format.target);
  const bool has_classes = !format.classes.empty();
  Tensor labels({std::ssize(file.rows())}, has_classes ? DType::int32 : DType::float32);
  std::size_t at = 0;
  for (const Row& row : file.rows()) {
    if (has_classes) {
      labels.mutable_values<std::int32_t>()[at++] =
          static_cast<std::int32_t>(index_of(file, row, column, format.classes, "a class"));
    } else {
      labels.mutable_values<float>()[at++] = static_cast<float>(file.number(row, column));
    }
  }
  return labels;
}

}  // namespace

Table read_table(const std::filesystem::path& path, const TableOptions& options) {
  const CsvFile file(path);
  DataFormat format;
  format.target = options.target.empty() ? file.names().back() : options.target;
  const std::size_t target = file.column(format.target);
  for (const std::string& name : options.categories) file.column(name);
  for (std::size_t i = 0; i < file.names().size(); ++i) {
    if (i == target) continue;
    Column column{file.names()[i], {}};
    const bool asked =
        std::ranges::find(options.categories, column.name) != options.categories.end();
    if (asked || !number_in(file.rows()[0].fields[i])) column.categories = names_in(file, i);
    format.columns.push_back(std::move(column));
  }
  if (format.columns.empty()) {
    fail(where, "{}: expected other columns than the target '{}', received none", path.string(),
         printable(format.target));
  }
  if (!options.values) format.classes = names_in(file, target);
  return {{features_of(file, format), labels_of(file, format)}, format};
}

SampleSet read_table_as(const std::filesystem::path& path, const DataFormat& format) {
  const CsvFile file(path);
  return {features_of(file, format), labels_of(file, format)};
}

FeatureTable read_features_as(const std::filesystem::path& path, const DataFormat& format) {
  const CsvFile file(path, Mistakes::refuse);
  const FeatureColumns columns(file, format);
  FeatureTable table;
  std::vector<float> values;
  std::vector<float> sample(columns.width());
  for (const Row& row : file.rows()) {
    std::ranges::fill(sample, 0.0F);
    if (!file.attempt(row.line, [&] { columns.read(row, sample); })) continue;
    table.lines.push_back(row.line);
    values.insert(values.end(), sample.begin(), sample.end());
  }
  table.features =
      Tensor::of(values, {std::ssize(table.lines), static_cast<std::int64_t>(columns.width())});
  table.refused = file.refused();
  std::ranges::stable_sort(table.refused, {}, &RefusedRow::line);
  return table;
}

}  // namespace boolgrad::data
