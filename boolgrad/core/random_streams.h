// The streams of random numbers of a run, above those of wirings and initial values and beside that
// of the gradient noise. One list, so that no two uses draw the same numbers.
#pragma once

#include <cstdint>

namespace boolgrad {

inline constexpr std::uint32_t batch_stream = 0x01000001;       ///< order of the cases
inline constexpr std::uint32_t start_stream = 0x01000002;       ///< starts of automata in training
inline constexpr std::uint32_t probe_stream = 0x01000003;       ///< starts that they are judged by
inline constexpr std::uint32_t probe_fire_stream = 0x01000004;  ///< and who fires from there
inline constexpr std::uint32_t fire_stream = 0x01000005;        ///< who fires in training
inline constexpr std::uint32_t damage_stream = 0x01000006;      ///< where damage strikes
inline constexpr std::uint32_t sample_stream = 0x01000007;      ///< inputs that inspection tries
inline constexpr std::uint32_t hardening_stream = 0x01000008;   ///< gates that are hard for a step
inline constexpr std::uint32_t draw_stream = 0x01000009;        ///< seeds beside the run's own
inline constexpr std::uint32_t refit_stream = 0x0100000A;   ///< pairs of gates that a refit tries
inline constexpr std::uint32_t length_stream = 0x0100000B;  ///< steps of a rollout in training
inline constexpr std::uint32_t pool_stream = 0x0100000C;    ///< states that a pool begins with
inline constexpr std::uint32_t pool_place_stream = 0x0100000D;  ///< and those taken from it
inline constexpr std::uint32_t validation_stream = 0x0100000E;  ///< samples kept for validation
inline constexpr std::uint32_t test_stream = 0x0100000F;        ///< and those for the test
inline constexpr std::uint32_t shift_stream = 0x01000010;       ///< where pictures are moved to

}  // namespace boolgrad
