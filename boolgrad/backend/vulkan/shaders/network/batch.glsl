// The samples of a batch. Must match `BatchSample` of `network/arguments.h`.

struct BatchSample {
  int index;  // in the data
  // Its transform, if it is an image: see `options/image_transform.h`.
  int right, down;
  int x_of_u, x_of_v, x_origin;
  int y_of_u, y_of_v, y_origin;
  int cut_left, cut_top, cut_side;
};
layout(std430, binding = 15) readonly buffer Batch { BatchSample batch[]; };
