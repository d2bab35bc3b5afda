#include "boolgrad/circuit/formats/position_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace boolgrad::circuit {
namespace {

std::string linear_text(std::int64_t row_step, std::int64_t column_step, std::int64_t origin) {
  std::string text;
  const auto add = [&](std::int64_t factor, std::string_view variable) {
    if (factor == 0) return;
    if (!text.empty()) text += factor < 0 ? " - " : " + ";
    else if (factor < 0) text += '-';
    const std::int64_t size = factor < 0 ? -factor : factor;
    if (variable.empty()) text += std::to_string(size);
    else if (size == 1) text += variable;
    else text += fmt::format("{} * {}", size, variable);
  };
  add(row_step, "y");
  add(column_step, "x");
  add(origin, "");
  return text.empty() ? "0" : text;
}

}  // namespace

std::string index_text(const SharedStage& stage, const SharedLeaf& leaf, std::int64_t offset) {
  return linear_text(stage.row_step, stage.column_step, leaf.origin + offset);
}

std::string position_text(const SharedStage& stage, std::int64_t offset) {
  return linear_text(stage.rows == 1 ? 0 : stage.columns, 1, offset);
}

std::string inside_text(const SharedStage& stage, const SharedLeaf& leaf) {
  if (leaf.rows.begin >= leaf.rows.end) return "0";
  std::vector<std::string> tests;
  const auto test = [&](std::string_view variable, const Interval& inside, std::int64_t size) {
    if (inside.begin > 0) tests.push_back(fmt::format("{} >= {}", variable, inside.begin));
    if (inside.end < size) tests.push_back(fmt::format("{} < {}", variable, inside.end));
  };
  test("y", leaf.rows, stage.rows);
  test("x", leaf.columns, stage.columns);
  return fmt::format("{}", fmt::join(tests, " && "));
}

}  // namespace boolgrad::circuit
