#include <fmt/format.h>
#include <gif_lib.h>

#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "boolgrad/core/fail.h"
#include "boolgrad/core/file.h"
#include "boolgrad/picture/gif.h"

namespace boolgrad::picture {
namespace {

constexpr std::string_view where = "gif";
constexpr std::int64_t max_pixels = std::int64_t{1} << 27;
// A frame that repeats the one before takes about 20 bytes: this allows a million pixels in it.
constexpr std::int64_t max_pixels_per_byte = std::int64_t{1} << 16;

/// Decodes a file record by record, so that sizes are checked before memory is requested.
class Decoder {
 public:
  explicit Decoder(const std::filesystem::path& path) : path_(path) {
    open_for_reading(where, path);  // a clear message for files that cannot be read
    int error = 0;
    gif_.reset(DGifOpenFileName(path.c_str(), &error));
    if (gif_ == nullptr) refuse("expected a GIF image, received a file of a different type");
    const std::string fault = size_error(gif_->SWidth, gif_->SHeight);
    if (!fault.empty()) refuse("{}", fault);
    std::error_code unknown;
    const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
    bytes_ = unknown ? 0 : static_cast<std::int64_t>(bytes);
    check_pixels(1);
    screen_ = filled_image(gif_->SWidth, gif_->SHeight, black);
  }

  std::vector<Image> read() {
    while (true) {
      GifRecordType record = UNDEFINED_RECORD_TYPE;
      check(DGifGetRecordType(gif_.get(), &record));
      if (record == TERMINATE_RECORD_TYPE) break;
      if (record == EXTENSION_RECORD_TYPE) read_extension();
      else if (record == IMAGE_DESC_RECORD_TYPE) read_frame();
    }
    if (frames_.empty()) refuse("expected at least one frame, received none");
    return std::move(frames_);
  }

 private:
  struct Closing {
    void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
  };

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail(where, "{}: {}", path_.string(), fmt::format(format, std::forward<Args>(args)...));
  }

  void check(int result) const {
    if (result != GIF_ERROR) return;
    const char* reason = GifErrorString(gif_->Error);
    refuse("expected a valid GIF image, received a damaged one ({})",
           reason != nullptr ? reason : "unknown error");
  }

  /// Checks what that many frames take before memory is requested. A small file can claim a large
  /// screen, and show it again and again.
  void check_pixels(std::int64_t frames) const {
    const std::int64_t screen = std::int64_t{gif_->SWidth} * gif_->SHeight;
    if (frames > max_pixels / screen) {
      refuse("expected at most {} pixels in all frames, received more", max_pixels);
    }
    const std::int64_t limit = bytes_ * max_pixels_per_byte;
    if (frames * screen > limit) {
      refuse("expected at most {} pixels in all frames of a file of {} bytes, received more", limit,
             bytes_);
    }
  }

  void read_extension() {
    int code = 0;
    GifByteType* block = nullptr;
    check(DGifGetExtension(gif_.get(), &code, &block));
    if (code == GRAPHICS_EXT_FUNC_CODE && block != nullptr && block[0] >= 4) {
      check(DGifExtensionToGCB(4, block + 1, &control_));
    }
    while (block != nullptr) check(DGifGetExtensionNext(gif_.get(), &block));
  }

  void read_frame() {
    check(DGifGetImageDesc(gif_.get()));
    const GifImageDesc& place = gif_->Image;
    const bool fits = place.Left >= 0 && place.Top >= 0 && place.Width >= 1 && place.Height >= 1 &&
                      place.Left + place.Width <= screen_.width &&
                      place.Top + place.Height <= screen_.height;
    if (!fits) {
      refuse("expected frames within {} by {} pixels, received one of {} by {} at {}, {}",
             screen_.width, screen_.height, place.Width, place.Height, place.Left, place.Top);
    }
    check_pixels(std::ssize(frames_) + 1);
    const Image before = screen_;
    read_pixels(place);
    frames_.push_back(screen_);
    if (control_.DisposalMode == DISPOSE_PREVIOUS) screen_ = before;
    if (control_.DisposalMode == DISPOSE_BACKGROUND) clear(place);
    control_ = {DISPOSAL_UNSPECIFIED, false, 0, NO_TRANSPARENT_COLOR};
  }

  void read_pixels(const GifImageDesc& place) {
    const ColorMapObject* colours = place.ColorMap != nullptr ? place.ColorMap : gif_->SColorMap;
    if (colours == nullptr) refuse("expected a palette, received none");
    std::vector<GifPixelType> line(static_cast<std::size_t>(place.Width));
    const auto read_line = [&](int y) {
      check(DGifGetLine(gif_.get(), line.data(), place.Width));
      for (int x = 0; x < place.Width; ++x) {
        const int index = line[static_cast<std::size_t>(x)];
        if (index == control_.TransparentColor) continue;
        if (index >= colours->ColorCount) {
          refuse("expected palette indices below {}, received {}", colours->ColorCount, index);
        }
        const GifColorType& colour = colours->Colors[index];
        screen_.at(place.Left + x, place.Top + y) = {colour.Red, colour.Green, colour.Blue};
      }
    };
    if (!place.Interlace) {
      for (int y = 0; y < place.Height; ++y) read_line(y);
      return;
    }
    constexpr std::array<std::pair<int, int>, 4> passes = {{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
    for (const auto& [first, step] : passes) {
      for (int y = first; y < place.Height; y += step) read_line(y);
    }
  }

  void clear(const GifImageDesc& place) {
    for (int y = 0; y < place.Height; ++y) {
      for (int x = 0; x < place.Width; ++x) screen_.at(place.Left + x, place.Top + y) = black;
    }
  }

  const std::filesystem::path& path_;
  std::unique_ptr<GifFileType, Closing> gif_;
  std::int64_t bytes_ = 0;
  GraphicsControlBlock control_{DISPOSAL_UNSPECIFIED, false, 0, NO_TRANSPARENT_COLOR};
  Image screen_;
  std::vector<Image> frames_;
};

}  // namespace

std::vector<Image> read_gif(const std::filesystem::path& path) { return Decoder(path).read(); }

}  // namespace boolgrad::picture
