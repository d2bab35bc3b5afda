#include "boolgrad/data/truth_table.h"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"
#include "boolgrad/data/csv_text.h"

namespace boolgrad::data {
namespace {

constexpr std::size_t longest_line = 1 << 16;
constexpr std::size_t max_cases = std::size_t{1} << max_task_bits;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

/// Inputs and outputs of a case as strings of '0' and '1'.
struct Case {
  std::string inputs;
  std::string outputs;
};

class TruthTableReader {
 public:
  explicit TruthTableReader(const std::filesystem::path& path) : path_(path) {}

  BooleanTask read(std::int64_t outputs) {
    std::ifstream file = open_for_reading(where, path_);
    std::string line;
    while (next_line(file, line)) {
      if (trimmed(line).empty()) continue;
      if (columns_.empty()) read_header(line, outputs);
      else read_case(line);
    }
    if (columns_.empty()) refuse("expected a header line, received an empty file");
    if (cases_.empty()) refuse("expected at least one case, received none");
    return task();
  }

 private:
  static constexpr std::string_view where = "truth_table";

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(where, "{}:{}: {}", path_.string(), line_,
         fmt::format(format, std::forward<Args>(args)...));
  }

  bool next_line(std::istream& file, std::string& line) {
    if (!std::getline(file, line)) return false;
    ++line_;
    if (line_ == 1 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    if (line.size() > longest_line) {
      refuse("expected a line of at most {} bytes, received {}", longest_line, line.size());
    }
    return true;
  }

  void read_header(std::string_view line, std::int64_t outputs) {
    for (const std::string_view name : fields_of(line)) columns_.emplace_back(name);
    const auto count = static_cast<std::int64_t>(columns_.size());
    if (outputs < 0 || outputs >= count) {
      refuse("expected fewer outputs than the {} columns, received {}", count, outputs);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string& name = columns_[static_cast<std::size_t>(i)];
      const bool is_output = outputs > 0 ? i >= count - outputs : name.starts_with("out");
      is_output_.push_back(is_output);
      ++(is_output ? output_count_ : input_count_);
    }
    if (output_count_ == 0) {
      refuse("expected a column whose name starts with 'out', received none");
    }
    if (input_count_ == 0) refuse("expected at least one input column, received outputs only");
  }

  void read_case(std::string_view line) {
    const std::vector<std::string_view> fields = fields_of(line);
    if (fields.size() != columns_.size()) {
      refuse("expected {} values, received {}", columns_.size(), fields.size());
    }
    Case read;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields[i] != "0" && fields[i] != "1") {
        refuse("expected 0 or 1 in column '{}', received '{}'", printable(columns_[i]),
               printable(fields[i]));
      }
      (is_output_[i] ? read.outputs : read.inputs) += fields[i];
    }
    add(std::move(read));
  }

  void add(Case read) {
    const auto [known, is_new] = indices_.try_emplace(read.inputs, cases_.size());
    if (!is_new) {
      const auto [first, line] = std::pair(cases_[known->second], lines_[known->second]);
      if (first.outputs != read.outputs) {
        refuse("expected outputs {} as in line {} for the same inputs, received {}", first.outputs,
               line, read.outputs);
      }
      refuse("expected distinct cases, received that of line {} again", line);
    }
    if (cases_.size() == max_cases) refuse("expected at most {} cases, received more", max_cases);
    cases_.push_back(std::move(read));
    lines_.push_back(line_);
  }

  Tensor bits(std::int64_t features, std::string Case::*text) const {
    const std::size_t count = cases_.size();
    Tensor result({features, static_cast<std::int64_t>(count)}, DType::uint8);
    const auto values = result.mutable_values<std::uint8_t>();
    for (std::size_t c = 0; c < count; ++c) {
      const std::string& row = cases_[c].*text;
      for (std::size_t i = 0; i < row.size(); ++i) values[i * count + c] = row[i] == '1' ? 1 : 0;
    }
    return result;
  }

  BooleanTask task() const {
    return {.name = path_.stem().string(),
            .inputs = bits(input_count_, &Case::inputs),
            .targets = bits(output_count_, &Case::outputs)};
  }

  const std::filesystem::path& path_;
  std::size_t line_ = 0;
  std::vector<std::string> columns_;
  std::vector<bool> is_output_;
  std::int64_t input_count_ = 0;
  std::int64_t output_count_ = 0;
  std::vector<Case> cases_;
  std::vector<std::size_t> lines_;                        ///< of the cases
  std::unordered_map<std::string, std::size_t> indices_;  ///< of the cases, by inputs
};

}  // namespace

BooleanTask read_truth_table(const std::filesystem::path& path, std::int64_t outputs) {
  return TruthTableReader(path).read(outputs);
}

}  // namespace boolgrad::data
