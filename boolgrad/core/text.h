// Text helpers for user input and messages.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace boolgrad {

/// The name closest to `received` by edit distance, if at most half of its letters differ.
std::optional<std::string> nearest_name(std::string_view received,
                                        std::span<const std::string> names);

/// Joins names as in `a, b or c`.
std::string alternatives(std::span<const std::string> names);

/// The longest prefix of at most `max_bytes` bytes that does not split a UTF-8 character.
std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes);

/// `text`, safe to print on a terminal: control characters become `?`, bytes that are not UTF-8
/// become `\xE9`, and what is longer than `max_bytes` is cut.
std::string printable(std::string_view text, std::size_t max_bytes = 300);

/// The first byte that is not UTF-8; none if all is.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

/// `text` in lines of at most `columns` characters, broken at spaces. Lines after the first are
/// indented by two spaces. Longer words are not broken.
std::string wrapped(std::string_view text, std::size_t columns);

/// `text`, which is UTF-8, as the name of a file or folder: path separators, control characters and
/// characters that change the direction of text become `-`, as does a dot at the start. At most 100
/// bytes; `unnamed` if nothing is left.
std::string file_name_of(std::string_view text);

/// Parses a size in bytes such as `200MB`, `1.5 GiB` or `4096`: powers of 1000 for kB, MB, GB and
/// TB, of 1024 for KiB, MiB, GiB and TiB. Empty if `text` is not a size.
std::optional<std::size_t> parse_bytes(std::string_view text);

/// Formats a size in bytes: `456 kB`, `188 MB`, `2.1 GB`.
std::string bytes_text(std::size_t bytes);

}  // namespace boolgrad
