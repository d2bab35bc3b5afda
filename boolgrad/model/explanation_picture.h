// Pictures of explanations.
#pragma once

#include <filesystem>

#include "boolgrad/model/explanation.h"

namespace boolgrad {

/// Saves influences as PNG. For models of images, a heat map with one square per pixel: white has
/// no influence, red the most, and grey is not read. For others, a chart of the `max_bars` inputs
/// with the most influence.
void save_influences(const std::filesystem::path& path, const LoadedModel& loaded,
                     const Influences& influences, std::size_t max_bars = 30);

/// Saves a decision of a model of images as PNG: the image in pale grey, with the kept pixels green
/// where they must be bright and magenta where they must be dark.
void save_decision(const std::filesystem::path& path, const LoadedModel& loaded,
                   const Influences& influences, const Decision& decision, const Tensor& sample);

}  // namespace boolgrad
