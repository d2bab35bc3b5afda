// How the groups of a dispatch wait for one another.
//
// Vulkan does not promise that a group makes progress while another waits for it: a device may hold
// back groups until others end. So no group waits for ever: one that has asked often enough gives
// up and says so, all others follow, and the host takes the steps one dispatch at a time.

layout(std430, binding = 20) coherent volatile buffer Waiting {
  uint arrived;
  uint given_up;
}
waiting;

/// Some tens of milliseconds, where asking takes part of a microsecond.
const int MAX_QUESTIONS = 1 << 16;

shared bool goes_on;
uint waits = 0;

bool all_are_here(uint wanted) {
  for (int i = 0; i < MAX_QUESTIONS; ++i) {
    if (waiting.arrived >= wanted) return true;
    if ((i & 63) == 63 && waiting.given_up != 0) return false;
  }
  waiting.given_up = 1;
  return false;
}

/// Threads of the group go on when all are here, and see what all wrote to coherent buffers.
void sync_buffers() {
  groupMemoryBarrier();
  barrier();
}

/// Until all groups are here, and what they wrote to coherent buffers is seen; the same answer for
/// all threads of a group: false where somebody gave up.
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
