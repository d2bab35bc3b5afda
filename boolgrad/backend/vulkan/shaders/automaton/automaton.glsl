// What all shaders of automata read: sizes, arguments and buffers. The host's side of it is
// `automaton/arguments.h`.

layout(local_size_x_id = 0) in;

// Sizes of the rule, and places in the work memory of a group of threads: rows of four words, one
// for each cell of the tile that the group is at.
layout(constant_id = 1) const int CHANNELS = 1;
layout(constant_id = 2) const int KERNELS = 1;
layout(constant_id = 3) const int TREE_OUTPUTS = 0;  // of kernels that are trees; else 0
layout(constant_id = 4) const int PERCEIVE_LAYERS = 1;
layout(constant_id = 5) const int LAYERS = 2;
layout(constant_id = 6) const int PERCEIVE_GATES = 1;
layout(constant_id = 7) const int GATES = 2;
layout(constant_id = 8) const int OWN_ROW = 4;
layout(constant_id = 9) const int PARAMETRISATION = 0;
layout(constant_id = 10) const int LOSS_KIND = 0;
layout(constant_id = 11) const int PERIODIC = 0;
layout(constant_id = 12) const int WORK_ROWS = 1;
layout(constant_id = 13) const int ACTS_ROWS = 1;    // of a tile, where activations are kept
layout(constant_id = 14) const int EVEN_INPUTS = 0;  // of layers of the update
layout(constant_id = 15) const int ODD_INPUTS = 0;
layout(constant_id = 16) const int PATCH = 0;
layout(constant_id = 17) const int EVEN_PERCEIVED = 0;
layout(constant_id = 18) const int ODD_PERCEIVED = 0;
layout(constant_id = 19) const int EVEN_EDGES = 0;
layout(constant_id = 20) const int ODD_EDGES = 0;
layout(constant_id = 21) const int LEFTOVER = 0;
layout(constant_id = 22) const int STAGING = 0;
layout(constant_id = 23) const int KERNEL_GROUPS = 1;  // that the kernels are dealt to, going back
layout(constant_id = 24) const int EVEN_PERCEIVE_EDGES = 0;
layout(constant_id = 25) const int ODD_PERCEIVE_EDGES = 0;
// Places in the table.
layout(constant_id = 26) const int LAYER_OF = 0;
layout(constant_id = 27) const int REST = 0;
layout(constant_id = 28) const int INPUT_READS = 0;
layout(constant_id = 29) const int PATCH_READS = 0;
layout(constant_id = 30) const int PLACES = 0;
// Layers of the update whose tables a thread fetches at once going forward, and how many layers
// ahead it fetches going back: memory is far, registers are few.
layout(constant_id = 31) const int FETCHED = 1;
layout(constant_id = 32) const int AHEAD = 1;
// Wide layers of the update of which every thread holds a gate, where a dispatch takes all steps.
layout(constant_id = 33) const int HELD = 0;
// Kernel groups whose gradients of patches find room at a time.
layout(constant_id = 34) const int STAGED_GROUPS = 1;
// Where the inputs of wide layers lie for threads to pick theirs, and for how many layers at a
// time.
layout(constant_id = 35) const int STAGE = 0;
layout(constant_id = 36) const int STAGE_ROWS = 0;
layout(constant_id = 37) const int STAGES = 0;
// Whether the loss is that of several states, what tables of a step are hardened by, and whether
// gates that depend on both their inputs are penalised.
layout(constant_id = 38) const int SEVERAL_LOSSES = 0;
layout(constant_id = 39) const int HARDENING = 0;
layout(constant_id = 40) const int PENALISES = 0;

#include "common/parametrisation.glsl"

const int THREADS = int(gl_WorkGroupSize.x);
const int NEIGHBOURHOOD = 9;
// Sums that a gate of perception has: one per channel or, in trees, one for two cells of it.
const int SUM_COLUMNS = (TREE_OUTPUTS > 0 ? 2 : 1) * CHANNELS;
const int SUMS = PERCEIVE_GATES * SUM_COLUMNS + GATES - PERCEIVE_GATES;  // of a group
const int UPDATE_SUMS =
    PERCEIVE_GATES * SUM_COLUMNS - PERCEIVE_GATES;  // before those of the update
const int LOGITS = PARAMETRISATION == SOFTMAX16 ? 16 : 4;
const uint SWAPPED_INPUTS = 0x80000000u;

// What a dispatch is for.
layout(push_constant) uniform Push {
  int step, steps;
  int cells;      // words of them: one per cell, or one for 32 cells in a row
  int all_cells;  // of all samples
  int width, height, grid_cells;
  int first_tile, end_tile;
  int slots;               // groups that take tiles in turn, each with sums of its own
  int from, to, last;      // the states before, after and in the end
  int read_from, read_to;  // gradients of patches
  int kept;                // the first row of the activations of this step; -1: they are not kept
  int begins_sums;
  int loss_channels;
  float gamma;
  int parts;       // of the loss of a state
  int loss_steps;  // last states that have a loss
  int loss_at;     // the first part of a state's loss
  int finish_groups;
}
push;

/// The step that threads are at: the states before and after it, the gradients of patches that come
/// to it and that it sends on, and the first row of the activations that it keeps, or -1.
struct Now {
  int step;
  int from, to;
  int read_from, read_to;
  int kept;
};
Now now;

/// The step of a dispatch that is for one.
Now step_of_dispatch() {
  return Now(push.step, push.from, push.to, push.read_from, push.read_to, push.kept);
}

// What changes from step to step.
layout(std430, binding = 0) readonly buffer Arguments {
  uvec2 seed;  // the low word first
  uint start_stream, fire_stream;
  uint draw;
  uint drawn_cells;                // of all samples that are drawn at once
  uint random_starts;              // else they are in place
  uint fire_mode;                  // 0: all fire; 1: by chance; 2: the buffer says who
  uint fire_always, fire_below;    // a draw below that fires
  uint rounds_states;              // by chance:
  uint round_always, round_below;  // a draw below that rounds
  float gate_penalty;
#include "common/hardening_arguments.glsl"
#include "common/update_arguments.glsl"
}
arguments;

// The wires of gates: rows of the two inputs, of the edges to them, of the edges of the output,
// and the number of a rest or -1; after them the layers: gates, the first gate, the row of the
// inputs among the activations, and the number of inputs.
layout(std430, binding = 1) readonly buffer WiresBuffer { uvec4 wires[]; };
layout(std430, binding = 2) readonly buffer TableBuffer { uint table[]; };

int thread() { return int(gl_LocalInvocationID.x); }
int group() { return int(gl_WorkGroupID.x); }

bool is_finite(float value) { return (floatBitsToUint(value) & 0x7f800000u) != 0x7f800000u; }
bool is_nan(float value) { return (floatBitsToUint(value) & 0x7fffffffu) > 0x7f800000u; }
