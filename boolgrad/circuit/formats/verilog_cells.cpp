#include "boolgrad/circuit/formats/verilog_cells.h"

#include <array>
#include <map>
#include <string>

#include "boolgrad/circuit/table.h"

namespace boolgrad::circuit {
namespace {

constexpr Truth a = variable_truth[0];
constexpr Truth b = variable_truth[1];
constexpr Truth c = variable_truth[2];
constexpr Truth d = variable_truth[3];
constexpr Truth e = variable_truth[4];
constexpr Truth f = variable_truth[5];

/// Input `s` chooses `one` or `zero`.
constexpr Truth chosen(Truth s, Truth one, Truth zero) { return (s & one) | (~s & zero); }

VerilogCell cell(std::string_view output, std::vector<std::string_view> inputs, Truth function) {
  const std::uint64_t truth = shortened(function, inputs.size());
  return {output, std::move(inputs), truth};
}

VerilogCell lut(std::string_view output, std::vector<std::string_view> inputs,
                std::string_view table) {
  return {output, std::move(inputs), 0, table};
}

using Cells = std::map<std::string_view, VerilogCell>;

const Cells& cells() {
  static const Cells all{{"$_BUF_", cell("Y", {"A"}, a)},
                         {"$_NOT_", cell("Y", {"A"}, ~a)},
                         {"$_AND_", cell("Y", {"A", "B"}, a & b)},
                         {"$_NAND_", cell("Y", {"A", "B"}, ~(a & b))},
                         {"$_OR_", cell("Y", {"A", "B"}, a | b)},
                         {"$_NOR_", cell("Y", {"A", "B"}, ~(a | b))},
                         {"$_XOR_", cell("Y", {"A", "B"}, a ^ b)},
                         {"$_XNOR_", cell("Y", {"A", "B"}, ~(a ^ b))},
                         {"$_ANDNOT_", cell("Y", {"A", "B"}, a & ~b)},
                         {"$_ORNOT_", cell("Y", {"A", "B"}, a | ~b)},
                         {"$_MUX_", cell("Y", {"A", "B", "S"}, chosen(c, b, a))},
                         {"$_NMUX_", cell("Y", {"A", "B", "S"}, ~chosen(c, b, a))},
                         {"$_MUX4_", cell("Y", {"A", "B", "C", "D", "S", "T"},
                                          chosen(f, chosen(e, d, c), chosen(e, b, a)))},
                         {"$_AOI3_", cell("Y", {"A", "B", "C"}, ~((a & b) | c))},
                         {"$_OAI3_", cell("Y", {"A", "B", "C"}, ~((a | b) & c))},
                         {"$_AOI4_", cell("Y", {"A", "B", "C", "D"}, ~((a & b) | (c & d)))},
                         {"$_OAI4_", cell("Y", {"A", "B", "C", "D"}, ~((a | b) & (c | d)))},
                         // iCE40
                         {"SB_LUT4", lut("O", {"I0", "I1", "I2", "I3"}, "LUT_INIT")},
                         {"SB_CARRY", cell("CO", {"I0", "I1", "CI"}, (a & b) | (a & c) | (b & c))},
                         // Xilinx; ECP5 names the inputs of its LUT4 differently
                         {"LUT1", lut("O", {"I0"}, "INIT")},
                         {"LUT2", lut("O", {"I0", "I1"}, "INIT")},
                         {"LUT3", lut("O", {"I0", "I1", "I2"}, "INIT")},
                         {"LUT4", lut("O", {"I0", "I1", "I2", "I3"}, "INIT")},
                         {"LUT5", lut("O", {"I0", "I1", "I2", "I3", "I4"}, "INIT")},
                         {"LUT6", lut("O", {"I0", "I1", "I2", "I3", "I4", "I5"}, "INIT")},
                         {"MUXF7", cell("O", {"I0", "I1", "S"}, chosen(c, b, a))},
                         {"MUXF8", cell("O", {"I0", "I1", "S"}, chosen(c, b, a))},
                         {"INV", cell("O", {"I"}, ~a)},
                         {"IBUF", cell("O", {"I"}, a)},
                         {"OBUF", cell("O", {"I"}, a)},
                         // ECP5
                         {"LUT4/Z", lut("Z", {"A", "B", "C", "D"}, "INIT")},
                         {"PFUMX", cell("Z", {"ALUT", "BLUT", "C0"}, chosen(c, a, b))},
                         {"L6MUX21", cell("Z", {"D0", "D1", "SD"}, chosen(c, b, a))}};
  return all;
}

}  // namespace

const VerilogCell* verilog_cell(std::string_view type, bool drives_z) {
  const auto found = cells().find(type == "LUT4" && drives_z ? "LUT4/Z" : type);
  return found == cells().end() ? nullptr : &found->second;
}

bool is_verilog_register(std::string_view type) {
  constexpr std::array<std::string_view, 19> openings{
      "$_DFF", "$_SDFF", "$_ALDFF", "$_DLATCH", "$_FF_",     "$_SR_", "$dff",
      "$sdff", "$adff",  "$dlatch", "$mem",     "FDRE",      "FDCE",  "FDPE",
      "FDSE",  "LDCE",   "LDPE",    "SB_DFF",   "TRELLIS_FF"};
  for (const std::string_view opening : openings) {
    if (type.starts_with(opening)) return true;
  }
  return false;
}

}  // namespace boolgrad::circuit
