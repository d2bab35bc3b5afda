// Ports of several bits, found by the names of their bits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace boolgrad::circuit {

/// Bits `name[0]` to `name[n - 1]`, or a single bit `name`.
struct PortGroup {
  std::string name;
  bool is_bus = false;
  std::vector<std::size_t> positions;  ///< of the bits, the lowest first

  /// `name[n-1:0]`, or the name of a single bit.
  std::string title() const;
};

/// The groups of a list of names, in the order of their first bits. A name in brackets belongs to a
/// bus only if bits 0 to n - 1 are all in the list, and nothing else has the name of the bus.
std::vector<PortGroup> port_groups(const std::vector<std::string>& names);

/// Values of ports as `a[3:0] = 0101, c = 1`: buses with the highest bit first.
std::string assignment_text(const std::vector<std::string>& names, const std::vector<bool>& values);

}  // namespace boolgrad::circuit
