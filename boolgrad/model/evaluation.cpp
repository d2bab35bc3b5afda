#include "boolgrad/model/evaluation.h"

#include <algorithm>
#include <bit>

#include "boolgrad/autograd/tape.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/train/learners/problem.h"

namespace boolgrad {
namespace {

// Samples of one soft forward pass: bounds its memory.
constexpr std::int64_t most_samples = 8192;

struct Mistakes {
  std::int64_t bits = 0;
  std::int64_t cases = 0;
};

Mistakes compare(const BitMatrix& received, const BitMatrix& wanted) {
  const auto words = static_cast<std::size_t>(wanted.words_per_feature());
  Mistakes mistakes;
  for (std::size_t word = 0; word < words; ++word) {
    const auto first = static_cast<std::int64_t>(word) * 64;
    const std::int64_t samples = std::min<std::int64_t>(64, wanted.samples - first);
    // Bits past the last sample may hold anything.
    const std::uint64_t used =
        samples == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << samples) - 1;
    std::uint64_t any = 0;
    for (std::size_t f = 0; f < static_cast<std::size_t>(wanted.features); ++f) {
      const std::size_t at = f * words + word;
      const std::uint64_t wrong = (received.words[at] ^ wanted.words[at]) & used;
      mistakes.bits += std::popcount(wrong);
      any |= wrong;
    }
    mistakes.cases += std::popcount(any);
  }
  return mistakes;
}

double share_right(std::int64_t wrong, std::int64_t all) {
  return static_cast<double>(all - wrong) / static_cast<double>(all);
}

}  // namespace

Cases::Cases(const BooleanTask& task, DType dtype)
    : inputs(cast(task.inputs, dtype)),
      targets(cast(task.targets, dtype)),
      input_bits(pack_bits(task.inputs)),
      target_bits(pack_bits(task.targets)) {}

double wrong_bits(const LogicNetwork& network, const Cases& cases) {
  const NoGrad off_the_tape;
  return static_cast<double>(compare(network.hard(cases.input_bits), cases.target_bits).bits);
}

Evaluation evaluate(const LogicNetwork& network, const Cases& cases,
                    const TrainingOptions& training) {
  const NoGrad off_the_tape;
  const std::int64_t count = cases.inputs.shape()[1];
  Evaluation result;
  std::int64_t soft_mistakes = 0;
  for (std::int64_t begin = 0; begin < count; begin += most_samples) {
    const std::int64_t end = std::min(begin + most_samples, count);
    const Tensor y = network.soft(slice(cases.inputs, 1, begin, end));
    const Tensor wanted = slice(cases.targets, 1, begin, end);
    result.soft_loss += loss_of(training, y, wanted).item();
    soft_mistakes += compare(pack_bits(y), pack_bits(wanted)).cases;
  }
  result.soft_accuracy = share_right(soft_mistakes, count);
  const Mistakes hard = compare(network.hard(cases.input_bits), cases.target_bits);
  result.hard_loss = static_cast<double>(hard.bits);
  result.hard_accuracy = share_right(hard.cases, count);
  result.bit_accuracy = share_right(hard.bits, count * cases.target_bits.features);
  return result;
}

}  // namespace boolgrad
