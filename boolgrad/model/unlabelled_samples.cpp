#include "boolgrad/model/unlabelled_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "boolgrad/core/error.h"
#include "boolgrad/core/fail.h"
#include "boolgrad/data/csv_table.h"
#include "boolgrad/data/idx.h"
#include "boolgrad/data/npy.h"
#include "boolgrad/ops/shaping.h"
#include "boolgrad/picture/png.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view where = "predict";

UnlabelledSamples read_lines(const fs::path& path, const data::DataFormat& format) {
  const fs::path file = path == "-" ? "/dev/stdin" : path;
  data::FeatureTable table = data::read_features_as(file, format);
  UnlabelledSamples result{.features = std::move(table.features), .what = "line"};
  for (const std::size_t line : table.lines) result.names.push_back(std::to_string(line));
  for (data::RefusedRow& row : table.refused) {
    result.refused.push_back({std::to_string(row.line), std::move(row.reason)});
  }
  return result;
}

/// Samples of an array, numbered from 0. Samples with values that are not finite are left out.
UnlabelledSamples numbered(const fs::path& path, const Tensor& array, std::int64_t features) {
  const std::int64_t count = array.rank() < 2 ? 0 : array.shape()[0];
  if (array.rank() < 2 || (count > 0 && array.size() / count != features)) {
    fail(where, "{}: expected samples of {} features, received an array {}", path.string(),
         features, to_string(array.shape()));
  }
  UnlabelledSamples result{.what = "sample"};
  const Tensor samples = array.viewed_as({count, features});
  if (samples.dtype() == DType::uint8) {
    result.features = samples;
    for (std::int64_t i = 0; i < count; ++i) result.names.push_back(std::to_string(i));
    return result;
  }
  const Tensor numbers = cast(samples, DType::float32);
  const std::span<const float> values = numbers.values<float>();
  std::vector<float> kept;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto sample =
        values.subspan(static_cast<std::size_t>(i * features), static_cast<std::size_t>(features));
    if (std::ranges::all_of(sample, [](float value) { return std::isfinite(value); })) {
      kept.insert(kept.end(), sample.begin(), sample.end());
      result.names.push_back(std::to_string(i));
    } else {
      result.refused.push_back({std::to_string(i), "a value is not finite"});
    }
  }
  result.features = Tensor::of(kept, {std::ssize(result.names), features});
  return result;
}

/// Planes of red, green and blue, or one of grey: (red + green + blue) / 3.
void append_pixels(const picture::Image& image, std::int64_t channels,
                   std::vector<std::uint8_t>& to) {
  if (channels == 1) {
    for (const picture::Colour& pixel : image.pixels) {
      to.push_back(static_cast<std::uint8_t>((pixel.red + pixel.green + pixel.blue + 1) / 3));
    }
    return;
  }
  for (const auto plane :
       {&picture::Colour::red, &picture::Colour::green, &picture::Colour::blue}) {
    for (const picture::Colour& pixel : image.pixels) to.push_back(pixel.*plane);
  }
}

std::vector<fs::path> pictures_in(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == ".png") files.push_back(entry.path());
  }
  if (files.empty()) fail(where, "{}: no PNG files in this folder", path.string());
  std::ranges::sort(files);
  return files;
}

UnlabelledSamples read_pictures(const fs::path& path, const data::DataFormat& format) {
  if (!format.is_image() || (format.channels != 1 && format.channels != 3)) {
    fail(where, "{}: pictures are for models of images, and this one was trained on other samples",
         path.string());
  }
  UnlabelledSamples result{.what = "file"};
  std::vector<std::uint8_t> pixels;
  for (const fs::path& file : pictures_in(path)) {
    const std::string name = file.filename().string();
    try {
      const picture::Image image = picture::read_png(file);
      if (image.height != format.height || image.width != format.width) {
        result.refused.push_back(
            {name, fmt::format("expected {}x{} pixels, received {}x{}", format.width, format.height,
                               image.width, image.height)});
        continue;
      }
      append_pixels(image, format.channels, pixels);
      result.names.push_back(name);
    } catch (const Error& error) {
      result.refused.push_back({name, error.what()});
    }
  }
  result.features = Tensor::of(
      pixels, {std::ssize(result.names), format.channels * format.height * format.width});
  return result;
}

}  // namespace

UnlabelledSamples read_unlabelled_samples(const fs::path& path, const Classifier& classifier) {
  const std::int64_t features = classifier.thresholds.features();
  const data::DataFormat& format = classifier.format;
  std::error_code ignored;
  if (path.extension() == ".npy") return numbered(path, data::read_npy(path), features);
  if (path.extension() == ".png" || fs::is_directory(path, ignored)) {
    return read_pictures(path, format);
  }
  if (!format.columns.empty()) return read_lines(path, format);
  return numbered(path, data::read_idx(path), features);
}

}  // namespace boolgrad
