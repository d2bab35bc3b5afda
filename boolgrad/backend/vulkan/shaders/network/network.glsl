// What all shaders of gate networks read: sizes, arguments and buffers. The host's side of it is
// `network/arguments.h`.
//
// Activations are rows of samples, four a vector: first those of the inputs, then those of all
// layers. What lies between the last sample and the end of its vector is computed like a sample
// whose inputs and gradients are 0.

layout(local_size_x_id = 0) in;

layout(constant_id = 1) const int ARITY = 2;
layout(constant_id = 2) const int PARAMETRISATION = 0;
layout(constant_id = 3) const int LOSS_KIND = 0;
layout(constant_id = 4) const int LANES = 32;    // threads that share a gate, where they add up
layout(constant_id = 5) const int SUBGROUP = 1;  // threads that exchange values directly
layout(constant_id = 6) const int HEAD_KIND = 0;
layout(constant_id = 7) const int HARDENING = 0;
layout(constant_id = 8) const int LEARNS_THRESHOLDS = 0;

#include "common/parametrisation.glsl"

const int THREADS = int(gl_WorkGroupSize.x);
const int ENTRIES = 1 << ARITY;
// Polynomials lie in vectors of four coefficients, 1, a, b and ab of the first two inputs.
const int QUADS = ARITY > 2 ? 1 << (ARITY - 2) : 1;

// As `DataKind`.
const int ROWS = 0, BYTES = 1, FLOATS = 2;

// What a dispatch is for.
layout(push_constant) uniform Push {
  int first;                                       // of its workgroups
  int samples, vectors;                            // of a row
  int inputs, gates;                               // of the layer
  int in_row, out_row;                             // the first rows of its inputs and outputs
  int sources, first_reader, readers;              // offsets of its wires
  int layer, first_gate, first_quad, first_logit;  // its number, and where it begins
  int gates_per_row;                               // that share a row of gradients
  int chunks, chunk_vectors;                       // that sums are made of
  int quads;                                       // of all layers
  float factor;                                    // of its gradients
  int cases;
  int data_kind, features, height, width;
  int groups, group_parts;           // of outputs that a head sums
  int score_set;                     // of soft outputs 0, of hard ones 1
  int first_part, loss_part, parts;  // offsets of what finish and loss say
  int all_gates, logits;             // of all layers
}
push;

layout(std430, binding = 0) readonly buffer Arguments {
  float gamma;                      // of the focal loss
  float score_offset, score_scale;  // (sum - offset) * scale is a score
  float smoothing;                  // of labels
  float mean;                       // what losses of a head are multiplied by
  float low, target_scale;          // (value - low) * scale is the target of a regression
  float width_share;                // of learned thresholds
  int parameters, second_moments;   // their number, and where second moments begin
#include "common/hardening_arguments.glsl"
#include "common/update_arguments.glsl"
}
arguments;

int thread() { return int(gl_LocalInvocationID.x); }
int group() { return push.first + int(gl_WorkGroupID.x); }
int item() { return group() * THREADS + thread(); }

bool is_finite(float value) { return (floatBitsToUint(value) & 0x7f800000u) != 0x7f800000u; }
bool is_nan(float value) { return (floatBitsToUint(value) & 0x7fffffffu) > 0x7f800000u; }
