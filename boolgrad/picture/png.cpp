#include "boolgrad/picture/png.h"

#include <fmt/format.h>
#include <png.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"

namespace boolgrad::picture {
namespace {

static_assert(sizeof(Colour) == 3, "libpng accesses pixels directly");

constexpr std::string_view where = "png";

/// Throws `[png] FILE: ...`.
template <class... Args>
[[noreturn]] void refuse(const std::filesystem::path& path, fmt::format_string<Args...> format,
                         Args&&... args) {
  fail(where, "{}: {}", path.string(), fmt::format(format, std::forward<Args>(args)...));
}

/// Owns libpng's description of an image.
class PngImage {
 public:
  PngImage() { image_.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&image_); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  png_image& operator*() { return image_; }
  png_image* operator->() { return &image_; }

 private:
  png_image image_{};
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// The start of a file: the signature, the length and name of the first chunk, width, height, bits
/// per sample and the kind of colour.
using Start = std::array<unsigned char, 26>;

std::int64_t big_endian(const unsigned char* bytes) {
  return std::int64_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

[[noreturn]] void fail_to_read(const std::filesystem::path& path) {
  fail(where, "cannot read {}: {}", path.string(), system_message());
}

/// Checks that a file can have all pixels: deflate compresses to at least 1/1032.
void check_bytes(const std::filesystem::path& path, std::FILE* file, const Start& start) {
  constexpr std::int64_t best_ratio = 1032;
  constexpr std::array<std::int64_t, 7> samples_by_kind = {1, 1, 3, 1, 2, 1, 4};
  const std::int64_t samples = start[25] < samples_by_kind.size() ? samples_by_kind[start[25]] : 1;
  const std::int64_t row = (big_endian(start.data() + 16) * samples * start[24] + 7) / 8;
  std::fseek(file, 0, SEEK_END);
  const std::int64_t bytes = std::ftell(file);
  if (bytes > 0 && row * big_endian(start.data() + 20) > best_ratio * bytes) {
    refuse(path, "expected {} bytes or more for {}x{} pixels, received {}, the file is truncated",
           row * big_endian(start.data() + 20) / best_ratio, big_endian(start.data() + 16),
           big_endian(start.data() + 20), bytes);
  }
}

/// Checks signature and image size before libpng allocates memory. Rewinds `file`.
void check_start(const std::filesystem::path& path, std::FILE* file) {
  constexpr std::size_t signature_bytes = 8;
  Start start{};
  const std::size_t received = std::fread(start.data(), 1, start.size(), file);
  if (std::ferror(file) != 0) fail_to_read(path);
  if (received < signature_bytes || png_sig_cmp(start.data(), 0, signature_bytes) != 0) {
    refuse(path, "expected a PNG image, received a file of a different type");
  }
  // libpng reports a missing header.
  if (received == start.size() && std::memcmp(start.data() + 12, "IHDR", 4) == 0) {
    const std::string error =
        size_error(big_endian(start.data() + 16), big_endian(start.data() + 20));
    if (!error.empty()) refuse(path, "{}", error);
    check_bytes(path, file, start);
  }
  std::rewind(file);
}

}  // namespace

namespace {

/// Reads the pixels of a file in a format of libpng. `make` returns where they go to, for a width
/// and a height.
template <class Make>
void read_pixels(const std::filesystem::path& path, png_uint_32 format, const png_color* background,
                 Make make) {
  const File file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (file == nullptr) fail_to_read(path);
  check_start(path, file.get());

  PngImage png;
  const auto check = [&](int good) {
    if (good == 0) {
      refuse(path, "expected a valid PNG image, received a damaged one ({})", png->message);
    }
  };
  check(png_image_begin_read_from_stdio(&*png, file.get()));
  png->format = format;
  // Without this flag libpng treats 16-bit samples as linear light, and the image is too bright.
  png->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  check(png_image_finish_read(&*png, background, make(png->width, png->height), 0, nullptr));
}

}  // namespace

Image read_png(const std::filesystem::path& path) {
  Image image;
  const png_color background{white.red, white.green, white.blue};
  read_pixels(path, PNG_FORMAT_RGB, &background, [&](std::int64_t width, std::int64_t height) {
    image = filled_image(width, height, white);
    return image.pixels.data();
  });
  return image;
}

OpaqueImage read_png_with_opacity(const std::filesystem::path& path) {
  constexpr std::size_t samples = 4;
  OpaqueImage result;
  std::vector<std::uint8_t> bytes;
  read_pixels(path, PNG_FORMAT_RGBA, nullptr, [&](std::int64_t width, std::int64_t height) {
    result.image = filled_image(width, height, black);
    bytes.resize(samples * result.image.pixels.size());
    return bytes.data();
  });
  for (std::size_t i = 0; i < result.image.pixels.size(); ++i) {
    const std::uint8_t* pixel = bytes.data() + samples * i;
    result.opacity.push_back(pixel[3]);
    if (pixel[3] > 0) result.image.pixels[i] = {pixel[0], pixel[1], pixel[2]};
  }
  return result;
}

void write_png(const std::filesystem::path& path, const Image& image) {
  check_image(where, image);
  PngImage png;
  png->width = static_cast<png_uint_32>(image.width);
  png->height = static_cast<png_uint_32>(image.height);
  png->format = PNG_FORMAT_RGB;
  std::vector<std::byte> bytes(PNG_IMAGE_PNG_SIZE_MAX(*png));
  png_alloc_size_t count = bytes.size();
  if (png_image_write_to_memory(&*png, bytes.data(), &count, 0, image.pixels.data(), 0, nullptr) ==
      0) {
    fail(where, "cannot compress {}: {}", path.string(), png->message);
  }
  Replacement replacement(std::string(where), path);
  replacement.write(bytes.data(), count);
  replacement.commit();
}

}  // namespace boolgrad::picture
