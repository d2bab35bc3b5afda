#include "boolgrad/data/csv_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "boolgrad/core/text.h"

namespace boolgrad::data {
namespace {

constexpr std::size_t longest_record = 1 << 20;

bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

char separator_in(std::string_view line) {
  constexpr std::array separators = {',', ';', '\t'};
  std::array<std::size_t, separators.size()> counts{};
  bool quoted = false;
  for (const char letter : line) {
    if (letter == '"') quoted = !quoted;
    for (std::size_t i = 0; i < separators.size(); ++i) {
      if (!quoted && letter == separators[i]) ++counts[i];
    }
  }
  return separators[static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin())];
}

std::string utf8_of_latin1(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x80U) {
      result += letter;
    } else {
      result += static_cast<char>(0xC0U | (byte >> 6U));
      result += static_cast<char>(0x80U | (byte & 0x3FU));
    }
  }
  return result;
}

std::size_t CsvRecords::end_of_line(std::size_t at) const {
  return std::min(text_.find('\n', at), text_.size());
}

bool CsvRecords::next() {
  if (line_ == 0) {
    line_ = 1;
  } else {
    line_ +=
        static_cast<std::size_t>(std::ranges::count(text_.substr(start_, end_ - start_), '\n'));
    start_ = end_ + 1;
    ++line_;
  }
  while (start_ < text_.size()) {
    end_ = end_of_line(start_);
    if (!trimmed(text_.substr(start_, end_ - start_)).empty()) return true;
    start_ = end_ + 1;
    ++line_;
  }
  return false;
}

CsvRecord CsvRecords::read() {
  if (end_ - start_ > longest_record) {
    throw CsvMistake(fmt::format("expected a line of at most {} bytes, received {}", longest_record,
                                 end_ - start_));
  }
  CsvRecord record{.line = line_, .fields = {}};
  std::size_t at = start_;
  while (true) {
    while (at < text_.size() && is_blank(text_[at]) && text_[at] != separator_) ++at;
    const bool is_quoted = at < text_.size() && text_[at] == '"';
    record.fields.push_back(is_quoted ? quoted_field(at) : plain_field(at));
    if (at >= text_.size() || text_[at] == '\n') break;
    ++at;  // the separator
  }
  end_ = at;
  return record;
}

std::string CsvRecords::plain_field(std::size_t& at) const {
  const std::size_t first = at;
  while (at < text_.size() && text_[at] != separator_ && text_[at] != '\n') ++at;
  return std::string(trimmed(text_.substr(first, at - first)));
}

/// A field in double quotes, in which quotes are written twice.
std::string CsvRecords::quoted_field(std::size_t& at) {
  std::string field;
  ++at;
  while (true) {
    const std::size_t quote =
        text_.substr(0, std::min(text_.size(), start_ + longest_record)).find('"', at);
    if (quote == std::string_view::npos) throw CsvMistake("missing closing quote");
    field += text_.substr(at, quote - at);
    at = quote + 1;
    if (at >= text_.size() || text_[at] != '"') break;
    field += '"';
    ++at;
  }
  while (at < text_.size() && is_blank(text_[at]) && text_[at] != separator_) ++at;
  if (at < text_.size() && text_[at] != separator_ && text_[at] != '\n') {
    const std::string name = separator_ == ',' ? "comma" : separator_ == ';' ? "semicolon" : "tab";
    throw CsvMistake(fmt::format("expected a {} after a quoted field, received '{}'", name,
                                 printable(text_.substr(at, 1))));
  }
  return field;
}

}  // namespace boolgrad::data
