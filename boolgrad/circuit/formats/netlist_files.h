// Files of netlists in all formats, by name or by extension.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// The formats that netlists are written in: `netlist`, `c`, `verilog`, `blif`, `aiger` (binary),
/// `aag` (ASCII AIGER), `dot`, `html`.
const std::vector<std::string>& netlist_formats();

/// Those of `netlist_formats` that can be read.
const std::vector<std::string>& readable_formats();

/// Whether a file has the extension of a format that can be read.
bool has_readable_extension(const std::filesystem::path& path);

/// The format that the extension of a file stands for: .txt, .h, .v, .blif, .aig, .aag, .dot,
/// .html. Throws for another extension. Error messages start with `where`.
std::string format_of_file(std::string_view where, const std::filesystem::path& path);

/// The content of a file in `format`. Throws if there is no such format.
std::string content_of(const Netlist& netlist, const std::string& format);

/// Writes a file atomically. An empty `format` is that of the extension.
void write_netlist(const Netlist& netlist, const std::filesystem::path& path,
                   const std::string& format = "");

/// Reads a netlist, BLIF, AIGER, Verilog or HTML file. An empty `format` is that of the extension.
Netlist read_netlist(const std::filesystem::path& path, const std::string& format = "");

}  // namespace boolgrad::circuit
