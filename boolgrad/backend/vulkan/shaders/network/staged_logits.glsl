// Sixteen logits per thread, staged in shared memory, so that global accesses are coalesced while
// each thread works on its own row. Include before `gates.glsl`, which then reads logits from here.

const int STAGED_ROW = 17;  // padded, so that rows begin on different banks
shared float staged[THREADS * STAGED_ROW];

#define LOGIT(at) staged[at]

int staged_row() { return thread() * STAGED_ROW; }
int staged_at(int i) { return i / 16 * STAGED_ROW + i % 16; }

/// Stages the logits of a step from value `first` of the layer on, at most `count`.
void stage_logits(int first, int count) {
  for (int i = thread(); i < THREADS * 16; i += THREADS) {
    float logit = 0.0;
    if (i < count) {
      logit = step_logit(parameters[push.first_logit + first + i], push.layer, first + i);
    }
    staged[staged_at(i)] = logit;
  }
  barrier();
}
