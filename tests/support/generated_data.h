// Small generated data sets for experiments that need files.
#pragma once

#include <fmt/format.h>

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

/// Files in the format of CIFAR-10, with `count` training images and as many test images. The class
/// shows as a bright square in one of ten places, in one colour.
inline void write_cifar10(const std::filesystem::path& folder, int count) {
  constexpr int side = 32;
  const auto images = [](int first, int last) {
    std::string bytes;
    for (int i = first; i < last; ++i) {
      const int label = i % 10;
      bytes += static_cast<char>(label);
      for (int pixel = 0; pixel < 3 * side * side; ++pixel) {
        const auto noise = random_below(
            {.seed = 2,
             .stream = 1,
             .index = static_cast<std::uint64_t>(i) * 3072 + static_cast<std::uint64_t>(pixel)},
            120);
        const int colour = pixel / (side * side);
        const int row = pixel / side % side;
        const int column = pixel % side;
        const bool is_square =
            colour == label % 3 && row / 8 == label / 4 && column / 8 == label % 4;
        bytes += static_cast<char>(is_square ? 255 - noise / 4 : noise);
      }
    }
    return bytes;
  };
  for (int i = 0; i < 5; ++i) {
    write_bytes(folder / fmt::format("data_batch_{}.bin", i + 1),
                images(i * count / 5, (i + 1) * count / 5));
  }
  write_bytes(folder / "test_batch.bin", images(0, count));
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
