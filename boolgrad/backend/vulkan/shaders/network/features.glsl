// Inputs from samples: rows of inputs, or thresholded features of images that may be transformed.

layout(std430, binding = 6) readonly buffer Parameters { float parameters[]; };
layout(std430, binding = 13) readonly buffer Data { uint data[]; };
// One per input: its feature, its threshold, its mask, and the scale of its threshold offset.
layout(std430, binding = 14) readonly buffer Inputs { ivec4 inputs[]; };

#include "network/batch.glsl"

float feature_at(int at) {
  if (arguments.data_kind == FLOATS) return uintBitsToFloat(data[at]);
  return float(data[at >> 2] >> (at & 3) * 8 & 0xffu);
}

/// A pixel of the channel that starts at `channel`, or 0 outside the image.
float pixel_at(int channel, int x, int y) {
  if (x < 0 || x >= arguments.width || y < 0 || y >= arguments.height) return 0.0;
  return feature_at(channel + y * arguments.width + x);
}
int byte_at(int channel, int x, int y) { return int(pixel_at(channel, x, y)); }

/// The value at a position in 16.16 fixed point, as described in `ImageTransform`.
float value_at(int channel, int x, int y) {
  if (arguments.data_kind == FLOATS) {
    const int half_pixel = 1 << 15;
    return pixel_at(channel, (x + half_pixel) >> 16, (y + half_pixel) >> 16);
  }
  const int half_step = 1 << 7;
  const int column = (x + half_step) >> 16;
  const int row = (y + half_step) >> 16;
  const int f = (x + half_step) >> 8 & 0xff;
  const int g = (y + half_step) >> 8 & 0xff;
  const int sum = (256 - f) * (256 - g) * byte_at(channel, column, row) +
                  f * (256 - g) * byte_at(channel, column + 1, row) +
                  (256 - f) * g * byte_at(channel, column, row + 1) +
                  f * g * byte_at(channel, column + 1, row + 1);
  return float((sum + (1 << 15)) >> 16);
}

bool is_cut_out(int number, int x, int y) {
  const int left = batch[number].cut_left;
  const int top = batch[number].cut_top;
  const int side = batch[number].cut_side;
  return x >= left && x < left + side && y >= top && y < top + side;
}

/// The feature of a transformed sample of the batch.
float transformed_feature(int feature, int number) {
  const int x = feature % arguments.width;
  const int y = feature / arguments.width % arguments.height;
  const int channel = batch[number].index * arguments.features + feature - y * arguments.width - x;
  const int u = x - batch[number].right;
  const int v = y - batch[number].down;
  if (arguments.only_shifts == 1) return pixel_at(channel, u, v);
  if (is_cut_out(number, x, y)) return 0.0;
  return value_at(channel,
                  batch[number].x_of_u * u + batch[number].x_of_v * v + batch[number].x_origin,
                  batch[number].y_of_u * u + batch[number].y_of_v * v + batch[number].y_origin);
}

/// In two roundings, as on the host: a bit can depend on the last one.
float threshold_of(int input_number) {
  const ivec4 own = inputs[input_number];
  const float fixed_part = intBitsToFloat(own.y);
  if (LEARNS_THRESHOLDS == 0) return fixed_part;
  precise const float offset =
      parameters[arguments.first_threshold + input_number] * intBitsToFloat(own.w);
  precise const float threshold = fixed_part + offset;
  return threshold;
}

float mask_of(int input_number) { return intBitsToFloat(inputs[input_number].z); }
