// Optimal implementations of all functions of four variables, as trees of AND and XOR gates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace boolgrad::circuit {

/// A function of four variables: bit i is its value where variable j is bit j of i.
using SmallTruth = std::uint16_t;

/// The truth tables of the variables.
inline constexpr SmallTruth small_variables[] = {0xAAAA, 0xCCCC, 0xF0F0, 0xFF00};

/// The root of an implementation: g AND h or g XOR h, possibly complemented.
struct Implementation {
  SmallTruth g = 0;
  SmallTruth h = 0;
  bool exclusive = false;
  bool complemented = false;

  friend bool operator==(const Implementation&, const Implementation&) = default;
};

/// A table of optimal implementations, where complements are free. Functions are enumerated by
/// increasing cost, one representative per NPN class.
class OptimalImplementations {
 public:
  /// The table, computed at the first call in a fraction of a second.
  static const OptimalImplementations& get();

  /// The number of gates of an optimal tree.
  int cost(SmallTruth f) const { return costs_[index_of(f)]; }
  /// Up to four optimal implementations of f. None for constants and variables.
  std::span<const Implementation> implementations(SmallTruth f) const {
    return implementations_[index_of(f)];
  }
  /// Whether f is stored as its complement: the table holds the one of the two that is 0 where all
  /// variables are 0.
  static bool is_complemented(SmallTruth f) { return (f & 1) != 0; }

 private:
  OptimalImplementations();

  static std::size_t index_of(SmallTruth f) {
    return static_cast<SmallTruth>(is_complemented(f) ? ~f : f) >> 1;
  }
  void find_of_cost(int cost, std::vector<std::vector<SmallTruth>>& representatives,
                    std::vector<std::vector<SmallTruth>>& all);
  bool add(SmallTruth f, const Implementation& candidate, int cost, std::vector<SmallTruth>& all);

  std::vector<std::int8_t> costs_;
  std::vector<std::vector<Implementation>> implementations_;
};

}  // namespace boolgrad::circuit
