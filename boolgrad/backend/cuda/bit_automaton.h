// Hardened automata on an NVIDIA GPU, on words of 32 cells.
//
// No header of the vendor is included here, so that rooms above need not know whether the backend
// was built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "boolgrad/backend/bit_code.h"

namespace boolgrad::cuda {

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

/// How a program is run. The bits are the same.
enum class BitExecution : std::uint8_t {
  automatic,    ///< interpreted, until compiling would have paid
  interpreted,  ///< at once; slots in shared memory, or in global memory where they are many
  compiled,     ///< by the driver, into registers: several times faster, after a wait
};

/// Steps grids that stay on the device. Calls return before the device is done, but for those that
/// bring something back.
class BitAutomaton {
 public:
  /// Input 9 c + n of `code` is neighbour n of channel c, output c the new value of channel c.
  BitAutomaton(const BitCode& code, const BitShape& shape,
               BitExecution execution = BitExecution::automatic);
  ~BitAutomaton();
  BitAutomaton(const BitAutomaton&) = delete;
  BitAutomaton& operator=(const BitAutomaton&) = delete;

  void upload(std::span<const std::uint64_t> words);
  void download(std::span<std::uint64_t> words) const;

  /// Steps of all cells, or one of those that fire.
  void step(std::int64_t count = 1);
  void step(const BitFire& fire);

  /// Sets all channels of a rectangle inside of every grid to 0.
  void clear(std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width);

  /// Returns when the device has done all that it was asked to.
  void wait() const;

  /// Milliseconds of the device for `count` steps.
  double milliseconds(int count);

  /// Whether the program runs compiled by now.
  bool compiled() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace boolgrad::cuda
