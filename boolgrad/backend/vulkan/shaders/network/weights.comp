// The weights of outputs from their trained exponents, and the largest sum of each group: one
// workgroup per group. As in `power_weights` of `logic/head.h`.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 6) readonly buffer Parameters { float parameters[]; };
layout(std430, binding = 21) writeonly buffer OutputWeights { float output_weights[]; };

shared int sums[THREADS];

int weight_of(int output_number) {
  const float exponent =
      clamp(parameters[arguments.first_exponent + output_number], 0.0, arguments.max_exponent);
  const float whole = floor(exponent);
  // Adding 0.5 first would round up the number below it.
  return 1 << int(exponent - whole < 0.5 ? whole : whole + 1.0);
}

void main() {
  const int size = push.gates / push.groups;
  const int first = group() * size;
  int sum = 0;
  for (int i = thread(); i < size; i += THREADS) {
    const int weight = weight_of(first + i);
    output_weights[first + i] = float(weight);
    sum += weight;
  }
  sums[thread()] = sum;
  barrier();
  for (int half_way = THREADS / 2; half_way > 0; half_way /= 2) {
    if (thread() < half_way) sums[thread()] += sums[thread() + half_way];
    barrier();
  }
  if (thread() == 0) output_weights[push.gates + group()] = float(sums[0]);
}
