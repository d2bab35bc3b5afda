// The inside of the tape. Included by `autograd/` only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "boolgrad/autograd/tape.h"

namespace boolgrad {

/// Where an input came from: output `output` of `node`. A null node needs no gradient.
struct TapeEdge {
  std::shared_ptr<TapeNode> node;
  std::size_t output = 0;
};

struct TapeNode {
  TapeNode(std::string_view op, std::vector<TapeEdge> inputs);
  ~TapeNode();
  TapeNode(const TapeNode&) = delete;
  TapeNode& operator=(const TapeNode&) = delete;

  /// Drops everything that a backward sweep needs.
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
  Tensor leaf_gradient;
};

/// The number that the next node will get.
std::uint64_t next_tape_number();

/// The gradients of `inputs` where the gradients of `outputs` are `upstream`; undefined where none
/// arrives. Refuses a graph that reaches a node older than number `oldest`, in the words of `op`.
std::vector<Tensor> gradients_within(std::string_view op, std::uint64_t oldest,
                                     std::span<const Tensor> outputs,
                                     std::span<const Tensor> upstream,
                                     std::span<const Tensor> inputs);

}  // namespace boolgrad
