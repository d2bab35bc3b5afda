// Scores of all samples, with the current parameters on the device.
#include <algorithm>

#include "boolgrad/backend/cuda/network/program.h"
#include "boolgrad/backend/plan/network_evaluation.h"

namespace boolgrad::cuda {
namespace {

// Limit on the activations held during an evaluation, in bytes.
constexpr std::size_t max_activation_bytes = std::size_t{1} << 29;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::size_t words_of(const RowShape& rows) { return (index(rows.samples) + 31) / 32; }

}  // namespace

/// Sized for the largest part.
struct NetworkProgram::EvaluationBuffers {
  std::array<DeviceArray<float>, 2> rows;
  DeviceArray<float> slots;         ///< with learned wires
  DeviceArray<float> scores, sums;  ///< with a head
  std::array<DeviceArray<std::uint32_t>, 2> words;
  DeviceArray<int> counts;  ///< with a head
  DeviceArray<std::uint64_t> tables;

  EvaluationBuffers(const RowShape& whole, const NetworkProgram& program)
      : slots(row_floats(program.max_slots_, whole)),
        scores(row_floats(std::int64_t{program.groups()} * program.parts_, whole)),
        sums(row_floats(program.groups(), whole)),
        counts(index(program.groups()) * words_of(whole) * 32),
        tables(program.tables_) {
    for (auto& buffer : rows) buffer = DeviceArray<float>(row_floats(program.widest_, whole));
    for (auto& buffer : words) {
      buffer = DeviceArray<std::uint32_t>(index(program.widest_layer_) * words_of(whole));
    }
  }
};

/// Expects the inputs in the first buffer. Leaves sums, or the outputs in one of the two buffers.
void NetworkProgram::evaluate_soft(const RowShape& rows, EvaluationBuffers& buffers) {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    compute(stages_[i], {.shape = rows,
                         .x = buffers.rows[i % 2].data(),
                         .slots = buffers.slots.data(),
                         .y = buffers.rows[(i + 1) % 2].data(),
                         .scores = buffers.scores.data(),
                         .winners = nullptr});
  }
  if (!spec_.head) return;
  check(add_score_parts(buffers.scores.data(), groups(), parts_, rows, buffers.sums.data(),
                        stream_.get()),
        "add up outputs");
}

/// The same for bits, before the input rows are overwritten.
void NetworkProgram::evaluate_hard(const RowShape& rows, EvaluationBuffers& buffers) {
  const std::size_t words = words_of(rows);
  check(pack_bits(buffers.rows[0].data(), static_cast<int>(inputs()), index(rows.samples),
                  index(rows.stride), buffers.words[0].data(), words, stream_.get()),
        "pack the inputs");
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    check(hard_layer(layers_[i], buffers.tables.data(), buffers.words[i % 2].data(), words,
                     buffers.words[(i + 1) % 2].data(), stream_.get()),
          "compute a hard layer");
  }
  if (!spec_.head) return;
  check(count_ones(buffers.words[layers_.size() % 2].data(), head_outputs().weights,
                   static_cast<int>(outputs()), groups(), words, buffers.counts.data(),
                   stream_.get()),
        "count ones");
}

NetworkScores NetworkProgram::evaluate(const NetworkData& data, double wire_temperature) {
  const auto samples = static_cast<std::int64_t>(data.samples);
  ScoreCollector scores(spec_, outputs(), samples);
  if (samples == 0) return scores.take();
  ensure_tables(0);
  if (!has_choices_) choose_sources();
  if (wire_logits_ > 0 && spec_.wire_forward == WireForward::soft) {
    StepState& state = *host_state_.data();
    state.wire_scale = static_cast<float>(1 / wire_temperature);
    state_.upload(&state, 1);
    for (const LayerCandidates& own : candidates_) {
      if (own.view.count == 0) continue;
      check(weigh_wires(own.view, state_.data(), stream_.get()), "weigh the wires");
    }
  }
  const std::int64_t batch =
      std::min<std::int64_t>(max_samples, evaluation_batch(samples, std::max(widest_, max_slots_),
                                                           max_activation_bytes, chunk_samples));
  EvaluationBuffers buffers(row_shape(batch), *this);
  expand_tables();
  make_output_weights();
  for (const GateUpdate& pass : passes_) {
    check(harden(update_arguments(pass, false), buffers.tables.data(), stream_.get()),
          "harden the gates");
  }
  const std::size_t last_rows = stages_.size() % 2;
  const std::size_t last_words = layers_.size() % 2;
  const std::int64_t score_count = spec_.score_count(outputs());
  for (std::int64_t first = 0; first < samples; first += batch) {
    const EvaluationPart part{first, std::min(batch, samples - first)};
    const RowShape rows = row_shape(part.count);
    const SampleChoice choice{
        .chosen = nullptr, .transforms = nullptr, .only_shifts = true, .first = index(first)};
    check(gather_samples(sample_inputs(data), choice, rows, buffers.rows[0].data(), stream_.get()),
          "gather samples");
    evaluate_hard(rows, buffers);
    evaluate_soft(rows, buffers);
    stream_.wait();
    std::vector<float> soft(row_floats(score_count, rows));
    (spec_.head ? buffers.sums : buffers.rows[last_rows]).download(soft.data(), soft.size());
    scores.add_soft(part, soft, rows.stride);
    const std::size_t words = words_of(rows);
    if (spec_.head) {
      std::vector<int> counts(index(score_count) * words * 32);
      buffers.counts.download(counts.data(), counts.size());
      scores.add_hard_sums(part, counts, static_cast<std::int64_t>(words * 32));
    } else {
      std::vector<std::uint32_t> bits(index(score_count) * words);
      buffers.words[last_words].download(bits.data(), bits.size());
      scores.add_hard_bits(part, bits, static_cast<std::int64_t>(words));
    }
  }
  return scores.take();
}

}  // namespace boolgrad::cuda
