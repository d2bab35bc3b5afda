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

#include "boolgrad/core/error.h"
#include "boolgrad/core/file.h"

namespace boolgrad {
namespace {

static_assert(sizeof(Colour) == 3, "libpng reads and writes pixels as they lie");

constexpr std::string_view where = "png";

/// Throws `[png] FILE: ...`.
template <class... Args>
[[noreturn]] void refuse(const std::filesystem::path& path, fmt::format_string<Args...> format,
                         Args&&... args) {
  fail(where, "{}: {}", path.string(), fmt::format(format, std::forward<Args>(args)...));
}

/// What libpng knows of a picture. It is freed however the reading or writing ends.
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

/// The signature, then the length and name of the first chunk, then the sides.
using Opening = std::array<unsigned char, 24>;

std::int64_t big_endian(const unsigned char* bytes) {
  return std::int64_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

/// Leaves `file` at its start.
void check_opening(const std::filesystem::path& path, std::FILE* file) {
  constexpr std::size_t signature_bytes = 8;
  Opening opening{};
  const std::size_t received = std::fread(opening.data(), 1, opening.size(), file);
  if (std::ferror(file) != 0) refuse(path, "expected to read it, received {}", system_message());
  if (received < signature_bytes || png_sig_cmp(opening.data(), 0, signature_bytes) != 0) {
    refuse(path, "expected a PNG picture, received another kind of file");
  }
  // What does not open with a header is left to libpng to refuse.
  if (received == opening.size() && std::memcmp(opening.data() + 12, "IHDR", 4) == 0) {
    const std::string fault =
        fault_of_sides(big_endian(opening.data() + 16), big_endian(opening.data() + 20));
    if (!fault.empty()) refuse(path, "{}", fault);
  }
  std::rewind(file);
}

}  // namespace

Image read_png(const std::filesystem::path& path) {
  const File file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (file == nullptr) refuse(path, "expected to read it, received {}", system_message());
  check_opening(path, file.get());

  PngImage png;
  const auto check = [&](int good) {
    if (good == 0) {
      refuse(path, "expected a whole PNG picture, received a damaged one ({})", png->message);
    }
  };
  check(png_image_begin_read_from_stdio(&*png, file.get()));
  png->format = PNG_FORMAT_RGB;
  // Without this, 16 bits would be taken for linear light and come out too bright.
  png->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  Image image = filled_image(png->width, png->height, white);
  const png_color background{white.red, white.green, white.blue};
  check(png_image_finish_read(&*png, &background, image.pixels.data(), 0, nullptr));
  return image;
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
    refuse(path, "expected to compress the picture, received {}", png->message);
  }
  Replacement replacement(std::string(where), path);
  replacement.write(bytes.data(), count);
  replacement.commit();
}

}  // namespace boolgrad
