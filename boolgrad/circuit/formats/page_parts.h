// The parts of the page that runs a circuit, as they lie in web/.
#pragma once

#include <string_view>

namespace boolgrad {

extern const std::string_view page_skeleton;  ///< with @title@, @style@, @model@ and @script@
extern const std::string_view page_style;
extern const std::string_view page_script;

}  // namespace boolgrad
