#include "boolgrad/picture/canvas.h"

#include <array>
#include <cstring>
#include <numbers>
#include <string_view>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"

namespace boolgrad::picture {

Canvas::Canvas(int width, int height)
    : surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height),
               cairo_surface_destroy),
      context_(cairo_create(surface_.get()), cairo_destroy) {
  use(white);
  cairo_paint(context_.get());
  cairo_set_line_join(context_.get(), CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap(context_.get(), CAIRO_LINE_CAP_ROUND);
}

void Canvas::use(Colour colour) {
  cairo_set_source_rgb(context_.get(), colour.red / 255.0, colour.green / 255.0,
                       colour.blue / 255.0);
}

void Canvas::use(const TextStyle& style) {
  use(style.colour);
  cairo_select_font_face(context_.get(), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context_.get(), style.size);
}

void Canvas::line(Point from, Point to, Colour colour, double thickness) {
  path(std::array{from, to}, colour, thickness, false);
}

void Canvas::path(std::span<const Point> points, Colour colour, double thickness, bool dashed) {
  use(colour);
  cairo_set_line_width(context_.get(), thickness);
  constexpr std::array<double, 2> dashes = {6, 5};
  cairo_set_dash(context_.get(), dashes.data(), dashed ? 2 : 0, 0);
  for (const Point& point : points) cairo_line_to(context_.get(), point.x, point.y);
  cairo_stroke(context_.get());
}

void Canvas::dot(Point centre, double radius, Colour colour) {
  use(colour);
  cairo_arc(context_.get(), centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  cairo_fill(context_.get());
}

void Canvas::rectangle(Point corner, double width, double height, Colour colour) {
  use(colour);
  cairo_rectangle(context_.get(), corner.x, corner.y, width, height);
  cairo_fill(context_.get());
}

double Canvas::text_width(const std::string& text, const TextStyle& style) {
  use(style);
  cairo_text_extents_t extents{};
  cairo_text_extents(context_.get(), text.c_str(), &extents);
  return extents.x_advance;
}

void Canvas::text(Point at, const std::string& text, const TextStyle& style) {
  constexpr double half_of_capitals = 0.36;  // relative to the font size
  const double width = style.align == Align::left ? 0 : text_width(text, style);
  use(style);
  cairo_move_to(context_.get(), at.x - (style.align == Align::centre ? width / 2 : width),
                at.y + half_of_capitals * style.size);
  cairo_show_text(context_.get(), text.c_str());
  cairo_new_path(context_.get());
}

void Canvas::upward_text(Point at, const std::string& text, const TextStyle& style) {
  cairo_save(context_.get());
  cairo_translate(context_.get(), at.x, at.y);
  cairo_rotate(context_.get(), -std::numbers::pi / 2);
  TextStyle centred = style;
  centred.align = Align::centre;
  this->text({0, 0}, text, centred);
  cairo_restore(context_.get());
}

std::string Canvas::shortened(const std::string& text, double width, const TextStyle& style) {
  const std::string whole = printable(text);
  std::string shown = whole;
  for (std::string_view kept = whole; !kept.empty() && text_width(shown, style) > width;) {
    kept = utf8_prefix(kept, kept.size() - 1);
    shown = std::string(kept) + "\u2026";
  }
  return shown;
}

Image Canvas::image() {
  const cairo_status_t status = cairo_status(context_.get());
  if (status != CAIRO_STATUS_SUCCESS) {
    fail("plot", "cannot draw the plot: {}", cairo_status_to_string(status));
  }
  cairo_surface_flush(surface_.get());
  const unsigned char* const data = cairo_image_surface_get_data(surface_.get());
  const int stride = cairo_image_surface_get_stride(surface_.get());
  Image image = filled_image(cairo_image_surface_get_width(surface_.get()),
                             cairo_image_surface_get_height(surface_.get()), white);
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      std::uint32_t pixel = 0;
      std::memcpy(&pixel, data + y * stride + 4 * x, sizeof pixel);
      image.at(x, y) = {static_cast<std::uint8_t>(pixel >> 16U),
                        static_cast<std::uint8_t>(pixel >> 8U), static_cast<std::uint8_t>(pixel)};
    }
  }
  return image;
}

}  // namespace boolgrad::picture
