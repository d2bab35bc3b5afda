// The masked inputs of the samples of a batch: one thread per four samples of an input.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 3) writeonly buffer Activations { vec4 activations[]; };

#include "network/features.glsl"

float value_of(ivec4 own, float threshold, int number) {
  if (number >= push.samples) return 0.0;
  const float mask = intBitsToFloat(own.z);
  if (arguments.data_kind == ROWS) {
    return uintBitsToFloat(data[own.x * arguments.cases + batch[number].index]) * mask;
  }
  return transformed_feature(own.x, number) > threshold ? mask : 0.0;
}

void main() {
  const int i = item();
  if (i >= push.inputs * push.vectors) return;
  const ivec4 own = inputs[i / push.vectors];
  const float threshold = threshold_of(i / push.vectors);
  const int first = i % push.vectors * 4;
  activations[i] = vec4(value_of(own, threshold, first), value_of(own, threshold, first + 1),
                        value_of(own, threshold, first + 2), value_of(own, threshold, first + 3));
}
