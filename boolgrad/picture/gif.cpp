#include "boolgrad/picture/gif.h"

#include <fmt/format.h>
#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"

namespace boolgrad::picture {
namespace {

constexpr std::string_view where = "gif";
constexpr std::size_t max_colours = 256;
constexpr int longest_time = 65535;  // the format has 16 bits for it

struct Rectangle {
  std::int64_t left;
  std::int64_t top;
  std::int64_t width;
  std::int64_t height;
};

/// The smallest rectangle that contains all differences of two frames. Equal frames give one pixel,
/// because some viewers reject empty frames.
Rectangle changed_part(std::span<const std::uint8_t> before, std::span<const std::uint8_t> after,
                       std::int64_t width, std::int64_t height) {
  std::int64_t left = width;
  std::int64_t top = height;
  std::int64_t right = -1;
  std::int64_t bottom = -1;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const auto i = static_cast<std::size_t>(y * width + x);
      if (before[i] == after[i]) continue;
      left = std::min(left, x);
      right = std::max(right, x);
      top = std::min(top, y);
      bottom = y;
    }
  }
  if (bottom < 0) return {0, 0, 1, 1};
  return {left, top, right - left + 1, bottom - top + 1};
}

/// The format has palettes of 2, 4, ... 256 colours. The rest is filled with black.
std::vector<GifColorType> padded(std::span<const Colour> palette) {
  std::size_t size = 2;
  while (size < palette.size()) size *= 2;
  std::vector<GifColorType> result(size);
  std::ranges::transform(palette, result.begin(), [](Colour colour) {
    return GifColorType{colour.red, colour.green, colour.blue};
  });
  return result;
}

}  // namespace

/// Writes the output of giflib to the file. The callback of giflib must not throw, so it fills a
/// buffer that is written after every call.
class GifWriter::Encoder {
 public:
  Encoder(const std::filesystem::path& path, std::int64_t width, std::int64_t height,
          std::span<const Colour> palette)
      : file_(std::string(where), path),
        path_(path),
        width_(width),
        height_(height),
        colours_(palette.size()) {
    int error = 0;
    gif_.reset(EGifOpen(&buffer_, collect, &error));
    if (gif_ == nullptr) fail_to_encode(error);
    EGifSetGifVersion(gif_.get(), true);
    put_screen(palette);
    put_loop();
  }

  void add(std::span<const std::uint8_t> frame, int hundredths) {
    if (gif_ == nullptr) refuse("cannot add a frame after finish");
    check_frame(frame, hundredths);
    const Rectangle part = last_.empty() ? Rectangle{0, 0, width_, height_}
                                         : changed_part(last_, frame, width_, height_);
    last_.assign(frame.begin(), frame.end());
    put_time(hundredths);
    put_pixels(part);
    flush();
  }

  void finish() {
    if (gif_ == nullptr) refuse("finish was called twice");
    if (last_.empty()) refuse("expected at least one frame, received none");
    int error = 0;
    if (EGifCloseFile(gif_.release(), &error) == GIF_ERROR) {
      fail_to_encode(error);
    }
    flush();
    file_.commit();
  }

 private:
  struct Closing {
    void operator()(GifFileType* gif) const { EGifCloseFile(gif, nullptr); }
  };

  static int collect(GifFileType* gif, const GifByteType* bytes, int count) {
    auto& buffer = *static_cast<std::vector<GifByteType>*>(gif->UserData);
    buffer.insert(buffer.end(), bytes, bytes + count);
    return count;
  }

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(where, "{}: {}", path_.string(), fmt::format(format, std::forward<Args>(args)...));
  }

  [[noreturn]] void fail_to_encode(int error) const {
    fail(where, "cannot encode {}: {}", path_.string(), GifErrorString(error));
  }

  void check(int result) const {
    if (result == GIF_ERROR) fail_to_encode(gif_->Error);
  }

  void check_frame(std::span<const std::uint8_t> frame, int hundredths) const {
    if (frame.size() != static_cast<std::size_t>(width_ * height_)) {
      refuse("expected {} pixels in a frame, received {}", width_ * height_, frame.size());
    }
    if (hundredths < 0 || hundredths > longest_time) {
      refuse("expected a frame duration of 0 to {} hundredths of a second, received {}",
             longest_time, hundredths);
    }
    const std::uint8_t highest = *std::ranges::max_element(frame);
    if (highest >= colours_) {
      refuse("expected palette indices below {}, received {}", colours_, highest);
    }
  }

  void put_screen(std::span<const Colour> palette) {
    const std::vector<GifColorType> colours = padded(palette);
    const auto count = static_cast<int>(colours.size());
    const std::unique_ptr<ColorMapObject, void (*)(ColorMapObject*)> map(
        GifMakeMapObject(count, colours.data()), GifFreeMapObject);
    if (map == nullptr) fail(where, "out of memory: palette of {}", path_.string());
    check(EGifPutScreenDesc(gif_.get(), static_cast<int>(width_), static_cast<int>(height_),
                            map->BitsPerPixel, 0, map.get()));
  }

  // A count of 0 means endless repetition.
  void put_loop() {
    constexpr std::string_view name = "NETSCAPE2.0";
    constexpr std::array<GifByteType, 3> count = {1, 0, 0};
    check(EGifPutExtensionLeader(gif_.get(), APPLICATION_EXT_FUNC_CODE));
    check(EGifPutExtensionBlock(gif_.get(), static_cast<int>(name.size()), name.data()));
    check(EGifPutExtensionBlock(gif_.get(), static_cast<int>(count.size()), count.data()));
    check(EGifPutExtensionTrailer(gif_.get()));
  }

  // Each frame stays on the screen, so that the next one only draws its differences.
  void put_time(int hundredths) {
    const GraphicsControlBlock control{.DisposalMode = DISPOSE_DO_NOT,
                                       .UserInputFlag = false,
                                       .DelayTime = hundredths,
                                       .TransparentColor = NO_TRANSPARENT_COLOR};
    std::array<GifByteType, 4> block{};
    const auto size = static_cast<int>(EGifGCBToExtension(&control, block.data()));
    check(EGifPutExtension(gif_.get(), GRAPHICS_EXT_FUNC_CODE, size, block.data()));
  }

  void put_pixels(const Rectangle& part) {
    check(EGifPutImageDesc(gif_.get(), static_cast<int>(part.left), static_cast<int>(part.top),
                           static_cast<int>(part.width), static_cast<int>(part.height), false,
                           nullptr));
    std::vector<GifPixelType> line(static_cast<std::size_t>(part.width));
    for (std::int64_t y = part.top; y < part.top + part.height; ++y) {
      std::copy_n(last_.begin() + y * width_ + part.left, part.width, line.begin());
      check(EGifPutLine(gif_.get(), line.data(), static_cast<int>(part.width)));
    }
  }

  void flush() {
    file_.write(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

  Replacement file_;
  std::filesystem::path path_;
  std::int64_t width_;
  std::int64_t height_;
  std::size_t colours_;
  std::vector<std::uint8_t> last_;  ///< previous frame; empty before the first
  std::vector<GifByteType> buffer_;
  std::unique_ptr<GifFileType, Closing> gif_;  ///< null after `finish`
};

GifWriter::GifWriter(const std::filesystem::path& path, std::int64_t width, std::int64_t height,
                     std::span<const Colour> palette) {
  check_size(where, width, height);
  if (palette.empty() || palette.size() > max_colours) {
    fail(where, "expected a palette of 1 to {} colours, received {}", max_colours, palette.size());
  }
  encoder_ = std::make_unique<Encoder>(path, width, height, palette);
}

GifWriter::~GifWriter() = default;

void GifWriter::add(std::span<const std::uint8_t> palette_indices, int hundredths) {
  encoder_->add(palette_indices, hundredths);
}

void GifWriter::finish() { encoder_->finish(); }

}  // namespace boolgrad::picture
