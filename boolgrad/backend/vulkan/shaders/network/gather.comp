// The inputs of the cases picked, masked: a thread for four samples of an input.
#version 460
#extension GL_GOOGLE_include_directive : require

#include "network/network.glsl"

layout(std430, binding = 3) writeonly buffer Activations { vec4 activations[]; };
layout(std430, binding = 13) readonly buffer Data { uint data[]; };
// Of every input: its feature, the level that this must be above, and its mask.
layout(std430, binding = 14) readonly buffer Inputs { ivec4 inputs[]; };
// Of every sample: the case that it is, and how far to the right and down it is moved.
layout(std430, binding = 15) readonly buffer Picked { ivec4 picked[]; };

float feature_at(int at) {
  if (push.data_form == NUMBERS) return uintBitsToFloat(data[at]);
  return float(data[at >> 2] >> (at & 3) * 8 & 0xffu);
}

/// The feature that a move brings to where an input looks, or 0 where it lies outside.
float moved_feature(int feature, ivec4 pick) {
  const int x = feature % push.width - pick.y;
  const int y = feature / push.width % push.height - pick.z;
  if (x < 0 || x >= push.width || y < 0 || y >= push.height) return 0.0;
  return feature_at(pick.x * push.features + feature - pick.z * push.width - pick.y);
}

float value_of(ivec4 own, int sample_number) {
  if (sample_number >= push.samples) return 0.0;
  const ivec4 pick = picked[sample_number];
  const float mask = intBitsToFloat(own.z);
  if (push.data_form == ROWS) return uintBitsToFloat(data[own.x * push.cases + pick.x]) * mask;
  return moved_feature(own.x, pick) > intBitsToFloat(own.y) ? mask : 0.0;
}

void main() {
  const int i = item();
  if (i >= push.inputs * push.vectors) return;
  const ivec4 own = inputs[i / push.vectors];
  const int first = i % push.vectors * 4;
  activations[i] = vec4(value_of(own, first), value_of(own, first + 1), value_of(own, first + 2),
                        value_of(own, first + 3));
}
