// Hardened automata on a device, on words of 32 cells: what every backend offers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "boolgrad/backend/device/device.h"
#include "boolgrad/backend/options/border.h"
#include "boolgrad/backend/plan/bit_code.h"

namespace boolgrad {

/// Grids of cells. On the host a state is [channels][batch][height + 2][words of 64 cells]: a row
/// above and one below each grid that nobody reads, and 0 past the last column.
struct BitShape {
  std::int64_t channels = 0;
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool periodic = false;  ///< then at least 3 by 3 cells
};

/// Who fires: cell i of all grids where 32 bits of Philox at (seed, stream, draw, i / 4) are below
/// `rate`.
struct BitFire {
  double rate = 1;
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;
  std::uint32_t draw = 0;
};

/// Steps grids that stay on the device. Calls may return before the device is done, but for those
/// that bring something back.
class DeviceBitAutomaton {
 public:
  DeviceBitAutomaton() = default;
  virtual ~DeviceBitAutomaton() = default;
  DeviceBitAutomaton(const DeviceBitAutomaton&) = delete;
  DeviceBitAutomaton& operator=(const DeviceBitAutomaton&) = delete;

  virtual void upload(std::span<const std::uint64_t> words) = 0;
  virtual void download(std::span<std::uint64_t> words) const = 0;

  /// Steps of all cells, and one of those that fire.
  virtual void step_all(std::int64_t count) = 0;
  virtual void step_some(const BitFire& fire) = 0;

  /// Sets all channels of a rectangle inside of every grid to 0.
  virtual void clear(std::int64_t top, std::int64_t left, std::int64_t height,
                     std::int64_t width) = 0;

  /// Returns when the device has done all that it was asked to.
  virtual void wait() const = 0;
};

/// On `device`, which is not the CPU. Input 9 c + n of `code` is neighbour n of channel c, output c
/// the new value of channel c.
std::unique_ptr<DeviceBitAutomaton> make_device_bit_automaton(const Device& device,
                                                              const BitCode& code,
                                                              const BitShape& shape);

}  // namespace boolgrad
