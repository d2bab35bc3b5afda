// The drawing surface of plots. Internal: keeps cairo out of the public headers.
#pragma once

#include <cairo.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "boolgrad/picture/image.h"

namespace boolgrad::picture {

struct Point {
  double x;
  double y;
};

enum class Align : std::uint8_t { left, centre, right };

struct TextStyle {
  double size = 12;
  Colour colour;
  bool bold = false;
  Align align = Align::left;
};

/// A white drawing surface. Coordinates are pixels from the top left corner.
class Canvas {
 public:
  Canvas(int width, int height);

  void line(Point from, Point to, Colour colour, double thickness = 1);
  /// A polyline. Dashes distinguish series of the same colour.
  void path(std::span<const Point> points, Colour colour, double thickness, bool dashed);
  void dot(Point centre, double radius, Colour colour);
  void rectangle(Point corner, double width, double height, Colour colour);

  /// `at` is the left end, the middle or the right end of the text, vertically centred on capitals.
  void text(Point at, const std::string& text, const TextStyle& style);
  /// Text rotated by 90 degrees, centred at `at`.
  void upward_text(Point at, const std::string& text, const TextStyle& style);
  double text_width(const std::string& text, const TextStyle& style);
  /// The text on one line, cut with an ellipsis if it is wider than `width`.
  std::string shortened(const std::string& text, double width, const TextStyle& style);

  /// The drawing.
  Image image();

 private:
  using Surface = std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)>;
  using Context = std::unique_ptr<cairo_t, void (*)(cairo_t*)>;

  void use(Colour colour);
  void use(const TextStyle& style);

  Surface surface_;
  Context context_;
};

}  // namespace boolgrad::picture
