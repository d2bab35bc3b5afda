// Training programs of gate networks on any device, the CPU's among them.
#pragma once

#include <memory>
#include <vector>

#include "boolgrad/backend/device/network.h"
#include "boolgrad/logic/network.h"

namespace boolgrad {

/// The CPU's program: the tape, then AdamW, in the network's own dtype. It shares the memory of the
/// network's logits, so that they are trained in place.
std::unique_ptr<DeviceNetwork> make_host_network(const LogicNetwork& network,
                                                 const NetworkSpec& spec);

/// A program for `network`, with its parameters and masks, on `device`. Other devices than the CPU
/// refuse networks that are not in float32.
std::unique_ptr<DeviceNetwork> make_network_program(const Device& device,
                                                    const LogicNetwork& network,
                                                    const NetworkSpec& spec);

/// Where the wires of a network's layers lie, as kernels read them.
std::vector<LutWires> wires_of(const LogicNetwork& network);

/// The masks of a network's layers.
std::vector<Tensor> masks_of(const LogicNetwork& network);

/// Copies values from one list of tensors into another, unless they share their memory.
void copy_values(const std::vector<Tensor>& from, std::vector<Tensor> to);

/// The same values off the tape.
std::vector<Tensor> detached(const std::vector<Tensor>& tensors);

/// `x` as it is; a gradient that passes back through it is multiplied by `factor`.
Tensor with_scaled_gradient(const Tensor& x, double factor);

}  // namespace boolgrad
