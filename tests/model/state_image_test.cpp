#include "boolgrad/model/state_image.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/messages.h"

namespace boolgrad {
namespace {

TEST(StateImage, ShowsTheFirstGridInColoursOrBlackAndWhite) {
  automata::BitGrid state(4, 2, 2, 3);
  state.set(0, 0, 0, 1, true);  // red
  state.set(2, 0, 1, 2, true);  // blue
  state.set(3, 0, 0, 0, true);  // beyond the colours
  state.set(0, 1, 0, 0, true);  // another grid
  const picture::Image colours = state_image(state, 3);
  EXPECT_EQ(colours.width, 3);
  EXPECT_EQ(colours.height, 2);
  EXPECT_EQ(colours.at(0, 0), picture::black);
  EXPECT_EQ(colours.at(1, 0), (picture::Colour{255, 0, 0}));
  EXPECT_EQ(colours.at(2, 1), (picture::Colour{0, 0, 255}));
  const picture::Image one = state_image(state, 1);
  EXPECT_EQ(one.at(1, 0), picture::white);
  EXPECT_EQ(one.at(2, 1), picture::black);
  state.set(1, 0, 1, 1, true);
  const picture::Image two = state_image(state, 2);
  EXPECT_EQ(two.at(1, 0), picture::white);
  EXPECT_EQ(two.at(1, 1), (picture::Colour{0, 0, 255}));
  EXPECT_EQ(two.at(0, 0), picture::black);
  expect_error([&] { state_image(state, 5); },
               "[state_image] expected 1 to 4 channels, received 5");
}

TEST(StateImage, ShowsSoftValuesInShades) {
  const Tensor grey = Tensor::of<float>({0, 0.5F, 1, 2, -1, 0.25F}).viewed_as({1, 1, 2, 3});
  const picture::Image image = soft_state_image(grey);
  const std::vector<picture::Colour> expected = {picture::black, {128, 128, 128}, picture::white,
                                                 picture::white, picture::black,  {64, 64, 64}};
  EXPECT_EQ(image.pixels, expected);
  // Two grids: the second is not shown.
  const Tensor colours = Tensor::of<float>({1, 0, 0.5F, 0, 0.25F, 0}).viewed_as({3, 2, 1, 1});
  EXPECT_EQ(soft_state_image(colours).pixels, (std::vector<picture::Colour>{{255, 128, 64}}));
  expect_error(
      [] {
        soft_state_image(Tensor::zeros({2, 2}, DType::float32));
      },
      "[state_image] expected a state [channels, grids, height, width], received [2, 2]");
}

}  // namespace
}  // namespace boolgrad
