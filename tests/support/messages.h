// Assertions on error messages.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "boolgrad/core/error.h"

namespace boolgrad {

/// Expects `action` to throw an Error with exactly this message.
template <class Action>
void expect_error(Action action, const std::string& message) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown, expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

}  // namespace boolgrad
