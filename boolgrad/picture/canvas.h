// What plots are drawn on. Internal: cairo is not for those who include boolgrad.
#pragma once

#include <cairo.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "boolgrad/picture/image.h"

namespace boolgrad {

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

/// A white page. Places are pixels from the upper left corner.
class Canvas {
 public:
  Canvas(int width, int height);

  void line(Point from, Point to, Colour colour, double thickness = 1);
  /// Joined lines; dashed ones tell series apart that share a colour.
  void path(std::span<const Point> points, Colour colour, double thickness, bool dashed);
  void dot(Point centre, double radius, Colour colour);
  void rectangle(Point corner, double width, double height, Colour colour);

  /// `at` is the left end, the middle or the right end of the text, half-way up its capitals.
  void text(Point at, const std::string& text, const TextStyle& style);
  /// Text that runs upwards, centred at `at`.
  void upward_text(Point at, const std::string& text, const TextStyle& style);
  double text_width(const std::string& text, const TextStyle& style);
  /// The text on one line, or as much of its beginning as fits into `width` with an ellipsis.
  std::string shortened(const std::string& text, double width, const TextStyle& style);

  /// What was drawn. Throws where text was not UTF-8.
  Image image();

 private:
  using Surface = std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)>;
  using Context = std::unique_ptr<cairo_t, void (*)(cairo_t*)>;

  void use(Colour colour);
  void use(const TextStyle& style);

  Surface surface_;
  Context context_;
};

}  // namespace boolgrad
