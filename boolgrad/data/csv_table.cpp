#include "boolgrad/data/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "boolgrad/core/error.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"
#include "boolgrad/data/csv_text.h"

namespace boolgrad::data {
namespace {

constexpr std::string_view where = "csv";
constexpr std::size_t max_categories = 1024;  // per column: more are probably not categories
constexpr const char* missing_category = "missing";

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

/// Whether a field says that there is no value.
bool is_missing(std::string_view field) {
  constexpr std::array<std::string_view, 5> words = {"", "na", "n/a", "nan", "null"};
  std::string lower(field);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  return std::ranges::find(words, lower) != words.end();
}

/// The number of features of a column.
std::size_t width_of(const Column& column) {
  return std::max<std::size_t>(1, column.categories.size());
}

bool fills(MissingValues missing) {
  return missing == MissingValues::mean || missing == MissingValues::category;
}

/// Whether a field looks like 2024-12-31, 31.12.2024 or 12/31/24, perhaps with a time.
bool is_date(std::string_view field) {
  field = field.substr(0, field.find_first_of("T "));
  std::array<std::size_t, 3> digits{};
  std::size_t part = 0;
  char separator = 0;
  for (const char letter : field) {
    if (std::isdigit(static_cast<unsigned char>(letter)) != 0) {
      ++digits[part];
    } else {
      const bool is_separator = letter == '-' || letter == '/' || letter == '.';
      if (!is_separator || (separator != 0 && letter != separator) || ++part > 2) return false;
      separator = letter;
    }
  }
  const auto is_short = [](std::size_t count) { return count == 1 || count == 2; };
  if (part != 2 || !is_short(digits[1])) return false;
  return (digits[0] == 4 && is_short(digits[2])) ||
         (is_short(digits[0]) && (digits[2] == 4 || digits[2] == 2));
}

/// A mistake in a line.
struct LineError : Error {
  LineError(const std::string& message, std::string why) : Error(message), reason(std::move(why)) {}
  std::string reason;  ///< the message without file and line
};

/// What to do with a line that has a mistake.
enum class Mistakes : std::uint8_t {
  fail,    ///< throw
  refuse,  ///< leave the line out and keep the reason
};

struct FileOptions {
  HeaderKind header = HeaderKind::automatic;
  TextEncoding encoding = TextEncoding::utf8;
  Mistakes mistakes = Mistakes::fail;
  /// Of a file without a header: the number of columns and the target of the training, which the
  /// file may lack.
  std::size_t columns = 0;
  std::string target = {};
};

/// The rows of a file, with one field per column.
class CsvFile {
 public:
  explicit CsvFile(const std::filesystem::path& path, FileOptions options)
      : path_(path), options_(std::move(options)) {
    const std::string text = decoded(file_content(where, path));
    separator_ = separator_in(
        std::string_view(text).substr(0, text.find('\n', text.find_first_not_of("\r\n \t"))));
    CsvRecords records(text, separator_);
    while (records.next()) {
      // Nothing can be read without names.
      if (names_.empty()) add(records);
      else attempt(records.line(), [&] { add(records); });
    }
    if (names_.empty()) refuse(1, "expected a header line, received an empty file");
    if (rows_.empty() && refused_.empty()) refuse(1, "expected at least one sample, received none");
  }

  /// Whether `action` on a line made no mistake. Throws for a mistake if these are not kept.
  template <class Action>
  bool attempt(std::size_t line, const Action& action) const {
    if (options_.mistakes == Mistakes::fail) {
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
  const std::vector<CsvRecord>& rows() const { return rows_; }

  std::size_t column(const std::string& name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) {
      fail(where, "{}: no column '{}'; the columns are {}", path_.string(), printable(name),
           printable(utf8_prefix(fmt::format("{}", fmt::join(names_, ", ")), 200)));
    }
    return static_cast<std::size_t>(found - names_.begin());
  }

  /// The number that a field is; none if it is none. Where semicolons separate fields, a comma may
  /// separate decimals.
  std::optional<double> number_of(const std::string& field) const {
    if (const auto value = number_in(field)) return value;
    if (separator_ != ';' || std::ranges::count(field, ',') != 1) return std::nullopt;
    std::string pointed = field;
    pointed[pointed.find(',')] = '.';
    return number_in(pointed);
  }

  double number(const CsvRecord& row, std::size_t column, std::string_view hint = "") const {
    const auto value = number_of(row.fields[column]);
    if (!value) {
      refuse(row.line, fmt::format("expected a number in column '{}', received '{}'{}",
                                   printable(names_[column]), printable(row.fields[column]), hint));
    }
    return *value;
  }

  [[noreturn]] void refuse_missing(const CsvRecord& row, std::size_t column,
                                   std::string_view hint) const {
    const std::string& field = row.fields[column];
    refuse(row.line,
           fmt::format("expected a value in column '{}', received {}{}", printable(names_[column]),
                       field.empty() ? "none" : fmt::format("'{}'", printable(field)), hint));
  }

  [[noreturn]] void refuse(std::size_t line, const std::string& message) const {
    throw LineError(fmt::format("[{}] {}:{}: {}", where, path_.string(), line, message), message);
  }

  /// Removes the rows for which `is_unwanted` is true. Returns their number.
  template <class Predicate>
  std::int64_t remove_rows(const Predicate& is_unwanted) {
    return static_cast<std::int64_t>(std::erase_if(rows_, is_unwanted));
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::string decoded(std::string content) const {
    if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF")) {
      fail(where, "{}: expected UTF-8, received UTF-16: save the file as UTF-8", path_.string());
    }
    if (content.starts_with(byte_order_mark)) return content.substr(byte_order_mark.size());
    if (options_.encoding == TextEncoding::latin1) return utf8_of_latin1(content);
    return content;
  }

  CsvRecord record_of(CsvRecords& records) const {
    try {
      CsvRecord record = records.read();
      for (const std::string& field : record.fields) {
        if (const auto at = first_invalid_utf8(field)) {
          refuse(record.line,
                 fmt::format("expected UTF-8, received the byte 0x{:02X}; --encoding latin1 reads "
                             "files of many older programs",
                             static_cast<unsigned char>(field[*at])));
        }
      }
      return record;
    } catch (const CsvMistake& mistake) {
      refuse(records.line(), mistake.what());
    }
  }

  void add(CsvRecords& records) {
    CsvRecord record = record_of(records);
    if (names_.empty()) {
      if (options_.header != HeaderKind::absent) return set_names(record);
      number_columns(record.fields.size());
    }
    if (record.fields.size() != names_.size()) {
      refuse(record.line,
             fmt::format("expected {} values, received {}", names_.size(), record.fields.size()));
    }
    rows_.push_back(std::move(record));
  }

  void set_names(CsvRecord& record) {
    const auto is_number = [&](const std::string& name) { return number_of(name).has_value(); };
    if (options_.header == HeaderKind::automatic && std::ranges::all_of(record.fields, is_number)) {
      refuse(record.line, fmt::format("expected the names of the columns, received numbers, such "
                                      "as '{}'; --no-header reads files without names",
                                      printable(record.fields[0])));
    }
    names_ = std::move(record.fields);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto same =
          std::find(names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(i), names_[i]);
      if (names_[i].empty() || same != names_.begin() + static_cast<std::ptrdiff_t>(i)) {
        refuse(record.line, fmt::format("expected distinct, non-empty column names, received '{}'",
                                        printable(names_[i])));
      }
    }
  }

  /// Names columns by number. A file with one column less than the training lacks the target.
  void number_columns(std::size_t count) {
    for (std::size_t number = 1; names_.size() < count; ++number) {
      std::string name = fmt::format("column{}", number);
      if (count + 1 != options_.columns || name != options_.target)
        names_.push_back(std::move(name));
    }
  }

  const std::filesystem::path& path_;
  FileOptions options_;
  char separator_ = ',';
  std::vector<std::string> names_;
  std::vector<CsvRecord> rows_;
  mutable std::vector<RefusedRow> refused_;
};

constexpr std::string_view missing_hint =
    "; --missing drop, mean or category accepts missing values";

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::size_t target_of(const CsvFile& file, const TableOptions& options) {
  if (!options.target.empty()) return file.column(options.target);
  for (std::size_t i = file.names().size(); i-- > 0;) {
    if (!contains(options.ignored, file.names()[i])) return i;
  }
  fail(where, "{}: expected a target, received ignored columns only", file.path().string());
}

CsvFile opened(const std::filesystem::path& path, const TableOptions& options) {
  return CsvFile(path, {.header = options.header, .encoding = options.encoding});
}

/// Chooses what each column is, from all rows of a file.
class ColumnReader {
 public:
  ColumnReader(const CsvFile& file, const TableOptions& options) : file_(file), options_(options) {}

  Column read(std::size_t index) const {
    Column column{.name = file_.names()[index]};
    const CsvRecord* first = first_value(index);
    if (first == nullptr) {
      fail(where,
           "{}: expected values in column '{}', received none: --set data.ignore leaves "
           "columns out",
           file_.path().string(), printable(column.name));
    }
    const std::string& value = first->fields[index];
    if (!contains(options_.categories, column.name)) {
      if (file_.number_of(value)) return numeric(std::move(column), index, first->line);
      if (is_date(value)) refuse_dates(column.name, *first, value);
    }
    return categorical(std::move(column), index);
  }

 private:
  bool fills() const { return data::fills(options_.missing); }

  const CsvRecord* first_value(std::size_t index) const {
    for (const CsvRecord& row : file_.rows()) {
      if (!is_missing(row.fields[index])) return &row;
    }
    return nullptr;
  }

  Column numeric(Column column, std::size_t index, std::size_t line) const {
    const std::string hint =
        fmt::format(", but a number in line {}; --set data.categories={} reads categories", line,
                    printable(column.name));
    for (const CsvRecord& row : file_.rows()) {
      if (!is_missing(row.fields[index])) {
        file_.number(row, index, hint);
      } else if (!fills()) {
        file_.refuse_missing(row, index, missing_hint);
      }
    }
    return column;
  }

  [[noreturn]] void refuse_dates(const std::string& name, const CsvRecord& row,
                                 const std::string& value) const {
    file_.refuse(row.line,
                 fmt::format("expected numbers or categories in column '{0}', received the date "
                             "'{1}': write dates as numbers, such as days, leave the column out "
                             "with --set data.ignore={0}, or read every date as a category with "
                             "--set data.categories={0}",
                             printable(name), printable(value)));
  }

  Column categorical(Column column, std::size_t index) const {
    std::set<std::string> names;
    bool has_missing = false;
    for (const CsvRecord& row : file_.rows()) {
      if (row.fields[index].empty() && !fills()) file_.refuse_missing(row, index, missing_hint);
      if (fills() && is_missing(row.fields[index])) {
        has_missing = true;
        continue;
      }
      names.insert(row.fields[index]);
      if (names.size() <= max_categories) continue;
      file_.refuse(row.line,
                   fmt::format("expected at most {} categories in column '{}', received "
                               "more; it is not a number, as in line {}: '{}'",
                               max_categories, printable(column.name), first_word(index).line,
                               printable(first_word(index).fields[index])));
    }
    if (options_.missing == MissingValues::category && has_missing) {
      column.fill = missing_category;
      names.insert(missing_category);
    }
    column.categories = in_order(names);
    return column;
  }

  /// The first row whose value is not a number.
  const CsvRecord& first_word(std::size_t index) const {
    for (const CsvRecord& row : file_.rows()) {
      if (!is_missing(row.fields[index]) && !file_.number_of(row.fields[index])) return row;
    }
    return file_.rows().front();
  }

  const CsvFile& file_;
  const TableOptions& options_;
};

std::vector<std::string> classes_in(const CsvFile& file, std::size_t target) {
  std::set<std::string> names;
  for (const CsvRecord& row : file.rows()) {
    names.insert(row.fields[target]);
    if (names.size() > max_categories) {
      file.refuse(row.line,
                  fmt::format("expected at most {} classes in column '{}', received more; --set "
                              "head.kind=regression predicts numbers",
                              max_categories, printable(file.names()[target])));
    }
  }
  return in_order(names);
}

/// The index of a name in a list.
std::size_t index_of(const CsvFile& file, const CsvRecord& row, std::size_t column,
                     const std::string& field, const std::vector<std::string>& names,
                     std::string_view what) {
  const auto found = std::ranges::find(names, field);
  if (found == names.end()) {
    file.refuse(row.line, fmt::format("expected {} of the training data in column '{}', received "
                                      "'{}'",
                                      what, printable(file.names()[column]), printable(field)));
  }
  return static_cast<std::size_t>(found - names.begin());
}

/// What the features of a missing value are, if its column has no `fill`.
enum class Unfilled : std::uint8_t { refused, nan };

/// The columns that a model reads.
class FeatureColumns {
 public:
  FeatureColumns(const CsvFile& file, const DataFormat& format,
                 Unfilled unfilled = Unfilled::refused)
      : file_(file), format_(format), unfilled_(unfilled) {
    for (const Column& column : format.columns) {
      indices_.push_back(file.column(column.name));
      width_ += width_of(column);
    }
  }

  std::size_t width() const { return width_; }

  bool has_missing(const CsvRecord& row) const {
    return std::ranges::any_of(indices_,
                               [&](std::size_t index) { return is_missing(row.fields[index]); });
  }

  /// Writes the features of a row to `to`, which is 0.
  void read(const CsvRecord& row, std::span<float> to) const {
    auto next = to.begin();
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      const Column& column = format_.columns[i];
      const std::string& field = row.fields[indices_[i]];
      const bool fills = !column.fill.empty() && is_missing(field);
      if (unfilled_ == Unfilled::nan && column.fill.empty() && is_missing(field)) {
        next = std::fill_n(next, width_of(column), std::numeric_limits<float>::quiet_NaN());
      } else if (column.categories.empty()) {
        if (!fills && is_missing(field)) file_.refuse_missing(row, indices_[i], "");
        *next++ =
            static_cast<float>(fills ? *number_in(column.fill) : file_.number(row, indices_[i]));
      } else {
        if (!fills && field.empty()) file_.refuse_missing(row, indices_[i], "");
        const std::size_t index = index_of(file_, row, indices_[i], fills ? column.fill : field,
                                           column.categories, "a category");
        next[static_cast<std::ptrdiff_t>(index)] = 1;
        next += std::ssize(column.categories);
      }
    }
  }

 private:
  const CsvFile& file_;
  const DataFormat& format_;
  Unfilled unfilled_;
  std::vector<std::size_t> indices_;
  std::size_t width_ = 0;
};

Tensor features_of(const CsvFile& file, const DataFormat& format,
                   Unfilled unfilled = Unfilled::refused) {
  const FeatureColumns columns(file, format, unfilled);
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
  for (const CsvRecord& row : file.rows()) {
    if (has_classes) {
      labels.mutable_values<std::int32_t>()[at++] = static_cast<std::int32_t>(
          index_of(file, row, column, row.fields[column], format.classes, "a class"));
    } else {
      labels.mutable_values<float>()[at++] = static_cast<float>(file.number(row, column));
    }
  }
  return labels;
}

void check_not_all_dropped(const CsvFile& file) {
  if (!file.rows().empty()) return;
  fail(where, "{}: a value is missing in every line", file.path().string());
}

/// A line without a label cannot be learned.
void check_targets(const CsvFile& file, std::size_t target) {
  for (const CsvRecord& row : file.rows()) {
    if (row.fields[target].empty()) {
      file.refuse_missing(row, target, ", the target; --missing drop leaves such lines out");
    }
  }
}

CsvFile opened_as(const std::filesystem::path& path, const DataFormat& format, Mistakes mistakes) {
  return CsvFile(path, {.header = format.csv.has_header ? HeaderKind::present : HeaderKind::absent,
                        .encoding = format.csv.encoding,
                        .mistakes = mistakes,
                        .columns = format.columns.size() + 1,
                        .target = format.target});
}

}  // namespace

Table read_table(const std::filesystem::path& path, const TableOptions& options) {
  CsvFile file = opened(path, options);
  Table table;
  DataFormat& format = table.format;
  const std::size_t target = target_of(file, options);
  format.target = file.names()[target];
  format.csv = {.has_header = options.header != HeaderKind::absent,
                .missing = options.missing,
                .encoding = options.encoding};
  for (const auto* names : {&options.categories, &options.ignored}) {
    for (const std::string& name : *names) file.column(name);
  }
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < file.names().size(); ++i) {
    if (i != target && !contains(options.ignored, file.names()[i])) used.push_back(i);
  }
  if (used.empty()) {
    fail(where, "{}: expected other columns than the target '{}', received none", path.string(),
         printable(format.target));
  }
  if (options.missing == MissingValues::drop) {
    table.dropped = file.remove_rows([&](const CsvRecord& row) {
      return is_missing(row.fields[target]) ||
             std::ranges::any_of(used, [&](std::size_t i) { return is_missing(row.fields[i]); });
    });
    check_not_all_dropped(file);
  }
  check_targets(file, target);
  const ColumnReader reader(file, options);
  for (const std::size_t i : used) format.columns.push_back(reader.read(i));
  if (!options.values) format.classes = classes_in(file, target);
  const Unfilled unfilled = fills(options.missing) ? Unfilled::nan : Unfilled::refused;
  table.samples = {features_of(file, format, unfilled), labels_of(file, format)};
  return table;
}

void choose_fills(DataFormat& format, const SampleSet& train) {
  if (!fills(format.csv.missing)) return;
  const std::span<const float> features = train.features.values<float>();
  const auto width = static_cast<std::size_t>(train.feature_count());
  std::size_t first = 0;
  for (Column& column : format.columns) {
    std::vector<double> sums(width_of(column));
    std::int64_t known = 0;
    for (std::size_t at = first; at < features.size(); at += width) {
      if (std::isnan(features[at])) continue;
      ++known;
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += features[at + i];
    }
    first += sums.size();
    if (!column.fill.empty()) continue;
    if (known == 0) {
      fail(where, "expected values in column '{}' of the training samples, received none",
           printable(column.name));
    }
    column.fill = column.categories.empty()
                      ? fmt::format("{}", sums.front() / static_cast<double>(known))
                      : column.categories[static_cast<std::size_t>(std::ranges::max_element(sums) -
                                                                   sums.begin())];
  }
}

void fill_missing(SampleSet& samples, const DataFormat& format) {
  if (!fills(format.csv.missing) || samples.count() == 0) return;
  const std::span<float> features = samples.features.mutable_values<float>();
  const auto width = static_cast<std::size_t>(samples.feature_count());
  std::size_t first = 0;
  for (const Column& column : format.columns) {
    const std::size_t wide = width_of(column);
    for (std::size_t at = first; at < features.size(); at += width) {
      if (!std::isnan(features[at])) continue;
      for (std::size_t i = 0; i < wide; ++i) {
        const bool is_number = column.categories.empty();
        features[at + i] = is_number ? static_cast<float>(*number_in(column.fill))
                                     : static_cast<float>(column.categories[i] == column.fill);
      }
    }
    first += wide;
  }
}

std::optional<std::size_t> distinct_numbers(const std::filesystem::path& path,
                                            const TableOptions& options) {
  const CsvFile file = opened(path, options);
  const std::size_t target = target_of(file, options);
  std::set<double> values;
  for (const CsvRecord& row : file.rows()) {
    if (is_missing(row.fields[target])) continue;
    const std::optional<double> value = file.number_of(row.fields[target]);
    if (!value) return std::nullopt;
    values.insert(*value);
  }
  return values.size();
}

std::string target_name(const std::filesystem::path& path, const TableOptions& options) {
  const CsvFile file = opened(path, options);
  return file.names()[target_of(file, options)];
}

SampleSet read_table_as(const std::filesystem::path& path, const DataFormat& format) {
  CsvFile file = opened_as(path, format, Mistakes::fail);
  if (format.csv.missing == MissingValues::drop) {
    const FeatureColumns columns(file, format);
    const std::size_t target = file.column(format.target);
    file.remove_rows([&](const CsvRecord& row) {
      return columns.has_missing(row) || is_missing(row.fields[target]);
    });
    check_not_all_dropped(file);
  }
  return {features_of(file, format), labels_of(file, format)};
}

FeatureTable read_features_as(const std::filesystem::path& path, const DataFormat& format) {
  const CsvFile file = opened_as(path, format, Mistakes::refuse);
  const FeatureColumns columns(file, format);
  FeatureTable table;
  std::vector<float> values;
  std::vector<float> sample(columns.width());
  for (const CsvRecord& row : file.rows()) {
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
