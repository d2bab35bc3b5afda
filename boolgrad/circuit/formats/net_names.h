// Legal identifiers for arbitrary names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace boolgrad::circuit {

/// Hands out unique identifiers: letters, digits and underscores, not beginning with a digit. A
/// name that is a free identifier stays unchanged.
class NetNames {
 public:
  /// `reserved` are keywords of the format. With `keeps_indices`, a number in brackets at the end
  /// of a name stays.
  explicit NetNames(std::vector<std::string> reserved = {}, bool keeps_indices = false)
      : taken_(reserved.begin(), reserved.end()), keeps_indices_(keeps_indices) {}

  /// A unique identifier similar to `wanted`.
  std::string take(std::string_view wanted);
  /// Unique identifiers for a list of names.
  std::vector<std::string> take_all(const std::vector<std::string>& wanted);

 private:
  std::unordered_set<std::string> taken_;
  bool keeps_indices_;
};

/// The name with all characters but letters, digits and underscores replaced by underscores. Never
/// empty, and never with a digit first.
std::string identifier(std::string_view name);

/// A prefix that no name begins with: `stem`, followed by as many underscores as needed.
std::string free_prefix(const std::vector<std::string>& names, std::string stem);

}  // namespace boolgrad::circuit
