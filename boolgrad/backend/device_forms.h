// Choices that the host and the kernels of every device share. Plain C++17.
#pragma once

namespace boolgrad {

enum class LossForm : int { squares, l4, bce, focal };

/// How tables harden while training: all by a share, some of them wholly, or the states instead.
enum class HardForm : int { none, blend, gates, states };

}  // namespace boolgrad
