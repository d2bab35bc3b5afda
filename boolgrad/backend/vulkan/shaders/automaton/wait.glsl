// A barrier across the workgroups of a dispatch.
//
// Vulkan does not guarantee that a workgroup makes progress while another waits for it: a device
// may hold back workgroups until others have finished. So waiting is bounded: a workgroup that has
// polled often enough gives up and sets a flag, all others follow, and the host falls back to one
// dispatch per step.

layout(std430, binding = 20) coherent volatile buffer Waiting {
  uint arrived;
  uint given_up;
}
waiting;

/// Some tens of milliseconds, at a fraction of a microsecond per poll.
const int MAX_POLLS = 1 << 16;

shared bool goes_on;
uint waits = 0;

bool all_are_here(uint wanted) {
  for (int i = 0; i < MAX_POLLS; ++i) {
    if (waiting.arrived >= wanted) return true;
    if ((i & 63) == 63 && waiting.given_up != 0) return false;
  }
  waiting.given_up = 1;
  return false;
}

/// Workgroup barrier. Coherent buffers written before are visible after.
void sync_buffers() {
  groupMemoryBarrier();
  barrier();
}

/// Waits until all workgroups are here and their writes to coherent buffers are visible. Returns
/// the same value in all threads of a workgroup: false if a workgroup gave up.
bool wait_for_all() {
  ++waits;
  sync_buffers();
  if (thread() == 0) {
    memoryBarrierBuffer();
    atomicAdd(waiting.arrived, 1u);
    goes_on = all_are_here(waits * gl_NumWorkGroups.x);
    memoryBarrierBuffer();
  }
  barrier();
  return goes_on;
}
