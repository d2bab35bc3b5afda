// The sixteen gates of two inputs.
//
// Two numberings occur, and they differ:
// - Entry i of a truth table is the output where input j is bit j of i. The entries are therefore
//   f(0,0), f(1,0), f(0,1), f(1,1), written f(a, b). This order holds for every table in the
//   library: soft tables, `lut_layer`, `Netlist`.
// - The index of a gate is 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1), as in the literature on logic
//   gate networks. It numbers the logits of softmax16.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace boolgrad::logic {

/// A gate f(a, b), as the polynomial c0 + c1 a + c2 b + c3 ab that agrees with it on bits.
struct Gate {
  int index;                        ///< 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1)
  std::string_view name;            ///< `AND`, `XOR`, ...
  std::string_view formula;         ///< of the soft gate, such as `a + b - ab`
  std::array<int, 4> coefficients;  ///< c0, c1, c2, c3

  /// The hard gate: f(a, b) on bits.
  constexpr bool on(bool a, bool b) const {
    return ((index >> (3 - 2 * static_cast<int>(a) - static_cast<int>(b))) & 1) != 0;
  }

  /// The soft gate: f(a, b) for a and b between 0 and 1.
  constexpr double operator()(double a, double b) const {
    const auto& c = coefficients;
    return c[0] + c[1] * a + c[2] * b + c[3] * a * b;
  }
  /// The partial derivative df/da.
  constexpr double d_da(double b) const { return coefficients[1] + coefficients[3] * b; }
  /// The partial derivative df/db.
  constexpr double d_db(double a) const { return coefficients[2] + coefficients[3] * a; }

  /// Entry i of the gate's table: its value at a = bit 0 of i, b = bit 1 of i.
  constexpr bool entry(int i) const { return on((i & 1) != 0, (i & 2) != 0); }
};

/// All sixteen gates, by index.
inline constexpr std::array<Gate, 16> gates{{
    {0, "FALSE", "0", {0, 0, 0, 0}},
    {1, "AND", "ab", {0, 0, 0, 1}},
    {2, "A AND NOT B", "a - ab", {0, 1, 0, -1}},
    {3, "A", "a", {0, 1, 0, 0}},
    {4, "NOT A AND B", "b - ab", {0, 0, 1, -1}},
    {5, "B", "b", {0, 0, 1, 0}},
    {6, "XOR", "a + b - 2ab", {0, 1, 1, -2}},
    {7, "OR", "a + b - ab", {0, 1, 1, -1}},
    {8, "NOR", "1 - a - b + ab", {1, -1, -1, 1}},
    {9, "XNOR", "1 - a - b + 2ab", {1, -1, -1, 2}},
    {10, "NOT B", "1 - b", {1, 0, -1, 0}},
    {11, "A OR NOT B", "1 - b + ab", {1, 0, -1, 1}},
    {12, "NOT A", "1 - a", {1, -1, 0, 0}},
    {13, "NOT A OR B", "1 - a + ab", {1, -1, 0, 1}},
    {14, "NAND", "1 - ab", {1, 0, 0, -1}},
    {15, "TRUE", "1", {1, 0, 0, 0}},
}};

/// The index of the gate A, which passes its first input through.
inline constexpr int pass_a = 3;

}  // namespace boolgrad::logic
