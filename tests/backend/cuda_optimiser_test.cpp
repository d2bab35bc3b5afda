// AdamW on a CUDA device, compared with the CPU. Skipped without a device.
#include "boolgrad/backend/cuda/optimiser/optimiser.h"

#include <gtest/gtest.h>

#include <limits>

#include "boolgrad/optim/adamw.h"
#include "boolgrad/optim/gradients.h"
#include "tests/support/cuda.h"
#include "tests/support/random_tensor.h"

namespace boolgrad {
namespace {

using CudaOptimiser = CudaTest;

constexpr std::uint64_t seed = 11;

struct Parameters {
  Tensor values, first, second;
};

/// Gradients between -3 and 3, every seventh of them 0.
Tensor gradients_of_step(std::int64_t count, int step) {
  Tensor gradients = random_tensor({count}, DType::float32, seed + static_cast<unsigned>(step),
                                   {.low = -3, .high = 3, .kinks = {}});
  const auto values = gradients.mutable_values<float>();
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = 0;
  return gradients;
}

Tensor start(std::int64_t count) { return random_tensor({count}, DType::float32, seed); }

Parameters on_host(std::int64_t count, const AdamWOptions& options, int steps) {
  Tensor parameters = start(count);
  AdamW adamw({parameters}, {.beta1 = options.beta1,
                             .beta2 = options.beta2,
                             .epsilon = options.epsilon,
                             .weight_decay = options.weight_decay});
  for (int step = 0; step < steps; ++step) {
    std::vector<Tensor> gradients{gradients_of_step(count, step)};
    if (options.clip_value > 0) gradients = clip_by_value(gradients, options.clip_value);
    if (options.clip_norm > 0) gradients = clip_by_norm(gradients, options.clip_norm);
    gradients = with_noise(gradients, options.gradient_noise, options.seed,
                           static_cast<std::uint32_t>(step));
    adamw.step(gradients, 0.01 / (1 + step));
  }
  return {parameters, adamw.state().first[0], adamw.state().second[0]};
}

Tensor to_tensor(const cuda::DeviceArray<float>& array) {
  Tensor result({static_cast<std::int64_t>(array.size())}, DType::float32);
  array.download(result.mutable_values<float>().data(), array.size());
  return result;
}

cuda::DeviceArray<float> to_device(const Tensor& tensor) {
  cuda::DeviceArray<float> array(static_cast<std::size_t>(tensor.size()));
  array.upload(tensor.values<float>().data(), array.size());
  return array;
}

Parameters on_device(std::int64_t count, const AdamWOptions& options, int steps) {
  const cuda::DeviceArray<float> parameters = to_device(start(count));
  cuda::Optimiser optimiser(static_cast<std::size_t>(count), options);
  for (int step = 0; step < steps; ++step) {
    const cuda::DeviceArray<float> gradients = to_device(gradients_of_step(count, step));
    optimiser.step(parameters.data(), gradients.data(), nullptr, step, 0.01 / (1 + step));
  }
  return {to_tensor(parameters), to_tensor(optimiser.first()), to_tensor(optimiser.second())};
}

void expect_same_bits(const Parameters& a, const Parameters& b) {
  EXPECT_TRUE(same_bits(a.values, b.values));
  EXPECT_TRUE(same_bits(a.first, b.first));
  EXPECT_TRUE(same_bits(a.second, b.second));
}

// One parameter, a few, and so many that checking them takes a separate launch.
constexpr std::int64_t counts[] = {1, 37, 4096, 100'003};

TEST_F(CudaOptimiser, GivesTheBitsOfTheCpu) {
  for (const std::int64_t count : counts) {
    const AdamWOptions options{.weight_decay = 0.02};
    expect_same_bits(on_device(count, options, 5), on_host(count, options, 5));
  }
}

TEST_F(CudaOptimiser, ClipsByValueAsTheCpu) {
  for (const std::int64_t count : counts) {
    const AdamWOptions options{.clip_value = 0.5};
    expect_same_bits(on_device(count, options, 5), on_host(count, options, 5));
  }
}

TEST_F(CudaOptimiser, ClipsByNormAsTheCpu) {
  for (const std::int64_t count : counts) {
    const AdamWOptions options{.clip_value = 2, .clip_norm = 1.5};
    const Parameters expected = on_host(count, options, 5);
    const Parameters received = on_device(count, options, 5);
    EXPECT_LT(largest_error(received.values, expected.values), 1e-6);
    EXPECT_LT(largest_error(received.first, expected.first), 1e-6);
    expect_same_bits(on_device(count, options, 5), received);
  }
}

TEST_F(CudaOptimiser, AddsTheNoiseOfTheCpu) {
  for (const std::int64_t count : counts) {
    const AdamWOptions options{.gradient_noise = 0.3, .seed = 5};
    const Parameters expected = on_host(count, options, 3);
    const Parameters received = on_device(count, options, 3);
    EXPECT_LT(largest_error(received.first, expected.first), 1e-6);
    EXPECT_LT(largest_error(received.second, expected.second), 1e-6);
  }
}

TEST_F(CudaOptimiser, SkipsTheUpdateIfAGradientIsNotFinite) {
  for (const std::int64_t count : counts) {
    const Tensor before = start(count);
    const cuda::DeviceArray<float> parameters = to_device(before);
    cuda::Optimiser optimiser(static_cast<std::size_t>(count), {});
    Tensor bad = gradients_of_step(count, 0);
    bad.mutable_values<float>().back() = std::numeric_limits<float>::infinity();
    const cuda::DeviceArray<float> bad_gradients = to_device(bad);
    const cuda::DeviceArray<float> gradients = to_device(gradients_of_step(count, 0));
    const cuda::DeviceArray<float> losses(
        std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()});
    const auto finite = [&] {
      int flag = -1;
      cuda::copy_to_host(&flag, optimiser.finite(), sizeof(flag));
      return flag;
    };
    optimiser.step(parameters.data(), bad_gradients.data(), losses.data(), 0, 0.01);
    EXPECT_EQ(finite(), 0);
    optimiser.step(parameters.data(), gradients.data(), losses.data() + 1, 0, 0.01);
    EXPECT_EQ(finite(), 0);
    EXPECT_TRUE(same_bits(to_tensor(parameters), before));
    EXPECT_TRUE(same_bits(to_tensor(optimiser.first()), Tensor::zeros({count}, DType::float32)));
    optimiser.step(parameters.data(), gradients.data(), losses.data(), 0, 0.01);
    EXPECT_EQ(finite(), 1);
  }
}

TEST_F(CudaOptimiser, ReusesMemory) {
  float* first = nullptr;
  {
    const cuda::DeviceArray<float> array(12'345'678);
    first = array.data();
  }
  const cuda::DeviceArray<float> array(12'345'000);
  EXPECT_EQ(array.data(), first);
}

TEST_F(CudaOptimiser, ReturnsMemoryToItsDevice) {
  if (cuda::device_count() < 2) GTEST_SKIP() << "there is one device only";
  constexpr std::size_t count = 9'876'543;
  float* first = nullptr;
  {
    const cuda::DeviceArray<float> array(count);
    first = array.data();
    cuda::select_device(1);
  }
  const cuda::DeviceArray<float> elsewhere(count);
  EXPECT_NE(elsewhere.data(), first);
  cuda::select_device(0);
  const cuda::DeviceArray<float> again(count);
  EXPECT_EQ(again.data(), first);
}

TEST_F(CudaOptimiser, ReportsOutOfMemory) {
  try {
    const cuda::DeviceArray<float> array(std::size_t{1} << 50);
    FAIL() << "expected an out-of-memory error";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("out of device memory: "), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace boolgrad
