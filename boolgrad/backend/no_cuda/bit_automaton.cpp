// Replaces `backend/cuda` in builds without it.
#include "boolgrad/backend/cuda/bits/bit_automaton.h"

#include "boolgrad/backend/no_cuda/refuse.h"

namespace boolgrad::cuda {

struct BitAutomaton::State {};

BitAutomaton::BitAutomaton(const BitProgramView& /*program*/, const BitShape& /*shape*/,
                           BitExecution /*execution*/, int /*device*/) {
  refuse();
}
BitAutomaton::~BitAutomaton() = default;
void BitAutomaton::upload(std::span<const std::uint64_t> /*words*/) { refuse(); }
void BitAutomaton::download(std::span<std::uint64_t> /*words*/) const { refuse(); }
void BitAutomaton::step_all(std::int64_t /*count*/) { refuse(); }
void BitAutomaton::step_some(const BitFire& /*fire*/) { refuse(); }
void BitAutomaton::clear(std::int64_t /*top*/, std::int64_t /*left*/, std::int64_t /*height*/,
                         std::int64_t /*width*/) {
  refuse();
}
void BitAutomaton::wait() const { refuse(); }
double BitAutomaton::milliseconds(int /*count*/) { refuse(); }
bool BitAutomaton::compiled() const { refuse(); }

std::unique_ptr<DeviceBitAutomaton> make_bit_automaton(int /*index*/,
                                                       const BitProgramView& /*program*/,
                                                       const BitShape& /*shape*/) {
  refuse();
}

}  // namespace boolgrad::cuda
