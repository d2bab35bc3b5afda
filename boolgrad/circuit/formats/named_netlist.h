// Netlists as read from files: nets by name, gates in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad::circuit {

/// The source of a netlist, for error messages.
struct SourceText {
  std::string_view where;  ///< the format: `netlist`, `blif`, ...
  std::string file;

  /// Throws `[where] FILE:LINE: message`.
  [[noreturn]] void refuse(std::size_t line, const std::string& message) const;
};

/// A name at a line of the file.
struct NamedNet {
  std::string_view name;
  std::size_t line = 0;
};

/// A gate that reads nets by name.
struct NamedGate {
  NamedNet net;  ///< the net that it drives
  std::uint64_t truth = 0;
  std::vector<std::string_view> sources;
};

/// An output and the net that drives it.
struct NamedOutput {
  NamedNet output;
  std::string_view net;
};

/// A netlist by names, which are views of the text of the file.
struct NamedNetlist {
  std::vector<NamedNet> inputs;
  std::vector<NamedGate> gates;
  std::vector<NamedOutput> outputs;
};

/// Resolves names and sorts gates topologically, in the order of the file where possible. Throws
/// for nets without a driver or with several, and for cycles.
Netlist sorted(const NamedNetlist& named, const SourceText& source);

}  // namespace boolgrad::circuit
