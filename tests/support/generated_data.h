// Small generated data sets for experiments that need files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "boolgrad/core/random.h"
#include "tests/support/light_pictures.h"
#include "tests/support/scratch.h"

namespace boolgrad::testing_support {

/// Images of 28 by 28 pixels in ten classes, in the format of MNIST: noise with a bright bar whose
/// row is the class.
inline void write_digits(const std::filesystem::path& folder, int count) {
  std::string images = idx_header(3, {count, 28, 28});
  std::string labels = idx_header(1, {count});
  for (int i = 0; i < count; ++i) {
    const int label = i % 10;
    for (int pixel = 0; pixel < 28 * 28; ++pixel) {
      const auto noise = random_below(
          {.seed = 1,
           .stream = 1,
           .index = static_cast<std::uint64_t>(i) * 784 + static_cast<std::uint64_t>(pixel)},
          200);
      const bool is_bar = pixel / 28 / 2 == label + 2;
      images += static_cast<char>(is_bar ? 255 - noise / 4 : noise);
    }
    labels += static_cast<char>(label);
  }
  write_bytes(folder / "train-images-idx3-ubyte", images);
  write_bytes(folder / "train-labels-idx1-ubyte", labels);
}

/// A table of flowers. The kind depends on two measurements; the price is numeric.
inline void write_flowers(const std::filesystem::path& path, int count) {
  std::string text = "length,width,colour,price,kind\n";
  for (int i = 0; i < count; ++i) {
    const int length = i * 37 % 101;
    const int width = i * 53 % 97;
    text += std::to_string(length) + ".5," + std::to_string(width) +
            (i % 2 == 0 ? ",red," : ",blue,") + std::to_string(length + width / 2) +
            (length > 60  ? ",lily\n"
             : width > 40 ? ",rose\n"
                          : ",tulip\n");
  }
  write_bytes(path, text);
}

}  // namespace boolgrad::testing_support
