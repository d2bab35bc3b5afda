#include "boolgrad/circuit/formats/verilog_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

// The functions of <cctype> depend on the locale.
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool is_in_word(char c) { return begins_word(c) || is_digit(c); }
bool is_in_number(char c) { return is_in_word(c) || c == '?'; }

constexpr std::array<std::string_view, 17> long_symbols{
    "===", "!==", "<<<", ">>>", "~&", "~|", "~^", "^~", "&&",
    "||",  "==",  "!=",  "<<",  ">>", "<=", ">=", "+:"};

class Lexer {
 public:
  Lexer(std::string_view text, const SourceText& source) : text_(text), source_(source) {}

  std::vector<VerilogToken> run() {
    for (skip(); at_ < text_.size(); skip()) tokens_.push_back(next());
    tokens_.push_back({VerilogTokenKind::end, "the end of the file", line_});
    return std::move(tokens_);
  }

 private:
  bool begins(std::string_view symbol) const { return text_.substr(at_).starts_with(symbol); }

  void advance(std::size_t count) {
    const std::size_t end = std::min(at_ + count, text_.size());
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(end),
                                                 '\n'));
    at_ = end;
  }

  void skip_to(std::string_view end, std::size_t from, std::string_view what) {
    const std::size_t found = text_.find(end, at_ + from);
    if (found == std::string_view::npos) {
      source_.refuse(line_,
                     fmt::format("expected the end of {}, received the end of the file", what));
    }
    advance(found + end.size() - at_);
  }

  void skip_line() { advance(std::min(text_.find('\n', at_), text_.size()) - at_); }

  void skip_directive() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_in_word(text_[end])) ++end;
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    if (name != "timescale" && name != "default_nettype" && name != "resetall" &&
        name != "celldefine" && name != "endcelldefine") {
      source_.refuse(
          line_, fmt::format("expected Verilog without directives, received `{}", printable(name)));
    }
    skip_line();
  }

  /// `(*` opens an attribute, `(*)` is an event control.
  bool begins_attribute() const {
    if (!begins("(*")) return false;
    const std::size_t next = text_.find_first_not_of(" \t\r\n", at_ + 2);
    return next != std::string_view::npos && text_[next] != ')';
  }

  void skip() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) advance(1);
      else if (begins("//")) skip_line();
      else if (begins("/*")) skip_to("*/", 2, "a comment");
      else if (begins_attribute()) skip_to("*)", 2, "an attribute");
      else if (text_[at_] == '`') skip_directive();
      else return;
    }
  }

  VerilogToken taken(VerilogTokenKind kind, std::size_t count) {
    const VerilogToken token{kind, text_.substr(at_, count), line_};
    at_ += count;
    return token;
  }

  VerilogToken escaped() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && !is_space(text_[end])) ++end;
    if (end == at_ + 1) source_.refuse(line_, "expected a name after \\, received none");
    ++at_;
    VerilogToken token = taken(VerilogTokenKind::word, end - at_);
    token.escaped = true;
    return token;
  }

  /// `4'b1010`, `'h1f` and `12`, with blanks around the base.
  VerilogToken number() {
    std::size_t end = at_;
    while (end < text_.size() && is_in_number(text_[end])) ++end;
    std::size_t base = end;
    while (base < text_.size() && (text_[base] == ' ' || text_[base] == '\t')) ++base;
    if (base < text_.size() && text_[base] == '\'') {
      end = base + 1;
      while (end < text_.size() && is_in_number(text_[end])) ++end;
      if (end <= base + 2) {
        while (end < text_.size() && (text_[end] == ' ' || text_[end] == '\t')) ++end;
        while (end < text_.size() && is_in_number(text_[end])) ++end;
      }
    }
    return taken(VerilogTokenKind::number, end - at_);
  }

  VerilogToken next() {
    const char c = text_[at_];
    if (c == '\\') return escaped();
    if (is_digit(c) || c == '\'') return number();
    if (begins_word(c)) {
      std::size_t end = at_;
      while (end < text_.size() && is_in_word(text_[end])) ++end;
      return taken(VerilogTokenKind::word, end - at_);
    }
    for (const std::string_view symbol : long_symbols) {
      if (begins(symbol)) return taken(VerilogTokenKind::symbol, symbol.size());
    }
    return taken(VerilogTokenKind::symbol, 1);
  }

  std::string_view text_;
  const SourceText& source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::vector<VerilogToken> tokens_;
};

/// A decimal number of at most 32 bits.
std::optional<std::uint32_t> decimal(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits += c;
  }
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<unsigned> digit_of(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  const char low = static_cast<char>(c | 0x20);
  if (low >= 'a' && low <= 'f') return static_cast<unsigned>(low - 'a') + 10;
  return std::nullopt;
}

void append_value(std::vector<bool>& bits, std::uint32_t value) {
  for (unsigned i = 0; i < 32; ++i) bits.push_back((value >> i & 1) != 0);
}

}  // namespace

std::vector<VerilogToken> verilog_tokens(std::string_view text, const SourceText& source) {
  return Lexer(text, source).run();
}

std::vector<bool> verilog_number(const VerilogToken& token, std::size_t max_bits,
                                 const SourceText& source) {
  const auto refuse = [&](std::string_view expected) {
    source.refuse(token.line, fmt::format("expected {}, received {}", expected,
                                          printable(utf8_prefix(token.text, 40))));
  };
  std::vector<bool> bits;
  const std::size_t quote = token.text.find('\'');
  if (quote == std::string_view::npos) {
    const auto value = decimal(token.text);
    if (!value) refuse("a number of 32 bits");
    append_value(bits, *value);
    return bits;
  }
  std::size_t width = 32;
  std::string_view before = token.text.substr(0, quote);
  while (!before.empty() && is_space(before.back())) before.remove_suffix(1);
  if (!before.empty()) {
    const auto given = decimal(before);
    if (!given || *given < 1 || *given > max_bits) {
      refuse(fmt::format("a constant of 1 to {} bits", max_bits));
    }
    width = *given;
  }
  std::string_view digits = token.text.substr(quote + 1);
  const char base = digits.empty() ? ' ' : static_cast<char>(digits[0] | 0x20);
  if (!digits.empty()) digits.remove_prefix(1);
  while (!digits.empty() && is_space(digits[0])) digits.remove_prefix(1);
  if (base == 'd') {
    const auto value = decimal(digits);
    if (!value) refuse("a decimal constant of 32 bits");
    append_value(bits, *value);
  } else {
    const unsigned size = base == 'b' ? 1 : base == 'o' ? 3 : base == 'h' ? 4 : 0;
    if (size == 0 || digits.empty()) refuse("a constant such as 4'b0101");
    for (std::size_t i = digits.size(); i-- > 0;) {
      if (digits[i] == '_') continue;
      const auto digit = digit_of(digits[i]);
      if (!digit || *digit >> size != 0) refuse("a constant of 0 and 1 without x and z");
      for (unsigned j = 0; j < size; ++j) bits.push_back((*digit >> j & 1) != 0);
    }
  }
  bits.resize(width, false);
  return bits;
}

}  // namespace boolgrad::circuit
