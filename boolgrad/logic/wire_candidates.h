// Learned wires: candidate sources for every gate input, with a logit for each.
//
// Input j of gate g is slot g * arity + j. A slot has the same number of candidates as all others.
// Training learns the logits; afterwards each slot is wired to its most probable candidate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boolgrad/logic/wiring.h"
#include "boolgrad/options/wire_forward.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

struct CandidateWires;

}  // namespace boolgrad

namespace boolgrad::logic {

/// Candidates of gates that share their tables, as the leaves of a convolution do: such gates share
/// their wire logits, too.
struct CandidateSharing {
  std::int64_t positions = 1;  ///< number of consecutive gates that share logits
  /// Whether the source `inputs` stands for a place outside of the image, which reads 0.
  bool has_outside = false;

  friend bool operator==(const CandidateSharing&, const CandidateSharing&) = default;
};

/// The candidates of one layer. Immutable.
class WireCandidates {
 public:
  /// `sources` is int32 [gates, arity, count]. Throws if a source is not below `inputs`, or occurs
  /// twice in a slot.
  WireCandidates(std::int64_t inputs, const Tensor& sources, const CandidateSharing& sharing = {});
  /// Every input is a candidate of every slot. Takes no memory per candidate.
  WireCandidates(std::int64_t inputs, std::int64_t gates, int arity);
  WireCandidates(const WireCandidates&) = delete;
  WireCandidates& operator=(const WireCandidates&) = delete;
  ~WireCandidates();

  /// Number of inputs of the layer.
  std::int64_t inputs() const { return inputs_; }
  /// Number of gates.
  std::int64_t gates() const { return gates_; }
  /// Number of inputs per gate.
  int arity() const { return arity_; }
  /// Number of gate inputs.
  std::int64_t slots() const { return gates_ * arity_; }
  /// Candidates per slot.
  std::int64_t count() const { return count_; }
  /// Whether candidate k of every slot is input k.
  bool has_all() const { return !sources_.defined(); }

  /// Which gates share logits.
  const CandidateSharing& sharing() const { return sharing_; }
  /// Number of slots with logits of their own.
  std::int64_t logit_slots() const { return slots() / sharing_.positions; }
  /// The shape of the logits: [gates / positions, arity, count].
  Shape shape() const { return {gates_ / sharing_.positions, arity_, count_}; }
  /// The sources [gates, arity, count]. Undefined if every input is a candidate.
  const Tensor& sources() const { return sources_; }
  /// Candidate `k` of `slot`.
  std::int32_t source(std::int64_t slot, std::int64_t k) const;

  /// A view for kernels, valid as long as the candidates exist.
  CandidateWires view() const;
  /// The wiring by which gates read their slots: slot s is read by gate s / arity.
  const WiringPtr& slot_wiring() const { return slot_wiring_; }

 private:
  /// Number of rows that slots read: inputs, and one of zeros for places outside.
  std::int64_t rows() const { return inputs_ + (sharing_.has_outside ? 1 : 0); }
  void list_uses();
  void check_different() const;

  std::int64_t inputs_;
  std::int64_t gates_;
  int arity_;
  std::int64_t count_;
  CandidateSharing sharing_;
  Tensor sources_;
  std::vector<std::int32_t> first_use_;
  std::vector<std::int32_t> uses_;
  WiringPtr slot_wiring_;
};

/// Shared, immutable candidates.
using CandidatesPtr = std::shared_ptr<const WireCandidates>;

/// `count` different random inputs per slot; all inputs if `count` is their number. Throws if there
/// are fewer inputs.
CandidatesPtr random_candidates(const WiringSize& size, std::int64_t count, std::uint64_t seed,
                                std::uint32_t layer);

/// Candidates from a window of an image, as in `window_wiring`. A window with fewer than `count`
/// inputs grows until it has enough.
CandidatesPtr window_candidates(const WiringSize& size, std::int64_t count,
                                std::span<const ImagePosition> positions, std::int64_t window,
                                std::uint64_t seed, std::uint32_t layer);

/// Normally distributed logits of the shape of the candidates.
Tensor initial_wire_logits(const WireCandidates& candidates, DType dtype, double strength,
                           std::uint64_t seed, std::uint32_t layer);

/// The index of the most probable candidate of every slot with logits of its own, the first one on
/// a tie.
std::vector<std::int32_t> best_candidates(const WireCandidates& candidates, const Tensor& logits);

/// The source of the most probable candidate of every slot; the number of inputs if it is outside.
std::vector<std::int32_t> best_sources(const WireCandidates& candidates, const Tensor& logits);

/// The wiring to the most probable candidates.
WiringPtr best_wiring(const WireCandidates& candidates, const Tensor& logits);

/// The values of all slots [slots, samples] from inputs [inputs, samples]. The gradient of the
/// logits is that of the mixture softmax(logits / temperature) for both kinds of forward pass. With
/// `hard`, the gradient of x flows to the chosen candidates only.
Tensor select_wires(const Tensor& x, const Tensor& logits, const CandidatesPtr& candidates,
                    WireForward forward, double temperature = 1);

/// The soft `select_wires` composed of plain ops: the reference for tests.
Tensor select_wires_reference(const Tensor& x, const Tensor& logits,
                              const WireCandidates& candidates, double temperature = 1);

/// When the candidates of a slot are replaced.
struct RedrawOptions {
  double keep_above = 0.95;   ///< settled: keep the best candidate, redraw the others
  double redraw_below = 0.4;  ///< undecided: redraw all
  double strength = 1;        ///< standard deviation of the logits of a slot redrawn as a whole
  double temperature = 1;     ///< divides the logits
};

/// New candidates, and logits to go with them.
struct RedrawnCandidates {
  CandidatesPtr candidates;
  Tensor logits;
  Tensor is_new;  ///< uint8, of the shape of the logits: 1 where moments must be reset
};

/// Replaces candidates of slots whose best probability is at least `keep_above` or below
/// `redraw_below`. The other candidates of a settled slot are replaced by random inputs, with
/// logits that leave the probability of the best one at `keep_above`. Layers in which every input
/// is a candidate, and those that share logits, are returned unchanged. `step` distinguishes
/// repeated calls.
RedrawnCandidates redraw_candidates(const CandidatesPtr& candidates, const Tensor& logits,
                                    const RedrawOptions& options, std::uint64_t seed,
                                    std::uint32_t layer, std::uint32_t step);

/// Replaces the share `share` of the candidates of every slot, the least probable ones, by the
/// sources whose larger weight would reduce the loss most. `inputs` [inputs, samples] and
/// `slot_gradients` [slots, samples] are those of one batch, as from `DeviceNetwork::wire_signals`.
/// New candidates start with the smallest logit that is kept. Layers that share logits are returned
/// unchanged.
RedrawnCandidates regrow_candidates(const CandidatesPtr& candidates, const Tensor& logits,
                                    const Tensor& inputs, const Tensor& slot_gradients,
                                    double share);

/// Sets the elements of `tensor` to 0 where `where`, uint8 of the same shape, is 1.
void clear_where(const Tensor& where, Tensor& tensor);

}  // namespace boolgrad::logic
