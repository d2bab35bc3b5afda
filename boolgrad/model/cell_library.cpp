#include "boolgrad/model/cell_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad {
namespace {

bool is_name_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

bool is_name(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text, is_name_letter);
}

/// The names in a function such as `(a*!b)+c`, each once. Constants have none.
std::vector<std::string> names_in(const std::string& function) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < function.size();) {
    std::size_t end = at;
    while (end < function.size() && is_name_letter(function[end])) ++end;
    const std::string name = function.substr(at, end - at);
    const bool is_constant = name == "CONST0" || name == "CONST1";
    if (is_name(name) && !is_constant && std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
    at = std::max(end, at + 1);
  }
  return names;
}

/// What follows the word GATE: `nand2 1.00 y=!(a*b);`.
bool read_gate(std::istringstream& words, LibraryCell& cell) {
  std::string area;
  std::string function;
  if (!(words >> cell.name >> area) || !std::getline(words, function, ';')) return false;
  char* end = nullptr;
  cell.area = std::strtod(area.c_str(), &end);
  const std::size_t equals = function.find('=');
  if (*end != '\0' || !(cell.area >= 0) || !std::isfinite(cell.area) || !is_name(cell.name) ||
      equals == std::string::npos) {
    return false;
  }
  std::istringstream(function.substr(0, equals)) >> cell.output;
  cell.inputs = names_in(function.substr(equals + 1));
  return is_name(cell.output);
}

}  // namespace

std::vector<LibraryCell> read_cell_library(std::string_view where, std::string_view text,
                                           const std::string& file) {
  std::vector<LibraryCell> cells;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string keyword;
    if (!(words >> keyword) || keyword != "GATE") continue;  // pins may be on lines of their own
    LibraryCell cell;
    if (!read_gate(words, cell)) {
      fail(where, "{}:{}: expected GATE NAME AREA OUTPUT=FUNCTION;, received '{}'", file, number,
           printable(line));
    }
    cells.push_back(std::move(cell));
  }
  if (cells.empty()) fail(where, "{}: expected gates in genlib format, received none", file);
  return cells;
}

std::string black_boxes(const std::vector<LibraryCell>& cells) {
  std::string text;
  for (const LibraryCell& cell : cells) {
    text += fmt::format("(* blackbox *) module {} (", cell.name);
    for (const std::string& input : cell.inputs) text += fmt::format("input {}, ", input);
    text += fmt::format("output {});\nendmodule\n", cell.output);
  }
  return text;
}

}  // namespace boolgrad
