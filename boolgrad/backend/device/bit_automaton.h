// Bit-parallel simulation of hardened automata on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "boolgrad/backend/plan/bit_program_view.h"
#include "boolgrad/options/border.h"
#include "boolgrad/options/device.h"

namespace boolgrad {

/// The sizes of a batch of grids. On the host a state is [channels][batch][height + 2][words of 64
/// cells], with an unused row above and below each grid and zeros past the last column.
struct BitShape {
  std::int64_t channels = 0;
  std::int64_t batch = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool periodic = false;  ///< requires at least 3 by 3 cells
};

/// A random fire mask: cell i fires if 32 bits of Philox at (seed, stream, random_step, i / 4),
/// scaled to [0, 1), are below `rate`.
struct BitFire {
  double rate = 1;
  std::uint64_t seed = 0;
  std::uint32_t stream = 0;
  std::uint32_t random_step = 0;
};

/// Simulates grids that stay on the device. Calls that return no data may be asynchronous.
class DeviceBitAutomaton {
 public:
  DeviceBitAutomaton() = default;
  virtual ~DeviceBitAutomaton() = default;
  DeviceBitAutomaton(const DeviceBitAutomaton&) = delete;
  DeviceBitAutomaton& operator=(const DeviceBitAutomaton&) = delete;

  /// Copies a state to the device.
  virtual void upload(std::span<const std::uint64_t> words) = 0;
  /// Copies the state from the device.
  virtual void download(std::span<std::uint64_t> words) const = 0;

  /// Takes `count` synchronous steps.
  virtual void step_all(std::int64_t count) = 0;
  /// Takes one asynchronous step: only the cells of the fire mask are updated.
  virtual void step_some(const BitFire& fire) = 0;

  /// Clears a rectangle in all channels of every grid.
  virtual void clear(std::int64_t top, std::int64_t left, std::int64_t height,
                     std::int64_t width) = 0;

  /// Waits until the device has finished.
  virtual void wait() const = 0;
};

/// Creates a simulation on `device`, which must be a GPU. Input 9 c + n of the program is neighbour
/// n of channel c; output c is the new value of channel c.
std::unique_ptr<DeviceBitAutomaton> make_device_bit_automaton(const Device& device,
                                                              const BitProgramView& program,
                                                              const BitShape& shape);

}  // namespace boolgrad
