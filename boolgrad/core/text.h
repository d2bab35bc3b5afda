// Small helpers for what is read from people and shown to them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace boolgrad {

/// The one of `names` that takes the fewest changed, inserted or left-out letters to become, where
/// it takes no more than half of its letters.
std::optional<std::string> nearest_name(std::string_view received,
                                        std::span<const std::string> names);

/// `a, b or c`.
std::string alternatives(std::span<const std::string> names);

/// The beginning of a text in at most so many bytes, without half of a UTF-8 character at its end.
std::string_view beginning(std::string_view text, std::size_t most);

/// `text` on one line, fit for a terminal whatever file it came from.
std::string printable(std::string_view text);

/// The bytes that a text such as `200MB`, `1.5 GiB` or `4096` stands for: powers of 1000 for kB,
/// MB, GB and TB, of 1024 for KiB, MiB, GiB and TiB. None where it is no such text.
std::optional<std::size_t> bytes_in(std::string_view text);

/// `0.4 MB`, `188 MB`, `2.1 GB`.
std::string bytes_text(std::size_t bytes);

}  // namespace boolgrad
