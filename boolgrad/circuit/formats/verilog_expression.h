// Expressions of structural Verilog: parsed into a tree, then evaluated to literals with the widths
// of the standard.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/formats/verilog_bits.h"
#include "boolgrad/circuit/formats/verilog_tokens.h"

namespace boolgrad::circuit {

using VerilogLiterals = std::vector<BitLiteral>;

/// The tokens of a file and the next one to read.
class VerilogCursor {
 public:
  VerilogCursor(std::string_view text, const SourceText& source)
      : source_(source), tokens_(verilog_tokens(text, source)) {}

  const SourceText& source() const { return source_; }
  const VerilogToken& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const VerilogToken& take();
  bool take_if(std::string_view symbol);
  void expect(std::string_view symbol);
  /// An identifier.
  const VerilogToken& name(std::string_view what);
  /// A decimal number without sign.
  std::int64_t integer();
  [[noreturn]] void refuse(const VerilogToken& at, std::string_view expected) const;

 private:
  const SourceText& source_;
  std::vector<VerilogToken> tokens_;
  std::size_t at_ = 0;
};

/// Parses and evaluates expressions.
class VerilogExpressions {
 public:
  /// `read_net` reads a name with its selection from the cursor. At most `max_work` bits are
  /// evaluated, in vectors of at most `max_width` bits.
  VerilogExpressions(VerilogCursor& cursor, VerilogBits& bits, std::size_t max_width,
                     std::size_t max_work, std::function<VerilogLiterals()> read_net)
      : cursor_(cursor),
        bits_(bits),
        max_width_(max_width),
        work_left_(max_work),
        read_net_(std::move(read_net)) {}

  /// The next expression as the right side of an assignment to `width` bits.
  VerilogLiterals assigned(std::size_t width);
  /// The next expression with its own width.
  VerilogLiterals own();
  /// The value of the next expression, which must be constant.
  std::vector<bool> constant();

 private:
  struct Node {
    std::string_view op;  ///< `value`, `{`, `?`, a unary or a binary operator
    std::size_t line = 0;
    std::size_t depth = 1;
    std::size_t width = 0;  ///< its own
    VerilogLiterals value;  ///< of `value`
    std::vector<std::size_t> parts;
  };

  std::size_t parse();
  std::size_t parse_binary(int weakest);
  std::size_t parse_unary();
  std::size_t parse_primary();
  std::size_t parse_braces();
  std::size_t add(Node node);
  std::size_t value(VerilogLiterals literals, std::size_t line);

  VerilogLiterals evaluate(std::size_t index, std::size_t width, std::size_t needed);
  VerilogLiterals evaluate_own(std::size_t index);
  BitLiteral reduced(std::string_view op, std::span<const BitLiteral> literals, std::size_t line);
  BitLiteral comparison(const Node& node);
  VerilogLiterals shifted(const Node& node, std::size_t width, std::size_t needed);
  VerilogLiterals bitwise(const Node& node, std::size_t width, std::size_t needed);
  void spend(std::size_t bits, std::size_t line);

  VerilogCursor& cursor_;
  VerilogBits& bits_;
  std::size_t max_width_;
  std::size_t work_left_;
  std::function<VerilogLiterals()> read_net_;
  std::vector<Node> nodes_;
  std::size_t nesting_ = 0;
};

}  // namespace boolgrad::circuit
