// The random streams of a run. One list, so that no two uses share random numbers. Wirings and
// initial values use the streams below 0x01000000, gradient noise uses 0x01000000.
#pragma once

#include <cstdint>

namespace boolgrad {

inline constexpr std::uint32_t batch_stream = 0x01000001;  ///< order of the samples
inline constexpr std::uint32_t start_stream = 0x01000002;  ///< initial states in training
inline constexpr std::uint32_t evaluation_start_stream = 0x01000003;  ///< ... and in evaluation
inline constexpr std::uint32_t evaluation_fire_stream = 0x01000004;   ///< fire masks in evaluation
inline constexpr std::uint32_t fire_stream = 0x01000005;              ///< fire masks in training
inline constexpr std::uint32_t damage_stream = 0x01000006;            ///< positions of damage
inline constexpr std::uint32_t sample_stream = 0x01000007;        ///< random inputs of inspection
inline constexpr std::uint32_t hardening_stream = 0x01000008;     ///< gates hardened in a step
inline constexpr std::uint32_t restart_stream = 0x01000009;       ///< seeds of restarts
inline constexpr std::uint32_t local_search_stream = 0x0100000A;  ///< pairs of gates to change
inline constexpr std::uint32_t length_stream = 0x0100000B;        ///< rollout lengths in training
inline constexpr std::uint32_t pool_stream = 0x0100000C;          ///< initial states of the pool
inline constexpr std::uint32_t pool_choice_stream = 0x0100000D;   ///< states chosen from the pool
inline constexpr std::uint32_t validation_stream = 0x0100000E;    ///< split: validation samples
inline constexpr std::uint32_t test_stream = 0x0100000F;          ///< split: test samples
inline constexpr std::uint32_t shift_stream = 0x01000010;         ///< random shifts of images
inline constexpr std::uint32_t rotation_stream = 0x01000011;      ///< ... rotations
inline constexpr std::uint32_t scale_stream = 0x01000012;         ///< ... scales
inline constexpr std::uint32_t flip_stream = 0x01000013;          ///< ... flips
inline constexpr std::uint32_t cutout_stream = 0x01000014;        ///< ... positions of cut-outs
/// Redrawn candidates of learned wires. Layer l uses redraw_stream + l.
inline constexpr std::uint32_t redraw_stream = 0x02000000;

}  // namespace boolgrad
