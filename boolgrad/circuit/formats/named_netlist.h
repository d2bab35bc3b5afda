// Netlists as files have them: nets by name, gates in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "boolgrad/circuit/netlist.h"

namespace boolgrad {

/// Where a reader is, for what it has to complain about.
struct SourceText {
  std::string_view where;  ///< the reader: `netlist`, `blif`
  std::string file;

  /// Throws `[where] FILE:LINE: message`.
  [[noreturn]] void refuse(std::size_t line, const std::string& message) const;
};

/// A name at a line of the file.
struct NamedNet {
  std::string_view name;
  std::size_t line = 0;
};

struct NamedGate {
  NamedNet net;  ///< what it drives
  std::uint64_t truth = 0;
  std::vector<std::string_view> sources;
};

struct NamedOutput {
  NamedNet output;
  std::string_view net;
};

/// All names are views of the file's text.
struct NamedNetlist {
  std::vector<NamedNet> inputs;
  std::vector<NamedGate> gates;
  std::vector<NamedOutput> outputs;
};

/// The netlist without names of its own: gates each after what they read, in the order of the file
/// where that allows it. Refuses a net that nothing or more than one thing drives, and a cycle.
Netlist sorted(const NamedNetlist& named, const SourceText& source);

/// The whole content of a file; errors open with `[where] FILE: `.
std::string file_content(std::string_view where, const std::filesystem::path& path);

/// Replaces a file with `content`, whole or not at all.
void write_file(std::string_view where, const std::filesystem::path& path,
                std::string_view content);

}  // namespace boolgrad
