// Where tables come from, as kernels of any device read it.
#pragma once

namespace boolgrad {

/// Tables from sixteen logits of two-input gates, from a sigmoid of each entry's own, or from a
/// sigmoid of the sums of Walsh coefficients.
enum class TableForm : int { softmax16, sigmoid, walsh };

}  // namespace boolgrad
