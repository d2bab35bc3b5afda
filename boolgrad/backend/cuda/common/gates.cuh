// From logits to tables and back, on the device. A table's entry e has the first input in bit 0 and
// the second in bit 1.
#pragma once

namespace boolgrad::cuda {

/// A gate's soft and hardened table of two inputs, and what the way back needs.
struct Table {
  float soft[4];
  unsigned hard;
  float most, total;  ///< of softmax: the largest logit, and the sum of exp(logit - most)
};

/// Entry e of gate 8 f(0,0) + 4 f(0,1) + 2 f(1,0) + f(1,1).
__device__ __forceinline__ unsigned gate_entry(int gate, int e) {
  const int place = e == 0 ? 3 : e == 1 ? 1 : e == 2 ? 2 : 0;
  return static_cast<unsigned>(gate >> place) & 1U;
}

/// The sixteen gates weighted by a softmax; hardened, the likeliest, the first on a tie.
__device__ __forceinline__ Table softmax_table(const float* logits) {
  Table table{};
  int likeliest = 0;
  table.most = logits[0];
  for (int i = 1; i < 16; ++i) {
    if (logits[i] > table.most) {
      table.most = logits[i];
      likeliest = i;
    }
  }
  for (int i = 0; i < 16; ++i) {
    const float share = expf(logits[i] - table.most);
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

/// The gradient of logit i, given those of the entries.
__device__ __forceinline__ float softmax_gradient(const float* logits, const Table& table,
                                                  const float (&slopes)[4], int i) {
  float slope = 0;
  for (int e = 0; e < 4; ++e) {
    slope += slopes[e] * (static_cast<float>(gate_entry(i, e)) - table.soft[e]);
  }
  return expf(logits[i] - table.most) / table.total * slope;
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
