// The records of CSV text. Internal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/core/error.h"

namespace boolgrad::data {

/// A mistake in a line of a file.
struct CsvMistake : Error {
  using Error::Error;
};

/// One record and the line that it starts in, from 1. Fields in quotes may contain line breaks.
struct CsvRecord {
  std::size_t line = 0;
  std::vector<std::string> fields;
};

/// `text` without spaces at both ends.
std::string_view trimmed(std::string_view text);

/// Some editors start UTF-8 files with it.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The character that separates the fields of a line: comma, semicolon or tab, whichever occurs
/// most often outside quotes.
char separator_in(std::string_view line);

/// Text in ISO 8859-1 as UTF-8.
std::string utf8_of_latin1(std::string_view text);

/// Reads the records of a text one by one. Blank lines are skipped.
class CsvRecords {
 public:
  /// `text` must outlive the object.
  CsvRecords(std::string_view text, char separator) : text_(text), separator_(separator) {}

  /// Moves to the next record; false at the end.
  bool next();
  /// The line of the present record.
  std::size_t line() const { return line_; }
  /// The fields of the present record. Throws a `CsvMistake`; the next record is then that of the
  /// next line.
  CsvRecord read();

 private:
  std::string quoted_field(std::size_t& at);
  std::string plain_field(std::size_t& at) const;
  std::size_t end_of_line(std::size_t at) const;

  std::string_view text_;
  char separator_;
  std::size_t start_ = 0;  ///< of the present record
  std::size_t end_ = 0;    ///< of the record that was read, or of the present line
  std::size_t line_ = 0;
};

}  // namespace boolgrad::data
