// From logits to tables and back, on the device. In the index of a table entry, bit 0 is the first
// input and bit 1 the second.
#pragma once

namespace boolgrad::cuda {

/// The soft and hardened table of a two-input gate, and intermediate values for the backward pass.
struct Table {
  float soft[4];
  unsigned hard;
  float max_logit, total;  ///< softmax: the largest logit, and the sum of exp(logit - max_logit)
};

/// Entry e of gate 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
__device__ __forceinline__ unsigned gate_entry(int gate, int e) {
  const int bit = e == 0 ? 3 : e == 1 ? 1 : e == 2 ? 2 : 0;
  return static_cast<unsigned>(gate >> bit) & 1U;
}

/// The sixteen gates weighted by a softmax. Hardened: the most likely gate, the first in a tie.
__device__ __forceinline__ Table softmax_table(const float* logits) {
  Table table{};
  int likeliest = 0;
  table.max_logit = logits[0];
  for (int i = 1; i < 16; ++i) {
    if (logits[i] > table.max_logit) {
      table.max_logit = logits[i];
      likeliest = i;
    }
  }
  for (int i = 0; i < 16; ++i) {
    const float share = expf(logits[i] - table.max_logit);
    table.total += share;
    for (int e = 0; e < 4; ++e) {
      if (gate_entry(i, e) != 0) table.soft[e] += share;
    }
  }
  for (int e = 0; e < 4; ++e) {
    table.soft[e] /= table.total;
    table.hard |= gate_entry(likeliest, e) << e;
  }
  return table;
}

/// The gradient of logit i, given the gradients of the entries.
__device__ __forceinline__ float softmax_gradient(const float* logits, const Table& table,
                                                  const float (&slopes)[4], int i) {
  float slope = 0;
  for (int e = 0; e < 4; ++e) {
    slope += slopes[e] * (static_cast<float>(gate_entry(i, e)) - table.soft[e]);
  }
  return expf(logits[i] - table.max_logit) / table.total * slope;
}

/// One logit per entry.
__device__ __forceinline__ Table sigmoid_table(const float* logits) {
  Table table{};
  for (int e = 0; e < 4; ++e) {
    table.soft[e] = 1 / (1 + expf(-logits[e]));
    table.hard |= (logits[e] > 0 ? 1U : 0U) << e;
  }
  return table;
}

__device__ __forceinline__ float sigmoid_gradient(const Table& table, const float (&slopes)[4],
                                                  int e) {
  return slopes[e] * table.soft[e] * (1 - table.soft[e]);
}

}  // namespace boolgrad::cuda
