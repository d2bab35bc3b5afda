// The common style of all plots. Internal.
#pragma once

#include "boolgrad/picture/canvas.h"

namespace boolgrad::picture {

inline constexpr double margin = 24;

inline constexpr Colour ink{0x22, 0x26, 0x2b};
inline constexpr Colour soft_ink{0x55, 0x5c, 0x64};
inline constexpr Colour axis_colour{0x9a, 0xa0, 0xa6};
inline constexpr Colour grid_colour{0xdf, 0xe2, 0xe5};
inline constexpr Colour faint_colour{0xf1, 0xf2, 0xf4};

inline constexpr TextStyle title_style{.size = 16, .colour = ink, .bold = true};
inline constexpr TextStyle legend_style{.size = 12, .colour = ink};
inline constexpr TextStyle label_style{.size = 12.5, .colour = ink};
inline constexpr TextStyle tick_style{.size = 11.5, .colour = soft_ink};
inline constexpr TextStyle note_style{.size = 13, .colour = soft_ink, .align = Align::centre};

}  // namespace boolgrad::picture
