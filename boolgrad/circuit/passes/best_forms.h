// Every function of four variables in as few gates as a tree of them can do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace boolgrad {

/// A function of four variables: bit i is its value where variable j is bit j of i.
using SmallTruth = std::uint16_t;

inline constexpr SmallTruth small_variables[] = {0xAAAA, 0xCCCC, 0xF0F0, 0xFF00};

/// g AND h or g XOR h, complemented or not.
struct Form {
  SmallTruth g = 0;
  SmallTruth h = 0;
  bool exclusive = false;
  bool complemented = false;

  friend bool operator==(const Form&, const Form&) = default;
};

/// The best forms of all functions, where complements cost nothing. Found by number of gates, each
/// class of functions that differ in names and complements of variables once.
class BestForms {
 public:
  /// Made at the first call, in a fraction of a second.
  static const BestForms& get();

  /// Gates of the best tree.
  int cost(SmallTruth f) const { return costs_[index_of(f)]; }
  /// A few ways to end in f that all cost as much; none for constants and variables.
  std::span<const Form> forms(SmallTruth f) const { return forms_[index_of(f)]; }
  /// The forms are those of the one of f and its complement that is 0 where all variables are.
  static bool is_complemented(SmallTruth f) { return (f & 1) != 0; }

 private:
  BestForms();

  static std::size_t index_of(SmallTruth f) {
    return static_cast<SmallTruth>(is_complemented(f) ? ~f : f) >> 1;
  }
  void find_of_cost(int cost, std::vector<std::vector<SmallTruth>>& representatives,
                    std::vector<std::vector<SmallTruth>>& all);
  bool add(SmallTruth f, const Form& form, int cost, std::vector<SmallTruth>& all);

  std::vector<std::int8_t> costs_;
  std::vector<std::vector<Form>> forms_;
};

}  // namespace boolgrad
