// The parts of the HTML viewer, generated from web/.
#pragma once

#include <string_view>

namespace boolgrad::circuit {

extern const std::string_view page_skeleton;  ///< with @title@, @style@, @model@ and @script@
extern const std::string_view page_style;
extern const std::string_view page_script;

}  // namespace boolgrad::circuit
