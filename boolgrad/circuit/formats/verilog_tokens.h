// Splits Verilog into tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/formats/named_netlist.h"

namespace boolgrad::circuit {

enum class VerilogTokenKind : std::uint8_t { word, number, symbol, end };

/// A word is an identifier or a keyword, a number a literal such as `12` or `4'hA`, and a symbol an
/// operator or a delimiter. The text is a view of the file.
struct VerilogToken {
  VerilogTokenKind kind = VerilogTokenKind::end;
  std::string_view text;  ///< of an escaped identifier: without the backslash
  std::size_t line = 0;
  bool escaped = false;  ///< `\name `, which is never a keyword

  bool is(std::string_view symbol) const {
    return !escaped && kind != VerilogTokenKind::number && text == symbol;
  }
};

/// The tokens of a file. Comments, attributes `(* *)` and the directives `timescale`,
/// `default_nettype`, `celldefine` and `resetall` are skipped; other directives are refused. The
/// last token has the kind `end`.
std::vector<VerilogToken> verilog_tokens(std::string_view text, const SourceText& source);

/// The bits of a literal, the lowest first: 32 if it has no width, at most `max_bits` otherwise.
/// Digits x and z are refused.
std::vector<bool> verilog_number(const VerilogToken& token, std::size_t max_bits,
                                 const SourceText& source);

}  // namespace boolgrad::circuit
