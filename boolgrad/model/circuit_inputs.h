// Values of a circuit's ports: rows of inputs from a file, and outputs as text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "boolgrad/circuit/formats/port_groups.h"
#include "boolgrad/circuit/netlist.h"
#include "boolgrad/model/unlabelled_samples.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// Reads inputs of a circuit, uint8 [rows, inputs], from a CSV or NPY file, or as CSV from the
/// standard input, `-`. A column is a bit, or a number for the bits `a[0]` to `a[n - 1]`, in
/// decimal or with 0x or 0b. A first line with names gives the order of columns, and others are
/// ignored; without it, and in NPY files, there is a column per port or per bit, in order. Rows
/// with mistakes are refused.
UnlabelledSamples read_circuit_inputs(const std::filesystem::path& path,
                                      const circuit::Netlist& netlist);

/// The outputs of a circuit, uint8 [rows, outputs].
Tensor circuit_outputs(const circuit::Netlist& netlist, const Tensor& inputs);

/// The value of a port with these bits: decimal, or hexadecimal with 0x if it has more than 64.
std::string port_value(const circuit::PortGroup& port, std::span<const std::uint8_t> bits);

}  // namespace boolgrad
