// The cases of Verilog test benches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

using VerilogBitVector = std::vector<bool>;

/// A literal whose bit i is bits[i].
std::string verilog_literal(const VerilogBitVector& bits);

/// Up to so many inputs, test benches check all combinations.
inline constexpr std::size_t max_bench_inputs = 16;
/// Beyond, they check so many different random ones.
inline constexpr std::size_t random_bench_cases = 256;

/// Case i as two Verilog functions, `given(i)` and `expected(i)`.
struct VerilogCases {
  std::int64_t count = 0;
  std::string declarations;
  std::string loading;  ///< statements that fill the tables of the functions
};

/// The outputs of a netlist for these inputs.
std::vector<VerilogBitVector> outputs_of(const Netlist& netlist,
                                         const std::vector<VerilogBitVector>& given);

/// Cases with these inputs and outputs. If `given` is empty, case i has the bits of i as `inputs`
/// inputs. `suffix` is appended to the names of the functions.
VerilogCases cases_of(std::size_t inputs, const std::vector<VerilogBitVector>& given,
                      const std::vector<VerilogBitVector>& expected,
                      const std::string& suffix = "");

/// All combinations of the inputs of a netlist up to `max_bench_inputs`, else
/// `random_bench_cases` different ones.
VerilogCases test_cases(const Netlist& netlist);

/// Statements that check all cases of a module whose inputs are `in` and whose outputs are `out`,
/// with a suffix.
std::string bench_loop(std::int64_t cases, const std::string& suffix = "");

/// The end of a test bench: prints `PASS` and the number of cases, or fails.
std::string bench_closing(std::int64_t cases);

}  // namespace boolgrad::circuit
