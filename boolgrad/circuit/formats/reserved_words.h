// Words that cannot be names in C or Verilog.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace boolgrad::circuit {

/// The keywords of SystemVerilog.
const std::vector<std::string>& verilog_keywords();

/// Checks a name that the user gives to a module or to functions. Throws `[where] expected ...`
/// unless it has only letters, digits and underscores, begins with no digit, has at most 64
/// characters and is no keyword of C or Verilog.
void check_identifier(std::string_view where, std::string_view name);

}  // namespace boolgrad::circuit
