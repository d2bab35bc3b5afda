// Hardened automata on an NVIDIA GPU, on words of 32 cells.
//
// No vendor header is included here, so that other modules compile without CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "boolgrad/backend/device/bit_automaton.h"

namespace boolgrad::cuda {

/// How a program is executed. Results are identical.
enum class BitExecution : std::uint8_t {
  automatic,    ///< interpreted until compiling pays off
  interpreted,  ///< starts immediately; slots in shared memory, or in global memory if there are
                ///< many
  compiled,     ///< by the driver, with values in registers: several times faster, after a delay
};

class BitAutomaton final : public DeviceBitAutomaton {
 public:
  BitAutomaton(const BitProgramView& code, const BitShape& shape,
               BitExecution execution = BitExecution::automatic, int device = 0);
  ~BitAutomaton() override;

  void upload(std::span<const std::uint64_t> words) override;
  void download(std::span<std::uint64_t> words) const override;
  void step_all(std::int64_t count) override;
  void step_some(const BitFire& fire) override;
  void clear(std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width) override;
  void wait() const override;

  /// Device time of `count` steps, in milliseconds.
  double milliseconds(int count);

  /// Whether the program has been compiled.
  bool compiled() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// On device `index`, with `BitExecution::automatic`.
std::unique_ptr<DeviceBitAutomaton> make_bit_automaton(int index, const BitProgramView& code,
                                                       const BitShape& shape);

}  // namespace boolgrad::cuda
