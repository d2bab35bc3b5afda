// Hardened models with one gate changed: how many bits they get wrong.
#pragma once

#include <cstddef>
#include <cstdint>

namespace boolgrad {

class HardTrials {
 public:
  HardTrials() = default;
  virtual ~HardTrials() = default;
  HardTrials(const HardTrials&) = delete;
  HardTrials& operator=(const HardTrials&) = delete;

  /// Bits that the model gets wrong, with the changes that were kept.
  virtual double wrong_bits() const = 0;

  /// The same once a gate of a layer, counted as parameters are, has `table`: bit e of it is the
  /// output for the inputs whose bits make e. The caller has changed the model's parameters so.
  virtual double wrong_bits_with(std::size_t layer, std::int64_t gate, std::uint64_t table) = 0;

  /// Keeps the change that was tried last.
  virtual void keep() = 0;
};

}  // namespace boolgrad
