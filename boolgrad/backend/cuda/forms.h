// Choices that host and kernels share.
#pragma once

namespace boolgrad::cuda {

enum class LossForm : int { squares, l4, bce, focal };

/// How tables harden while training: all by a share, some of them wholly, or the states instead.
enum class HardForm : int { none, blend, gates, states };

}  // namespace boolgrad::cuda
