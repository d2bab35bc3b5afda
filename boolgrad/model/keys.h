// The keys of experiments: how each one is read, checked and written. Internal: includes toml++.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boolgrad/core/text.h"
#include "boolgrad/model/spec.h"
#include "boolgrad/options/names.h"

namespace boolgrad {

/// A key of a specification of type S.
template <class S>
struct SpecKey {
  std::string path;      ///< `training.steps`
  std::string expected;  ///< `an integer of at least 1`
  /// Stores a value. Returns false if it is not of the expected type or range.
  std::function<bool(S&, const toml::node&)> read;
  /// Returns the value as TOML.
  std::function<std::string(const S&)> write;
};

/// Makes the keys of a specification of type S.
template <class S>
class SpecKeys {
 public:
  /// Returns the field of a specification that holds the value.
  template <class T>
  using Member = T& (*)(S&);

  static constexpr std::int64_t any_size = std::numeric_limits<std::int64_t>::max();

  static SpecKey<S> integer(std::string path, Member<std::int64_t> member, std::int64_t low,
                            std::int64_t high = any_size) {
    return {std::move(path), "an integer " + range_text(low, high),
            [=](S& s, const toml::node& node) { return read_integer(node, low, high, member(s)); },
            [=](const S& s) { return fmt::format("{}", value_of(member, s)); }};
  }

  /// A list of integers. With `or_one`, a single integer means a list of one.
  static SpecKey<S> integers(std::string path, Member<std::vector<std::int64_t>> member,
                             bool or_one, std::int64_t low, std::int64_t high = any_size) {
    const std::string each = range_text(low, high);
    const std::string expected =
        or_one ? "an integer or a list of integers " + each : "a list of integers " + each;
    const auto read = [=](S& s, const toml::node& node) {
      std::vector<std::int64_t> values;
      std::int64_t value = 0;
      if (or_one && node.is_integer()) {
        if (!read_integer(node, low, high, value)) return false;
        values.push_back(value);
      } else {
        if (!node.is_array()) return false;
        for (const toml::node& item : *node.as_array()) {
          if (!read_integer(item, low, high, value)) return false;
          values.push_back(value);
        }
        if (or_one && values.empty()) return false;
      }
      member(s) = std::move(values);
      return true;
    };
    const auto write = [=](const S& s) {
      const auto& values = value_of(member, s);
      if (or_one && values.size() == 1) return fmt::format("{}", values[0]);
      return fmt::format("[{}]", fmt::join(values, ", "));
    };
    return {std::move(path), expected, read, write};
  }

  static SpecKey<S> number(std::string path, Member<double> member, std::string expected,
                           bool (*accepts)(double)) {
    const auto read = [=](S& s, const toml::node& node) {
      if (node.is_integer()) member(s) = static_cast<double>(**node.as_integer());
      else if (node.is_floating_point()) member(s) = **node.as_floating_point();
      else return false;
      return std::isfinite(member(s)) && accepts(member(s));
    };
    return {std::move(path), std::move(expected), read,
            [=](const S& s) { return fmt::format("{}", value_of(member, s)); }};
  }
  static SpecKey<S> positive(std::string path, Member<double> member) {
    return number(std::move(path), member, "a number above 0", [](double x) { return x > 0; });
  }
  static SpecKey<S> non_negative(std::string path, Member<double> member) {
    return number(std::move(path), member, "a number of at least 0",
                  [](double x) { return x >= 0; });
  }
  static SpecKey<S> below_one(std::string path, Member<double> member) {
    return number(std::move(path), member, "a number of at least 0 and below 1",
                  [](double x) { return x >= 0 && x < 1; });
  }
  static SpecKey<S> share(std::string path, Member<double> member) {
    return number(std::move(path), member, "a number from 0 to 1",
                  [](double x) { return x >= 0 && x <= 1; });
  }
  static SpecKey<S> positive_share(std::string path, Member<double> member) {
    return number(std::move(path), member, "a number above 0 and at most 1",
                  [](double x) { return x > 0 && x <= 1; });
  }

  static SpecKey<S> text(std::string path, Member<std::string> member) {
    return {std::move(path), "a string",
            [=](S& s, const toml::node& node) {
              if (!node.is_string()) return false;
              member(s) = **node.as_string();
              return true;
            },
            [=](const S& s) { return quoted(value_of(member, s)); }};
  }

  /// A size such as `200MB`, stored as a string. May be empty.
  static SpecKey<S> memory_size(std::string path, Member<std::string> member) {
    SpecKey<S> key = text(std::move(path), member);
    key.expected = "a size such as \"200MB\", or empty";
    key.read = [member](S& s, const toml::node& node) {
      if (!node.is_string()) return false;
      member(s) = **node.as_string();
      return member(s).empty() || parse_bytes(member(s)).has_value();
    };
    return key;
  }

  static SpecKey<S> flag(std::string path, Member<bool> member) {
    return {std::move(path), "true or false",
            [=](S& s, const toml::node& node) {
              if (!node.is_boolean()) return false;
              member(s) = **node.as_boolean();
              return true;
            },
            [=](const S& s) { return fmt::format("{}", value_of(member, s)); }};
  }

  /// One of `values`, selected by name.
  template <class T>
  static SpecKey<S> choice(std::string path, Member<T> member,
                           std::vector<std::pair<std::string, T>> values) {
    std::vector<std::string> names;
    for (const auto& value : values) names.push_back(value.first);
    const auto read = [=](S& s, const toml::node& node) {
      if (!node.is_string()) return false;
      const auto found =
          std::ranges::find(values, **node.as_string(), &std::pair<std::string, T>::first);
      if (found == values.end()) return false;
      member(s) = found->second;
      return true;
    };
    const auto write = [=](const S& s) {
      const auto found =
          std::ranges::find(values, value_of(member, s), &std::pair<std::string, T>::second);
      return quoted(found->first);
    };
    return {std::move(path), alternatives(names), read, write};
  }

  /// `choice` for an enumeration whose values have a `to_string`.
  template <class T>
  static SpecKey<S> named(std::string path, Member<T> member, const std::vector<T>& values) {
    std::vector<std::pair<std::string, T>> pairs;
    for (const T value : values) pairs.emplace_back(to_string(value), value);
    return choice<T>(std::move(path), member, std::move(pairs));
  }

 private:
  template <class T>
  static const T& value_of(Member<T> member, const S& s) {
    return member(const_cast<S&>(s));  // read only
  }
  static std::string range_text(std::int64_t low, std::int64_t high) {
    if (high == any_size) return fmt::format("of at least {}", low);
    return fmt::format("from {} to {}", low, high);
  }
  static bool read_integer(const toml::node& node, std::int64_t low, std::int64_t high,
                           std::int64_t& value) {
    if (!node.is_integer()) return false;
    value = **node.as_integer();
    return value >= low && value <= high;
  }
  static std::string quoted(const std::string& text) {
    std::ostringstream out;
    out << toml::value<std::string>(text);
    return out.str();
  }
};

// A `Member` for the field `name`; its type is deduced.
#define BOOLGRAD_MEMBER(name) [](auto& s) -> decltype((s.name)) { return s.name; }

// Upper limits of sizes.
inline constexpr std::int64_t max_gates = std::int64_t{1} << 24;
inline constexpr std::int64_t max_channels = std::int64_t{1} << 12;
inline constexpr std::int64_t max_side = std::int64_t{1} << 14;
inline constexpr std::int64_t max_steps = std::numeric_limits<std::uint32_t>::max();

/// The keys of a model's specification.
const std::vector<SpecKey<ModelSpec>>& model_spec_keys();

/// A key that earlier versions knew by another name. The old name is still accepted.
struct RenamedKey {
  std::string_view old_path;
  std::string_view path;
};

/// All renamed keys of experiments and models.
std::span<const RenamedKey> renamed_keys();

/// The present name of a key. Returns `path` itself if it is not an old name.
std::string current_key(std::string_view path);

/// Throws because a key was given under both names.
[[noreturn]] void refuse_both_names(std::string_view path, const std::string& source);

/// A value as it is shown in messages.
std::string text_of(const toml::node& node);

/// Parses TOML. Error messages start with `source`.
toml::table parse_toml(std::string_view text, const std::string& source);

}  // namespace boolgrad
