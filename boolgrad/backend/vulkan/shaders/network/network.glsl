// Sizes, arguments and buffers of the shaders for gate networks. Must match `network/arguments.h`.
//
// Activations are rows of samples, four per vector: first those of the inputs, then those of all
// layers, each after the slots of its learned wires. The padding after the last sample is computed
// like a sample whose inputs and gradients are 0.

layout(local_size_x_id = 0) in;

layout(constant_id = 1) const int ARITY = 2;
layout(constant_id = 2) const int PARAMETRISATION = 0;
layout(constant_id = 3) const int LOSS_KIND = 0;
layout(constant_id = 4) const int LANES = 32;    // threads per gate or slot in reductions
layout(constant_id = 5) const int SUBGROUP = 1;  // subgroup size
layout(constant_id = 6) const int HEAD_KIND = 0;
layout(constant_id = 7) const int HARDENING = 0;
layout(constant_id = 8) const int LEARNS_THRESHOLDS = 0;
layout(constant_id = 9) const int MIXES_WIRES = 0;
layout(constant_id = 10) const int WEIGHS_OUTPUTS = 0;
layout(constant_id = 11) const int SHARES_TABLES = 0;  // or a gate reads a place outside
layout(constant_id = 12) const int LEVELS = 1;         // of trees of gates

#include "common/parametrisation.glsl"

const int THREADS = int(gl_WorkGroupSize.x);
const int ENTRIES = 1 << ARITY;
// Polynomials are stored in vectors of four coefficients: 1, a, b and ab of the first two inputs.
const int QUADS = ARITY > 2 ? 1 << (ARITY - 2) : 1;

// Must match `DataKind`.
const int ROWS = 0, BYTES = 1, FLOATS = 2;

// Push constants of a dispatch.
layout(push_constant) uniform Push {
  int first;                                        // first workgroup
  int samples, vectors;                             // of a row
  int inputs, gates, tables;                        // of the layer
  int positions;                                    // consecutive gates that share a table
  int in_row, out_row;                              // first rows of its inputs and outputs
  int sources, first_reader, readers;               // offsets of its wires
  int layer, first_table, first_quad, first_logit;  // its index, and its offsets
  int first_sum;                                    // offset of the sums of its coefficients
  int chunks, chunk_vectors;                        // of these sums
  int gates_per_row;                                // outputs that share a row of gradients
  float factor;                                     // scale of its gradients
  int groups, group_parts;                          // of outputs that a head sums
  int score_set;                                    // 0: soft outputs, 1: hard outputs
  int first_part, loss_part, parts;  // offsets of the partial results of finish and loss
  int all_tables;                    // of all layers
  int candidates;                    // per slot of learned wires
  int first_section;                 // offset of the sections of trees
}
push;

layout(std430, binding = 0) readonly buffer Arguments {
  float gamma;                     // of the focal loss
  float score_scale;               // from group sums to logits: see `head.glsl`
  float smoothing;                 // label smoothing
  float mean;                      // scale of the losses of a head
  float low, target_scale;         // regression target = (value - low) * scale
  float width_share;               // width of the sigmoid of trained thresholds, relative to the
                                   // range
  float wire_scale;                // of the logits of learned wires: 1 / temperature
  float teacher_weight;            // of soft targets; 0: there are none
  float max_exponent;              // of trained weights of outputs; 0: they are not trained
  int parameters, second_moments;  // number of parameters, and offset of the second moments
  int first_threshold;             // offset of the trained threshold offsets
  int first_exponent;              // offset of the trained exponents of weights
  int only_shifts;                 // whether all transforms of images are shifts
  int cases;                       // samples of the data
  int data_kind, features, height, width;
#include "common/hardening_arguments.glsl"
#include "common/update_arguments.glsl"
}
arguments;

int thread() { return int(gl_LocalInvocationID.x); }
int group() { return push.first + int(gl_WorkGroupID.x); }
int item() { return group() * THREADS + thread(); }

bool is_finite(float value) { return (floatBitsToUint(value) & 0x7f800000u) != 0x7f800000u; }
bool is_nan(float value) { return (floatBitsToUint(value) & 0x7fffffffu) > 0x7f800000u; }
