// Explanations of hardened circuits: which inputs matter, and which decided one answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boolgrad/circuit/netlist.h"
#include "boolgrad/model/model.h"
#include "boolgrad/tensor/tensor.h"

namespace boolgrad {

/// A bit that a circuit reads: an input, or a threshold of a feature.
struct ReadBit {
  std::size_t input = 0;  ///< the feature of a classifier, or the input itself
  std::string condition;  ///< what the bit says if it is 1: `petal_width > 0.8`, `x3`
  std::string opposite;   ///< ... and if it is 0: `petal_width <= 0.8`, `not x3`
  double threshold = 0;   ///< of a feature
  bool is_read = false;   ///< whether an output of the hardened circuit depends on it
  double influence = 0;   ///< the share of samples whose answer changes if the bit is flipped
};

/// How much the answers of a circuit depend on one input or feature.
struct InputInfluence {
  std::string name;
  std::int64_t bits = 0;  ///< thresholds of a feature; 1 for an input of a circuit
  std::int64_t read = 0;  ///< how many of them the circuit depends on
  double influence = 0;   ///< that of its bits, added up
};

struct Influences {
  std::vector<InputInfluence> inputs;
  std::vector<ReadBit> bits;
  std::int64_t samples = 0;

  /// Number of inputs of which the circuit depends on at least one bit.
  std::int64_t read_inputs() const;
};

/// The influences of all bits and inputs on a hardened circuit. For a classifier, `samples` are
/// [samples, features]. Other models are run on all inputs if there are at most 12, else on 4,096
/// random ones, and an answer changes if any output does; `samples` must be undefined.
Influences influences_of(const LoadedModel& loaded, const Tensor& samples = {});

/// A gate whose value follows from the kept inputs.
struct DecidingGate {
  std::string name;
  std::string formula;
  bool value = false;
};

/// Why a circuit gave one answer. The conditions are sufficient: whatever the other inputs are, the
/// answer stays the same. They are not always necessary: a smaller set may exist.
struct Decision {
  std::string answer;                    ///< the class, the value, or the bits of all outputs
  std::vector<std::size_t> kept_bits;    ///< indices into `Influences::bits`
  std::vector<std::string> conditions;   ///< what each of them says of the sample
  std::vector<std::size_t> kept_inputs;  ///< their inputs or features, ascending
  std::vector<DecidingGate> gates;       ///< in topological order
  std::int64_t circuit_gates = 0;        ///< gates of the simplified circuit
};

/// The decision for one sample: [1, features] for a classifier; for other models, the inputs
/// [1, inputs] as numbers of which 0 is false.
///
/// Inputs are freed one after another, the least influential first. The bounds of the features that
/// are left are then moved away from the sample, threshold by threshold. A bit stays free if the
/// answer still follows when all free bits are unknown and unknown values are propagated through
/// the gates.
Decision decision_of(const LoadedModel& loaded, const Influences& influences, const Tensor& sample);

/// The inputs [1, inputs] of a circuit that spell a number in binary, the first input in the lowest
/// bit.
Tensor circuit_inputs(const LoadedModel& loaded, std::int64_t number);

/// Samples to measure influences on: at most 4,096 of those the classifier was trained on, or all
/// of a table if there are fewer.
Tensor samples_to_explain(const LoadedModel& loaded);

/// At most 4,096 of the given samples, evenly spread.
Tensor spread_samples(const Tensor& samples);

}  // namespace boolgrad
