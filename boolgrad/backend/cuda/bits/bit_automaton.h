// Hardened automata on an NVIDIA GPU, on words of 32 cells.
//
// No vendor header is included here, so that other modules need not know whether the backend was
// built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "boolgrad/backend/device/bit_automaton.h"

namespace boolgrad::cuda {

/// How a program is run. The bits are the same.
enum class BitExecution : std::uint8_t {
  automatic,    ///< interpreted, until compiling would have paid
  interpreted,  ///< at once; slots in shared memory, or in global memory where they are many
  compiled,     ///< by the driver, into registers: several times faster, after a wait
};

class BitAutomaton final : public DeviceBitAutomaton {
 public:
  BitAutomaton(const BitCode& code, const BitShape& shape,
               BitExecution execution = BitExecution::automatic, int device = 0);
  ~BitAutomaton() override;

  void upload(std::span<const std::uint64_t> words) override;
  void download(std::span<std::uint64_t> words) const override;
  void step_all(std::int64_t count) override;
  void step_some(const BitFire& fire) override;
  void clear(std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width) override;
  void wait() const override;

  /// Milliseconds of the device for `count` steps.
  double milliseconds(int count);

  /// Whether the program runs compiled by now.
  bool compiled() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One on device `index` that runs as `automatic` says.
std::unique_ptr<DeviceBitAutomaton> make_bit_automaton(int index, const BitCode& code,
                                                       const BitShape& shape);

}  // namespace boolgrad::cuda
