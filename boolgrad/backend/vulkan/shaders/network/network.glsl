// What all shaders of gate networks read: sizes, numbers and buffers. The host's side of it is
// `network_code.h`.
//
// Activations are rows of samples, four a vector: first those of the inputs, then those of all
// layers. What lies between the last sample and the end of its vector is computed like a sample
// whose inputs and gradients are 0.

layout(local_size_x_id = 0) in;

layout(constant_id = 1) const int ARITY = 2;
layout(constant_id = 2) const int TABLES = 0;
layout(constant_id = 3) const int LOSS_FORM = 0;
layout(constant_id = 4) const int LANES = 32;    // threads that share a gate, where they add up
layout(constant_id = 5) const int SUBGROUP = 1;  // threads that exchange values directly

const int THREADS = int(gl_WorkGroupSize.x);
const int SOFTMAX = TABLES == 0 ? 1 : 0;
const int WALSH = TABLES == 2 ? 1 : 0;
const int ENTRIES = 1 << ARITY;
// Polynomials lie in vectors of four coefficients, 1, a, b and ab of the first two inputs.
const int QUADS = ARITY > 2 ? 1 << (ARITY - 2) : 1;

// Where data come from: rows of cases, or bits of features that are bytes or numbers.
const int ROWS = 0, BYTES = 1, NUMBERS = 2;

// What a dispatch is for.
layout(push_constant) uniform Push {
  int first;                                // of its groups
  int samples, vectors;                     // of a row
  int inputs, gates;                        // of the layer
  int in_row, out_row;                      // the first rows of its inputs and of its outputs
  int sources, first_reader, readers;       // places of its wires
  int first_gate, first_quad, first_logit;  // of all layers'
  int gates_a_row;                          // that share a row of gradients
  int wants_gradients;                      // of the loss
  int chunks, chunk_vectors;                // that sums are made of
  int quads;                                // of all layers
  float factor;                             // of its gradients
  int cases;
  int data_form, features, height, width;
  int classes, class_parts;
  int first_part, loss_part, parts;  // places of what finish and loss say
  int logits;
  int table_words;  // of the hardened gates, before the rows of bits
}
push;

// What changes from run to run.
layout(std430, binding = 0) readonly buffer Numbers {
  float share;        // how hard tables are
  float gamma;        // of the focal loss
  float score_scale;  // what sums are multiplied by to be scores
  float smoothing;    // of labels
  float mean;         // what losses of classes are multiplied by
  // AdamW and what is done to gradients before.
  float beta1, beta2, rest1, rest2, scale, rate, keep, epsilon, clip_value, clip_norm, noise;
  uint noise_seed_low, noise_seed_high, noise_step;
}
numbers;

int thread() { return int(gl_LocalInvocationID.x); }
int group() { return push.first + int(gl_WorkGroupID.x); }
int item() { return group() * THREADS + thread(); }

bool is_finite(float value) { return (floatBitsToUint(value) & 0x7f800000u) != 0x7f800000u; }
bool is_nan(float value) { return (floatBitsToUint(value) & 0x7fffffffu) > 0x7f800000u; }
