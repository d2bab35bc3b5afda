#include "boolgrad/circuit/cells/cell_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "boolgrad/circuit/passes/optimal_implementations.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

constexpr const char* where = "genlib";
constexpr SmallTruth inverter_truth = 0x5555;
constexpr SmallTruth nand2_truth = 0x7777;
constexpr std::size_t max_nesting = 200;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '[' || c == ']' || c == '.' || c == '$' || c == '<' || c == '>';
}

/// The function of an expression as a table over variables of any number; those beyond four make
/// the cell unusable, so that their values do not matter.
class Reader {
 public:
  Reader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  CellLibrary read() {
    CellLibrary library;
    for (skip_blank(); at_ < text_.size(); skip_blank()) {
      const std::string_view keyword = word("a line 'GATE'");
      if (keyword == "GATE") {
        read_gate(library);
      } else if (keyword == "LATCH") {
        ++library.left_out;
        skip_to_gate();
      } else if (keyword == "PIN") {
        skip_to_gate();
      } else {
        refuse("GATE, LATCH or PIN", keyword);
      }
    }
    return library;
  }

 private:
  [[noreturn]] void refuse(std::string_view expected, std::string_view received) const {
    const std::string text =
        received.empty() ? "the end of the file" : fmt::format("'{}'", printable(received, 40));
    fail(where, "{}:{}: expected {}, received {}", printable(source_), line_, expected, text);
  }

  /// Skips spaces and comments.
  void skip_blank() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        if (at_ == text_.size()) return;
      }
      if (!is_space(text_[at_])) return;
      if (text_[at_] == '\n') ++line_;
    }
  }

  /// Characters up to the next space. Names may be in quotes.
  std::string_view word(std::string_view expected) {
    skip_blank();
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
    if (begin == at_) refuse(expected, "");
    return text_.substr(begin, at_ - begin);
  }

  /// The timing of pins has no closing mark.
  void skip_to_gate() {
    for (skip_blank(); at_ < text_.size(); skip_blank()) {
      const std::size_t begin = at_;
      const std::size_t line = line_;
      const std::string_view next = word("a line 'GATE'");
      if (next != "GATE" && next != "LATCH") continue;
      at_ = begin;
      line_ = line;
      return;
    }
  }

  void read_gate(CellLibrary& library) {
    Cell cell;
    std::string_view name = word("the name of a cell");
    if (name.size() > 2 && name.front() == '"' && name.back() == '"') {
      name = name.substr(1, name.size() - 2);
    }
    cell.name = name;
    const std::string_view area = word("an area");
    const auto [end, error] = std::from_chars(area.data(), area.data() + area.size(), cell.area);
    if (error != std::errc() || end != area.data() + area.size() || !(cell.area >= 0) ||
        !std::isfinite(cell.area)) {
      refuse("an area of 0 or more", area);
    }
    skip_blank();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (begin == at_) refuse("the name of an output", next_text());
    cell.output = text_.substr(begin, at_ - begin);
    expect('=');
    inputs_.clear();
    cell.truth = disjunction(0);
    expect(';');
    cell.inputs = inputs_;
    if (cell.inputs.size() > Cell::max_inputs) ++library.left_out;
    else library.cells.push_back(std::move(cell));
  }

  std::string_view next_text() const {
    std::size_t end = at_;
    while (end < text_.size() && !is_space(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  char peek() {
    skip_blank();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take_if(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take_if(c)) refuse(fmt::format("'{}'", c), next_text());
  }

  SmallTruth disjunction(std::size_t nesting) {
    SmallTruth result = exclusive_or(nesting);
    while (take_if('+') || take_if('|')) result |= exclusive_or(nesting);
    return result;
  }

  SmallTruth exclusive_or(std::size_t nesting) {
    SmallTruth result = conjunction(nesting);
    while (take_if('^')) result ^= conjunction(nesting);
    return result;
  }

  SmallTruth conjunction(std::size_t nesting) {
    SmallTruth result = factor(nesting);
    for (;;) {
      if (!take_if('*') && !take_if('&')) {
        const char next = peek();
        if (next != '(' && next != '!' && !is_name(next)) return result;
      }
      result &= factor(nesting);
    }
  }

  SmallTruth factor(std::size_t nesting) {
    if (nesting > max_nesting) refuse("an expression of at most 200 levels", next_text());
    if (take_if('!')) return static_cast<SmallTruth>(~factor(nesting + 1));
    SmallTruth result = 0;
    if (take_if('(')) {
      result = disjunction(nesting + 1);
      expect(')');
    } else {
      result = variable();
    }
    while (take_if('\'')) result = static_cast<SmallTruth>(~result);
    return result;
  }

  SmallTruth variable() {
    peek();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (begin == at_) refuse("an input, '!' or '('", next_text());
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "CONST0") return 0;
    if (name == "CONST1") return 0xFFFF;
    auto found = std::ranges::find(inputs_, name);
    if (found == inputs_.end()) found = inputs_.emplace(inputs_.end(), name);
    const auto index = static_cast<std::size_t>(found - inputs_.begin());
    return index < Cell::max_inputs ? small_variables[index] : SmallTruth{0};
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::vector<std::string> inputs_;  ///< of the current cell
};

/// The table of a function whose input j is variable order[j].
SmallTruth permuted(SmallTruth truth, const std::vector<std::size_t>& order) {
  unsigned result = 0;
  for (unsigned entry = 0; entry < 16; ++entry) {
    unsigned from = 0;
    for (std::size_t j = 0; j < order.size(); ++j) from |= (entry >> order[j] & 1U) << j;
    result |= (unsigned{truth} >> from & 1U) << entry;
  }
  return static_cast<SmallTruth>(result);
}

}  // namespace

std::optional<std::size_t> CellLibrary::smallest(SmallTruth truth, std::size_t inputs) const {
  std::optional<std::size_t> best;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (cells[c].inputs.size() != inputs || (best && cells[*best].area <= cells[c].area)) continue;
    std::vector<std::size_t> order(inputs);
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      if (permuted(cells[c].truth, order) == truth) best = c;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return best;
}

double CellLibrary::nand2_area() const { return cells.at(smallest(nand2_truth, 2).value()).area; }

double CellLibrary::inverter_area() const {
  return cells.at(smallest(inverter_truth, 1).value()).area;
}

CellLibrary cell_library_from_genlib(std::string_view text, const std::string& source) {
  CellLibrary library = Reader(text, source).read();
  const auto require = [&](SmallTruth truth, std::size_t inputs, std::string_view what) {
    const auto found = library.smallest(truth, inputs);
    if (!found) fail(where, "{}: expected a cell {}, received none", printable(source), what);
    if (!(library.cells[*found].area > 0)) {
      fail(where, "{}: expected an area above 0 of the cell {}, received 0", printable(source),
           printable(library.cells[*found].name));
    }
  };
  require(inverter_truth, 1, "'!a' (an inverter)");
  require(nand2_truth, 2, "'!(a*b)' (a NAND)");
  return library;
}

CellLibrary read_cell_library(const std::filesystem::path& path) {
  return cell_library_from_genlib(file_content(where, path), path.string());
}

}  // namespace boolgrad::circuit
