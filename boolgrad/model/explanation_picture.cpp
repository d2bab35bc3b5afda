#include "boolgrad/model/explanation_picture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/text.h"
#include "boolgrad/model/animation.h"
#include "boolgrad/picture/plot.h"
#include "boolgrad/picture/png.h"

namespace boolgrad {
namespace {

constexpr picture::Colour grey{208, 208, 208};

std::string name_of(const LoadedModel& loaded) {
  return loaded.spec ? printable(loaded.spec->name) : "circuit";
}

const data::DataFormat* image_format(const LoadedModel& loaded) {
  if (!loaded.model.classifier() || !loaded.model.classifier()->format.is_image()) return nullptr;
  return &loaded.model.classifier()->format;
}

/// The pixel of a feature, whatever its channel.
std::size_t pixel_of(std::size_t feature, const data::DataFormat& format) {
  return feature % static_cast<std::size_t>(format.height * format.width);
}

void write_enlarged(const std::filesystem::path& path, const picture::Image& image) {
  picture::write_png(path, picture::enlarged(image, pixels_per_cell(image.height, image.width)));
}

picture::Image heat_map(const Influences& influences, const data::DataFormat& format) {
  picture::Image image = picture::filled_image(format.width, format.height, grey);
  std::vector<double> by_pixel(image.pixels.size(), 0);
  std::vector<bool> is_read(image.pixels.size(), false);
  for (std::size_t f = 0; f < influences.inputs.size(); ++f) {
    const std::size_t pixel = pixel_of(f, format);
    by_pixel[pixel] += influences.inputs[f].influence;
    is_read[pixel] = is_read[pixel] || influences.inputs[f].read > 0;
  }
  const double highest = std::max(*std::ranges::max_element(by_pixel), 1e-9);
  for (std::size_t p = 0; p < by_pixel.size(); ++p) {
    if (!is_read[p]) continue;
    // The square root keeps pixels of little influence visible.
    const double share = std::sqrt(by_pixel[p] / highest);
    const auto pale = static_cast<std::uint8_t>(std::lround(255 * (1 - share)));
    image.pixels[p] = {static_cast<std::uint8_t>(255 - std::lround(70 * share)), pale, pale};
  }
  return image;
}

picture::BarChart influence_chart(const LoadedModel& loaded, const Influences& influences,
                                  std::size_t max_bars) {
  std::vector<std::size_t> order(influences.inputs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return influences.inputs[i].influence; });
  order.resize(std::min(order.size(), max_bars));
  picture::BarChart chart{.title = "influence on " + name_of(loaded) + ", hardened",
                          .value_label =
                              "share of samples whose answer changes if a bit is "
                              "flipped, added up over the bits",
                          .labels = {},
                          .values = {}};
  for (const std::size_t i : order) {
    chart.labels.push_back(printable(influences.inputs[i].name));
    chart.values.push_back(influences.inputs[i].influence);
  }
  return chart;
}

}  // namespace

void save_influences(const std::filesystem::path& path, const LoadedModel& loaded,
                     const Influences& influences, std::size_t max_bars) {
  if (const data::DataFormat* format = image_format(loaded)) {
    write_enlarged(path, heat_map(influences, *format));
  } else {
    picture::save_bar_chart(path, influence_chart(loaded, influences, max_bars));
  }
}

void save_decision(const std::filesystem::path& path, const LoadedModel& loaded,
                   const Influences& influences, const Decision& decision, const Tensor& sample) {
  const data::DataFormat* format = image_format(loaded);
  if (format == nullptr) {
    fail("explain", "expected a model of images, received {}",
         loaded.model.classifier()     ? "a classifier of tables"
         : loaded.model.is_automaton() ? "an automaton"
                                       : "a circuit");
  }
  picture::Image image = picture::filled_image(format->width, format->height, picture::white);
  const std::size_t pixels = image.pixels.size();
  const auto planes = static_cast<std::size_t>(format->channels);
  for (std::size_t p = 0; p < pixels; ++p) {
    double sum = 0;
    for (std::size_t c = 0; c < planes; ++c) {
      sum += sample.at(static_cast<std::int64_t>(c * pixels + p));
    }
    const double bright = std::clamp(sum / static_cast<double>(planes), 0.0, 255.0);
    const auto pale = static_cast<std::uint8_t>(150 + bright / 255 * 105);
    image.pixels[p] = {pale, pale, pale};
  }
  for (std::size_t k = 0; k < decision.kept_bits.size(); ++k) {
    const ReadBit& bit = influences.bits[decision.kept_bits[k]];
    const bool must_be_bright = decision.conditions[k] == bit.condition;
    image.pixels[pixel_of(bit.input, *format)] =
        must_be_bright ? picture::Colour{0, 150, 60} : picture::Colour{190, 30, 140};
  }
  write_enlarged(path, image);
}

}  // namespace boolgrad
