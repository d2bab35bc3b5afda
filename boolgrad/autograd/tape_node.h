// Internals of the tape. Included by `autograd/` only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"

namespace boolgrad {

/// The origin of an input: output `output` of `node`. The node is null if no gradient is needed.
struct TapeEdge {
  std::shared_ptr<TapeNode> node;
  std::size_t output = 0;
};

/// A recorded op.
struct TapeNode {
  TapeNode(std::string_view op, std::vector<TapeEdge> inputs);
  ~TapeNode();
  TapeNode(const TapeNode&) = delete;
  TapeNode& operator=(const TapeNode&) = delete;

  /// Releases everything that the backward pass needs.
  void free();

  struct Signature {
    Shape shape;
    DType dtype;
  };

  std::uint64_t number;
  std::string op;
  std::vector<TapeEdge> inputs;
  std::vector<Signature> input_signatures;
  std::vector<Signature> outputs;
  std::vector<Tensor> residuals;
  Vjp vjp;
  bool is_leaf = false;
  bool freed = false;
};

/// The number that the next node will get.
std::uint64_t next_tape_number();

/// The gradients of `inputs` given the gradients `upstream` of `outputs`; undefined if none
/// arrives. Throws in the name of `op` if the graph reaches a node older than number `oldest`.
std::vector<Tensor> gradients_within(std::string_view op, std::uint64_t oldest,
                                     std::span<const Tensor> outputs,
                                     std::span<const Tensor> upstream,
                                     std::span<const Tensor> inputs);

}  // namespace boolgrad
