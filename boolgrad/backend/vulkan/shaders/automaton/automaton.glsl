// Sizes, arguments and buffers of the automaton shaders. Must match `automaton/arguments.h`.

layout(local_size_x_id = 0) in;

// Sizes of the rule, and row offsets in the work memory of a workgroup. A row has four words, one
// per cell of the current tile.
layout(constant_id = 1) const int CHANNELS = 1;
layout(constant_id = 2) const int KERNELS = 1;
layout(constant_id = 3) const int TREE_OUTPUTS = 0;  // 0 if kernels are not trees
layout(constant_id = 4) const int PERCEIVE_LAYERS = 1;
layout(constant_id = 5) const int LAYERS = 2;
layout(constant_id = 6) const int PERCEIVE_GATES = 1;
layout(constant_id = 7) const int GATES = 2;
layout(constant_id = 8) const int OWN_ROW = 4;
layout(constant_id = 9) const int PARAMETRISATION = 0;
layout(constant_id = 10) const int LOSS_KIND = 0;
layout(constant_id = 11) const int PERIODIC = 0;
layout(constant_id = 12) const int WORK_ROWS = 1;
layout(constant_id = 13) const int ACTS_ROWS = 1;    // rows per tile, if activations are kept
layout(constant_id = 14) const int EVEN_INPUTS = 0;  // for layers of the update
layout(constant_id = 15) const int ODD_INPUTS = 0;
layout(constant_id = 16) const int PATCH = 0;
layout(constant_id = 17) const int EVEN_PERCEIVED = 0;
layout(constant_id = 18) const int ODD_PERCEIVED = 0;
layout(constant_id = 19) const int EVEN_EDGES = 0;
layout(constant_id = 20) const int ODD_EDGES = 0;
layout(constant_id = 21) const int LEFTOVER = 0;
layout(constant_id = 22) const int STAGING = 0;
layout(constant_id = 23) const int KERNEL_GROUPS = 1;  // groups of kernels in the backward pass
layout(constant_id = 24) const int EVEN_PERCEIVE_EDGES = 0;
layout(constant_id = 25) const int ODD_PERCEIVE_EDGES = 0;
// Offsets in the table.
layout(constant_id = 26) const int LAYER_OF = 0;
layout(constant_id = 27) const int REST = 0;
layout(constant_id = 28) const int INPUT_READS = 0;
layout(constant_id = 29) const int PATCH_READS = 0;
layout(constant_id = 30) const int POSITIONS = 0;
// Layers of the update whose tables each thread prefetches at once in the forward pass, and how
// many layers ahead it prefetches in the backward pass. A trade-off between memory latency and
// registers.
layout(constant_id = 31) const int FETCHED = 1;
layout(constant_id = 32) const int AHEAD = 1;
// Wide layers of the update of which each thread holds one gate, if one dispatch takes all steps.
layout(constant_id = 33) const int HELD = 0;
// Kernel groups whose patch gradients are staged at the same time.
layout(constant_id = 34) const int STAGED_GROUPS = 1;
// Staging buffer for the inputs of wide layers, and how many layers it holds at a time.
layout(constant_id = 35) const int STAGE = 0;
layout(constant_id = 36) const int STAGE_ROWS = 0;
layout(constant_id = 37) const int STAGES = 0;
// Whether the loss covers several states, how the tables of a step are hardened, and whether gates
// are penalised for depending on both inputs.
layout(constant_id = 38) const int SEVERAL_LOSSES = 0;
layout(constant_id = 39) const int HARDENING = 0;
layout(constant_id = 40) const int PENALISES = 0;

#include "common/parametrisation.glsl"

const int THREADS = int(gl_WorkGroupSize.x);
const int NEIGHBOURHOOD = 9;
// Sums per gate of perception: one per channel or, for trees, one per two cells of a channel.
const int SUM_COLUMNS = (TREE_OUTPUTS > 0 ? 2 : 1) * CHANNELS;
const int SUMS = PERCEIVE_GATES * SUM_COLUMNS + GATES - PERCEIVE_GATES;  // sums per workgroup
const int UPDATE_SUMS =
    PERCEIVE_GATES * SUM_COLUMNS - PERCEIVE_GATES;  // offset to the sums of the update
const int LOGITS = PARAMETRISATION == SOFTMAX16 ? 16 : 4;
const uint SWAPPED_INPUTS = 0x80000000u;

// Push constants of a dispatch.
layout(push_constant) uniform Push {
  int step, steps;
  int cells;      // words: one per cell, or one per 32 consecutive cells
  int all_cells;  // of all samples
  int width, height, grid_cells;
  int first_tile, end_tile;
  int slots;               // workgroups that take tiles in turn, each with its own sums
  int from, to, last;      // offsets of the states before, after, and of the last
  int read_from, read_to;  // gradients of patches
  int kept;                // first row of the kept activations of this step; -1: not kept
  int begins_sums;
  int loss_channels;
  float gamma;
  int parts;       // partial losses per state
  int loss_steps;  // number of final states with a loss
  int loss_at;     // offset of the partial losses of a state
  int finish_groups;
}
push;

/// The current step: offsets of the states before and after it, of the patch gradients that it
/// reads and writes, and the first row of its kept activations, or -1.
struct Now {
  int step;
  int from, to;
  int read_from, read_to;
  int kept;
};
Now now;

/// The step of a dispatch that takes only one.
Now step_of_dispatch() {
  return Now(push.step, push.from, push.to, push.read_from, push.read_to, push.kept);
}

// Arguments that change from step to step.
layout(std430, binding = 0) readonly buffer Arguments {
  uvec2 seed;  // the low word first
  uint start_stream, fire_stream;
  uint draw;
  uint sampled_cells;              // of all samples that share the random streams
  uint random_starts;              // else the start states are already in the buffer
  uint fire_mode;                  // 0: all cells fire; 1: at random; 2: as given in the buffer
  uint fire_always, fire_below;    // a cell fires if its random bits are less than this
  uint rounds_states;              // at random:
  uint round_always, round_below;  // a cell is rounded if its random bits are less than this
  float gate_penalty;
#include "common/hardening_arguments.glsl"
#include "common/update_arguments.glsl"
}
arguments;

// Wires of the gates: rows of the two inputs, of the edges to them, of the edges of the output, and
// the index of a rest or -1. Then the layers: number of gates, first gate, row of the inputs among
// the activations, and number of inputs.
layout(std430, binding = 1) readonly buffer WiresBuffer { uvec4 wires[]; };
layout(std430, binding = 2) readonly buffer TableBuffer { uint table[]; };

int thread() { return int(gl_LocalInvocationID.x); }
int group() { return int(gl_WorkGroupID.x); }

bool is_finite(float value) { return (floatBitsToUint(value) & 0x7f800000u) != 0x7f800000u; }
bool is_nan(float value) { return (floatBitsToUint(value) & 0x7fffffffu) > 0x7f800000u; }
