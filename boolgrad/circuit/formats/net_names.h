// Names that a format allows, for names that may be anything.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace boolgrad {

/// Hands out names of letters, digits and underscores that do not begin with a digit, no two the
/// same. A name that is such a one already and free stays as it is.
class NetNames {
 public:
  /// `reserved` are words of the format, which are no names.
  explicit NetNames(std::vector<std::string> reserved = {})
      : taken_(reserved.begin(), reserved.end()) {}

  std::string take(std::string_view wanted);
  std::vector<std::string> take_all(const std::vector<std::string>& wanted);

 private:
  std::unordered_set<std::string> taken_;
};

/// The name with every character but letters, digits and underscores replaced by one, and never
/// empty or with a digit first.
std::string identifier(std::string_view name);

/// `stem`, followed by as many underscores as it takes for no name to begin with it.
std::string free_prefix(const std::vector<std::string>& names, std::string stem);

}  // namespace boolgrad
