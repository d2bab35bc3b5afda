// Files with values that no training has left are refused with the file and the tensor.
#include "boolgrad/model/tensor_checks.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "boolgrad/model/model.h"
#include "tests/support/messages.h"
#include "tests/support/scratch.h"

namespace boolgrad {
namespace {

namespace fs = std::filesystem;
using testing_support::ScratchFolder;

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

class TensorChecks : public testing::Test {
 protected:
  /// A model of tests/data/models with one value changed.
  fs::path changed(const std::string& model, const std::string& tensor, float value) const {
    TensorFile file = load_safetensors(std::string(BOOLGRAD_SOURCE_DIR) + "/tests/data/models/" +
                                       model + ".safetensors");
    file.tensors.at(tensor).mutable_values<float>().back() = value;
    save_safetensors(path_, file);
    return path_;
  }

  void expect_refused(const std::string& model, const std::string& tensor, float value,
                      const std::string& fault) const {
    const fs::path path = changed(model, tensor, value);
    expect_error([&] { load_model(path); }, "[load] " + path.string() + ": " + fault);
  }

  ScratchFolder scratch_;
  fs::path path_ = scratch_ / "changed.safetensors";
};

TEST_F(TensorChecks, RefuseLogitsThatAreNotFinite) {
  for (const float value : {infinite, -infinite, not_a_number}) {
    expect_refused("add", "layer.2.logits", value,
                   "tensor 'layer.2.logits' has values that are not finite");
    expect_refused("checkerboard", "update.layer.0.logits", value,
                   "tensor 'update.layer.0.logits' has values that are not finite");
  }
}

TEST_F(TensorChecks, RefuseThresholdsThatAreNotFinite) {
  for (const float value : {infinite, -infinite, not_a_number}) {
    expect_refused("monk2", "thresholds.levels", value,
                   "tensor 'thresholds.levels' has values that are not finite");
  }
}

TEST_F(TensorChecks, RefuseMasksOtherThanZerosAndOnes) {
  expect_refused("add", "layer.0.mask", 0.5F,
                 "expected a mask of zeros and ones in tensor 'layer.0.mask', received 0.5");
  expect_refused("add", "input_mask", -1,
                 "expected a mask of zeros and ones in tensor 'input_mask', received -1");
  expect_refused("checkerboard", "perceive.layer.1.mask", 2,
                 "expected a mask of zeros and ones in tensor 'perceive.layer.1.mask', received 2");
  expect_refused("monk2", "layer.4.mask", not_a_number,
                 "tensor 'layer.4.mask' has values that are not finite");
}

TEST_F(TensorChecks, AcceptWhatTrainingLeaves) {
  EXPECT_NO_THROW(load_model(changed("add", "layer.0.mask", 0)));
  EXPECT_NO_THROW(load_model(changed("add", "layer.0.logits", -3)));
}

}  // namespace
}  // namespace boolgrad
