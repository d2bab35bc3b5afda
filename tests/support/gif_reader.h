// Animated GIF files, decoded by giflib.
#pragma once

#include <gif_lib.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "boolgrad/picture/image.h"

namespace boolgrad {

/// The frames of a file as a viewer shows them.
struct Shown {
  std::vector<picture::Image> frames;
  std::vector<int> hundredths;
  std::int64_t stored_pixels = 0;  ///< of all frames together
};

inline Shown shown(const std::filesystem::path& path) {
  const std::unique_ptr<GifFileType, void (*)(GifFileType*)> gif(
      DGifOpenFileName(path.c_str(), nullptr), [](GifFileType* file) {
        if (file != nullptr) DGifCloseFile(file, nullptr);
      });
  if (gif == nullptr || DGifSlurp(gif.get()) != GIF_OK) {
    ADD_FAILURE() << "not a GIF: " << path;
    return {};
  }
  Shown result;
  picture::Image screen = picture::filled_image(gif->SWidth, gif->SHeight, picture::black);
  for (int f = 0; f < gif->ImageCount; ++f) {
    const SavedImage& saved = gif->SavedImages[f];
    const GifImageDesc& place = saved.ImageDesc;
    for (int i = 0; i < place.Width * place.Height; ++i) {
      const GifColorType& colour = gif->SColorMap->Colors[saved.RasterBits[i]];
      screen.at(place.Left + i % place.Width, place.Top + i / place.Width) = {
          colour.Red, colour.Green, colour.Blue};
    }
    GraphicsControlBlock control{};
    EXPECT_EQ(DGifSavedExtensionToGCB(gif.get(), f, &control), GIF_OK);
    EXPECT_EQ(control.DisposalMode, DISPOSE_DO_NOT);
    EXPECT_EQ(control.TransparentColor, NO_TRANSPARENT_COLOR);
    result.frames.push_back(screen);
    result.hundredths.push_back(control.DelayTime);
    result.stored_pixels += place.Width * place.Height;
  }
  return result;
}

}  // namespace boolgrad
