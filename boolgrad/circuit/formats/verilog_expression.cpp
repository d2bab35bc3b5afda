#include "boolgrad/circuit/formats/verilog_expression.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "boolgrad/circuit/table.h"
#include "boolgrad/core/text.h"

namespace boolgrad::circuit {
namespace {

// Deep trees would overflow the stack.
constexpr std::size_t max_depth = 2000;
constexpr std::size_t max_nesting = 200;

/// Binary operators from the weakest to the strongest. `?:` is weaker than all.
constexpr int levels = 7;
int level_of(const VerilogToken& token) {
  constexpr std::array<std::array<std::string_view, 4>, levels> operators{{
      {"||"},
      {"&&"},
      {"|", "~|"},
      {"^", "^~", "~^"},
      {"&", "~&"},
      {"==", "!=", "===", "!=="},
      {">>", ">>>"},
  }};
  for (int level = 0; level < levels; ++level) {
    for (const std::string_view op : operators[static_cast<std::size_t>(level)]) {
      if (!op.empty() && token.is(op)) return level;
    }
  }
  return -1;
}

bool is_reduction(std::string_view op) {
  return op == "&" || op == "|" || op == "^" || op == "~&" || op == "~|" || op == "~^" ||
         op == "^~";
}

bool is_arithmetic(const VerilogToken& token) {
  for (const std::string_view op : {"+", "-", "*", "/", "%", "<", ">", "<=", ">=", "<<", "<<<"}) {
    if (token.is(op)) return true;
  }
  return false;
}

}  // namespace

const VerilogToken& VerilogCursor::take() {
  const VerilogToken& token = peek();
  if (token.kind != VerilogTokenKind::end) ++at_;
  return token;
}

bool VerilogCursor::take_if(std::string_view symbol) {
  if (!peek().is(symbol)) return false;
  take();
  return true;
}

void VerilogCursor::expect(std::string_view symbol) {
  if (!take_if(symbol)) refuse(peek(), fmt::format("'{}'", symbol));
}

const VerilogToken& VerilogCursor::name(std::string_view what) {
  if (peek().kind != VerilogTokenKind::word) refuse(peek(), what);
  return take();
}

std::int64_t VerilogCursor::integer() {
  constexpr std::size_t max_bits = 32;
  const VerilogToken token = peek();
  if (token.kind != VerilogTokenKind::number) refuse(token, "a number");
  take();
  const std::vector<bool> bits = verilog_number(token, max_bits, source_);
  std::int64_t value = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    value |= std::int64_t{bits[i] ? 1 : 0} << i;
  }
  return value;
}

void VerilogCursor::refuse(const VerilogToken& at, std::string_view expected) const {
  source_.refuse(at.line,
                 fmt::format("expected {}, received {}", expected,
                             at.kind == VerilogTokenKind::end
                                 ? std::string(at.text)
                                 : fmt::format("'{}'", printable(utf8_prefix(at.text, 40)))));
}

VerilogLiterals VerilogExpressions::assigned(std::size_t width) {
  nodes_.clear();
  const std::size_t top = parse();
  VerilogLiterals result = evaluate(top, std::max(width, nodes_[top].width), width);
  result.resize(width, BitLiteral(0));
  return result;
}

VerilogLiterals VerilogExpressions::own() {
  nodes_.clear();
  return evaluate_own(parse());
}

std::vector<bool> VerilogExpressions::constant() {
  const std::size_t line = cursor_.peek().line;
  std::vector<bool> bits;
  for (const BitLiteral literal : own()) {
    if (literal.node() != 0) cursor_.source().refuse(line, "expected a constant, received a net");
    bits.push_back(literal.complemented());
  }
  return bits;
}

std::size_t VerilogExpressions::add(Node node) {
  for (const std::size_t part : node.parts) {
    node.depth = std::max(node.depth, nodes_[part].depth + 1);
  }
  if (node.depth > max_depth) {
    cursor_.source().refuse(node.line,
                            fmt::format("expected an expression of at most {} levels", max_depth));
  }
  if (node.width > max_width_) {
    cursor_.source().refuse(node.line,
                            fmt::format("expected an expression of at most {} bits in a file of "
                                        "this size, received {}",
                                        max_width_, node.width));
  }
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

std::size_t VerilogExpressions::value(VerilogLiterals literals, std::size_t line) {
  const std::size_t width = literals.size();
  return add(
      {.op = "value", .line = line, .width = width, .value = std::move(literals), .parts = {}});
}

std::size_t VerilogExpressions::parse() {
  if (++nesting_ > max_nesting) {
    cursor_.source().refuse(cursor_.peek().line,
                            fmt::format("expected at most {} nested expressions", max_nesting));
  }
  const std::size_t condition = parse_binary(0);
  std::size_t result = condition;
  if (cursor_.peek().is("?")) {
    const std::size_t line = cursor_.take().line;
    const std::size_t one = parse();
    cursor_.expect(":");
    const std::size_t zero = parse();
    result = add({.op = "?",
                  .line = line,
                  .width = std::max(nodes_[one].width, nodes_[zero].width),
                  .value = {},
                  .parts = {condition, one, zero}});
  }
  if (is_arithmetic(cursor_.peek())) {
    cursor_.refuse(cursor_.peek(), "gates (the command synth of Yosys maps arithmetic to gates)");
  }
  --nesting_;
  return result;
}

/// Operators of `weakest` or a stronger level, by precedence climbing.
std::size_t VerilogExpressions::parse_binary(int weakest) {
  std::size_t left = parse_unary();
  for (int level = level_of(cursor_.peek()); level >= weakest; level = level_of(cursor_.peek())) {
    const VerilogToken op = cursor_.take();
    const std::size_t right = parse_binary(level + 1);
    const bool is_one_bit = level <= 1 || level == 5;
    const bool is_shift = level == 6;
    const std::size_t width = is_one_bit ? 1
                              : is_shift ? nodes_[left].width
                                         : std::max(nodes_[left].width, nodes_[right].width);
    left =
        add({.op = op.text, .line = op.line, .width = width, .value = {}, .parts = {left, right}});
  }
  return left;
}

std::size_t VerilogExpressions::parse_unary() {
  const VerilogToken op = cursor_.peek();
  const bool is_unary =
      op.is("~") || op.is("!") || (op.kind == VerilogTokenKind::symbol && is_reduction(op.text));
  if (!is_unary) return parse_primary();
  if (++nesting_ > max_nesting) cursor_.refuse(op, "fewer operators in a row");
  cursor_.take();
  const std::size_t operand = parse_unary();
  --nesting_;
  // A marker distinguishes reductions from binary operators: they have one part.
  return add({.op = op.text,
              .line = op.line,
              .width = op.is("~") ? nodes_[operand].width : 1,
              .value = {},
              .parts = {operand}});
}

std::size_t VerilogExpressions::parse_primary() {
  const VerilogToken token = cursor_.peek();
  if (cursor_.take_if("(")) {
    const std::size_t inside = parse();
    cursor_.expect(")");
    return inside;
  }
  if (token.is("{")) return parse_braces();
  if (token.kind == VerilogTokenKind::number) {
    cursor_.take();
    VerilogLiterals literals;
    for (const bool bit : verilog_number(token, max_width_, cursor_.source())) {
      literals.push_back(BitLiteral(0, bit));
    }
    return value(std::move(literals), token.line);
  }
  if (token.kind != VerilogTokenKind::word) cursor_.refuse(token, "an expression");
  return value(read_net_(), token.line);
}

std::size_t VerilogExpressions::parse_braces() {
  const std::size_t line = cursor_.take().line;
  const bool repeats = cursor_.peek().kind == VerilogTokenKind::number && cursor_.peek(1).is("{");
  if (repeats) {
    const VerilogToken at = cursor_.peek();
    const std::int64_t count = cursor_.integer();
    const std::size_t inside = parse_braces();
    cursor_.expect("}");
    const std::size_t width = nodes_[inside].width;
    if (count < 1 || static_cast<std::size_t>(count) > max_width_ / width) {
      cursor_.refuse(
          at, fmt::format("a replication to at most {} bits in a file of this size", max_width_));
    }
    // The operand is evaluated once.
    return add({.op = "{",
                .line = line,
                .width = width * static_cast<std::size_t>(count),
                .value = {},
                .parts = {inside}});
  }
  std::vector<std::size_t> parts;
  std::size_t width = 0;
  do {
    parts.push_back(parse());
    width += nodes_[parts.back()].width;
  } while (cursor_.take_if(","));
  cursor_.expect("}");
  return add({.op = "{", .line = line, .width = width, .value = {}, .parts = std::move(parts)});
}

void VerilogExpressions::spend(std::size_t bits, std::size_t line) {
  if (bits > work_left_) {
    cursor_.source().refuse(line, "expected fewer bits in the expressions of a file of this size");
  }
  work_left_ -= bits;
}

VerilogLiterals VerilogExpressions::evaluate_own(std::size_t index) {
  return evaluate(index, nodes_[index].width, nodes_[index].width);
}

/// The `needed` lowest bits of a node that its context extends to `width` bits.
VerilogLiterals VerilogExpressions::evaluate(std::size_t index, std::size_t width,
                                             std::size_t needed) {
  const Node& node = nodes_[index];
  needed = std::min(needed, width);
  spend(needed + 1, node.line);
  VerilogLiterals result;
  if (node.op == "value") {
    result.assign(node.value.begin(), node.value.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                               needed, node.value.size())));
  } else if (node.op == "{") {
    for (std::size_t i = node.parts.size(); i-- > 0;) {
      const VerilogLiterals part = evaluate_own(node.parts[i]);
      result.insert(result.end(), part.begin(), part.end());
    }
    const std::size_t once = result.size();
    spend(node.width - once, node.line);
    while (result.size() < node.width) result.push_back(result[result.size() - once]);
  } else if (node.parts.size() == 1 && (node.op == "!" || is_reduction(node.op))) {
    result = {reduced(node.op, evaluate_own(node.parts[0]), node.line)};
  } else if (node.op == "&&" || node.op == "||") {
    const BitLiteral a = reduced("|", evaluate_own(node.parts[0]), node.line);
    const BitLiteral b = reduced("|", evaluate_own(node.parts[1]), node.line);
    result = {node.op == "&&" ? bits_.conjunction(a, b, node.line)
                              : bits_.disjunction(a, b, node.line)};
  } else if (node.op.size() >= 2 && (node.op.starts_with("==") || node.op.starts_with("!="))) {
    result = {comparison(node)};
  } else if (node.op.starts_with(">>")) {
    result = shifted(node, width, needed);
  } else {
    result = bitwise(node, width, needed);
  }
  result.resize(needed, BitLiteral(0));
  return result;
}

BitLiteral VerilogExpressions::reduced(std::string_view op, std::span<const BitLiteral> literals,
                                       std::size_t line) {
  const bool inverts = op == "!" || op.starts_with('~') || op == "^~";
  const bool is_and = op.find('&') != std::string_view::npos;
  const bool is_xor = op.find('^') != std::string_view::npos;
  BitLiteral result(0, is_and);
  for (const BitLiteral literal : literals) {
    result = is_and   ? bits_.conjunction(result, literal, line)
             : is_xor ? bits_.exclusive_or(result, literal, line)
                      : bits_.disjunction(result, literal, line);
  }
  return result ^ inverts;
}

BitLiteral VerilogExpressions::comparison(const Node& node) {
  const std::size_t width = std::max(nodes_[node.parts[0]].width, nodes_[node.parts[1]].width);
  const VerilogLiterals a = evaluate(node.parts[0], width, width);
  const VerilogLiterals b = evaluate(node.parts[1], width, width);
  VerilogLiterals differs;
  for (std::size_t i = 0; i < width; ++i) {
    differs.push_back(bits_.exclusive_or(a[i], b[i], node.line));
  }
  return reduced(node.op.starts_with("==") ? "!" : "|", differs, node.line);
}

VerilogLiterals VerilogExpressions::shifted(const Node& node, std::size_t width,
                                            std::size_t needed) {
  const VerilogLiterals left = evaluate(node.parts[0], width, width);
  const VerilogLiterals amount = evaluate_own(node.parts[1]);
  const auto is_constant = [](BitLiteral literal) { return literal.node() == 0; };
  if (amount.size() > max_variables || !std::ranges::all_of(left, is_constant)) {
    cursor_.source().refuse(
        node.line,
        fmt::format("expected a constant shifted by at most {} bits (a look-up table), received a "
                    "shift of nets or by {} bits",
                    max_variables, amount.size()));
  }
  VerilogLiterals result;
  for (std::size_t bit = 0; bit < needed; ++bit) {
    std::uint64_t truth = 0;
    for (std::size_t by = 0; by < std::size_t{1} << amount.size(); ++by) {
      const bool one = bit + by < left.size() && left[bit + by].complemented();
      truth |= std::uint64_t{one ? 1U : 0U} << by;
    }
    result.push_back(bits_.table(amount, truth, node.line));
  }
  return result;
}

VerilogLiterals VerilogExpressions::bitwise(const Node& node, std::size_t width,
                                            std::size_t needed) {
  VerilogLiterals result;
  if (node.op == "?") {
    const BitLiteral by = reduced("|", evaluate_own(node.parts[0]), node.line);
    const VerilogLiterals one = evaluate(node.parts[1], width, needed);
    const VerilogLiterals zero = evaluate(node.parts[2], width, needed);
    constexpr std::uint64_t multiplexer = 0xCA;  // of zero, one and by
    for (std::size_t i = 0; i < needed; ++i) {
      result.push_back(bits_.table(std::array{zero[i], one[i], by}, multiplexer, node.line));
    }
    return result;
  }
  const VerilogLiterals a = evaluate(node.parts[0], width, needed);
  if (node.op == "~") {
    for (const BitLiteral literal : a) result.push_back(!literal);
    return result;
  }
  const VerilogLiterals b = evaluate(node.parts[1], width, needed);
  const bool inverts = node.op.size() == 2;
  const bool is_and = node.op.find('&') != std::string_view::npos;
  const bool is_xor = node.op.find('^') != std::string_view::npos;
  for (std::size_t i = 0; i < needed; ++i) {
    const std::uint64_t truth = is_and ? 0b1000 : is_xor ? 0b0110 : 0b1110;
    result.push_back(bits_.table(std::array{a[i], b[i]}, truth, node.line) ^ inverts);
  }
  return result;
}

}  // namespace boolgrad::circuit
