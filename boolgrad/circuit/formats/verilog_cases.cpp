#include "boolgrad/circuit/formats/verilog_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "boolgrad/core/random.h"

namespace boolgrad::circuit {
namespace {

constexpr std::size_t row_bits = 256;

/// A function NAME(i) of `width` bits from a table that has several cases per row.
void add_table(const std::string& name, std::size_t width,
               const std::vector<VerilogBitVector>& values, VerilogCases& cases) {
  const std::size_t per_row = std::max<std::size_t>(1, row_bits / width);
  const std::size_t rows = (values.size() + per_row - 1) / per_row;
  cases.declarations += fmt::format(
      "  reg [{0}:0] {1}_rows [0:{2}];\n  function [{3}:0] {1}(input integer i);\n"
      "    {1} = {1}_rows[i / {4}][i % {4} * {5} +: {5}];\n  endfunction\n",
      per_row * width - 1, name, rows - 1, width - 1, per_row, width);
  for (std::size_t row = 0; row < rows; ++row) {
    VerilogBitVector bits;
    for (std::size_t i = row * per_row; i < (row + 1) * per_row; ++i) {
      if (i < values.size()) bits.insert(bits.end(), values[i].begin(), values[i].end());
    }
    bits.resize(per_row * width, false);
    fmt::format_to(std::back_inserter(cases.loading), "    {}_rows[{}] = {};\n", name, row,
                   verilog_literal(bits));
  }
}

/// Different random combinations.
std::vector<VerilogBitVector> random_inputs(std::size_t inputs) {
  std::set<VerilogBitVector> known;
  std::vector<VerilogBitVector> result;
  for (std::uint32_t step = 0; result.size() < random_bench_cases; ++step) {
    VerilogBitVector bits;
    for (std::size_t word = 0; bits.size() < inputs; ++word) {
      for (const std::uint32_t part : random_bits({.seed = 0, .step = step, .index = word})) {
        for (unsigned i = 0; i < 32; ++i) bits.push_back((part >> i & 1) != 0);
      }
    }
    bits.resize(inputs);
    if (known.insert(bits).second) result.push_back(std::move(bits));
  }
  return result;
}

std::vector<VerilogBitVector> all_inputs(std::size_t inputs) {
  std::vector<VerilogBitVector> result;
  for (std::size_t i = 0; i < std::size_t{1} << inputs; ++i) {
    VerilogBitVector bits;
    for (std::size_t j = 0; j < inputs; ++j) bits.push_back((i >> j & 1) != 0);
    result.push_back(std::move(bits));
  }
  return result;
}

}  // namespace

std::string verilog_literal(const VerilogBitVector& bits) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::size_t at = (bits.size() + 3) / 4 * 4; at > 0; at -= 4) {
    unsigned digit = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      if (at - 4 + i < bits.size() && bits[at - 4 + i]) digit |= 1U << i;
    }
    text += digits[digit];
  }
  return fmt::format("{}'h{}", bits.size(), text);
}

std::vector<VerilogBitVector> outputs_of(const Netlist& netlist,
                                         const std::vector<VerilogBitVector>& given) {
  std::vector<VerilogBitVector> result;
  for (std::size_t first = 0; first < given.size(); first += 64) {
    const std::size_t count = std::min<std::size_t>(64, given.size() - first);
    std::vector<std::uint64_t> words(netlist.inputs.size(), 0);
    for (std::size_t s = 0; s < count; ++s) {
      for (std::size_t j = 0; j < words.size(); ++j) {
        words[j] |= std::uint64_t{given[first + s][j] ? 1U : 0U} << s;
      }
    }
    const std::vector<std::uint64_t> outputs = evaluate(netlist, words);
    for (std::size_t s = 0; s < count; ++s) {
      VerilogBitVector bits;
      for (const std::uint64_t word : outputs) bits.push_back((word >> s & 1) != 0);
      result.push_back(std::move(bits));
    }
  }
  return result;
}

VerilogCases cases_of(std::size_t inputs, const std::vector<VerilogBitVector>& given,
                      const std::vector<VerilogBitVector>& expected, const std::string& suffix) {
  VerilogCases cases{.count = std::ssize(expected), .declarations = {}, .loading = {}};
  if (given.empty()) {
    cases.declarations = fmt::format(
        "  function [{0}:0] given{1}(input integer i);\n    given{1} = i[{0}:0];\n  endfunction\n",
        inputs - 1, suffix);
  } else {
    add_table("given" + suffix, inputs, given, cases);
  }
  add_table("expected" + suffix, expected[0].size(), expected, cases);
  return cases;
}

VerilogCases test_cases(const Netlist& netlist) {
  const std::size_t inputs = netlist.inputs.size();
  if (inputs <= max_bench_inputs) {
    return cases_of(inputs, {}, outputs_of(netlist, all_inputs(inputs)));
  }
  const std::vector<VerilogBitVector> given = random_inputs(inputs);
  return cases_of(inputs, given, outputs_of(netlist, given));
}

std::string bench_loop(std::int64_t cases, const std::string& suffix) {
  return fmt::format(
      "    for (i = 0; i < {0}; i = i + 1) begin\n      in{1} = given{1}(i);\n      #1;\n"
      "      if (out{1} !== expected{1}(i)) errors = errors + 1;\n    end\n",
      cases, suffix);
}

std::string bench_closing(std::int64_t cases) {
  return fmt::format(
      "    if (errors != 0) begin\n      $display(\"FAIL %0d of {0}\", errors);\n      "
      "$fatal(1);\n    end\n    $display(\"PASS {0}\");\n    $finish;\n  end\nendmodule\n",
      cases);
}

}  // namespace boolgrad::circuit
