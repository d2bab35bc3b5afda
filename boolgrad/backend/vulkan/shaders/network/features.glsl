// Inputs out of samples: rows of cases, or bits of features that may be shifted.

layout(std430, binding = 6) readonly buffer Parameters { float parameters[]; };
layout(std430, binding = 13) readonly buffer Data { uint data[]; };
// Of every input: its feature, the threshold that this must be above, its mask, and what an offset
// of the threshold is multiplied by.
layout(std430, binding = 14) readonly buffer Inputs { ivec4 inputs[]; };
// Of every sample: the case that it is, and how far to the right and down it is shifted.
layout(std430, binding = 15) readonly buffer Batch { ivec4 batch[]; };

float feature_at(int at) {
  if (push.data_kind == FLOATS) return uintBitsToFloat(data[at]);
  return float(data[at >> 2] >> (at & 3) * 8 & 0xffu);
}

/// The feature that a shift brings to where an input looks, or 0 where it lies outside.
float shifted_feature(int feature, ivec4 own_case) {
  const int x = feature % push.width - own_case.y;
  const int y = feature / push.width % push.height - own_case.z;
  if (x < 0 || x >= push.width || y < 0 || y >= push.height) return 0.0;
  return feature_at(own_case.x * push.features + feature - own_case.z * push.width - own_case.y);
}

/// In two roundings, as on the host: a bit depends on the last one of them.
float threshold_of(int input_number) {
  const ivec4 own = inputs[input_number];
  const float fixed_part = intBitsToFloat(own.y);
  if (LEARNS_THRESHOLDS == 0) return fixed_part;
  precise const float offset = parameters[push.logits + input_number] * intBitsToFloat(own.w);
  precise const float threshold = fixed_part + offset;
  return threshold;
}

float mask_of(int input_number) { return intBitsToFloat(inputs[input_number].z); }
