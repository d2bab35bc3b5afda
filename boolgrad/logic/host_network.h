// Training programs of gate networks on any device, the CPU included.
#pragma once

#include <memory>
#include <vector>

#include "boolgrad/backend/device/network.h"
#include "boolgrad/logic/network.h"

namespace boolgrad::logic {

/// The CPU program: gradients from the tape, then AdamW, in the network's dtype. It trains the
/// network's logits in place.
std::unique_ptr<DeviceNetwork> make_host_network(const Network& network, const NetworkSpec& spec);

/// A program for `network` on `device`. GPUs support float32 only; other dtypes throw.
std::unique_ptr<DeviceNetwork> make_network_program(const Device& device, const Network& network,
                                                    const NetworkSpec& spec);

/// The wires of all layers, as views for kernels.
std::vector<LutWires> wires_of(const Network& network);

/// The masks of a network's layers.
std::vector<Tensor> masks_of(const Network& network);

/// Copies values between lists of tensors of equal shapes. Tensors that share memory are skipped.
void copy_values(const std::vector<Tensor>& from, std::vector<Tensor> to);

/// The tensors detached from the tape.
std::vector<Tensor> detached(const std::vector<Tensor>& tensors);

/// The identity, whose gradient is multiplied by `factor`.
Tensor with_scaled_gradient(const Tensor& x, double factor);

}  // namespace boolgrad::logic
