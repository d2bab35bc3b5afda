#include "boolgrad/autograd/tape.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "boolgrad/autograd/tape_node.h"
#include "boolgrad/backend/cpu/tensor/map.h"
#include "boolgrad/core/fail.h"

namespace boolgrad {
namespace {

thread_local bool recording = true;

std::atomic<std::uint64_t> node_counter{0};

// Releases edges in a loop. Shared pointers alone would destroy a chain of nodes recursively and
// overflow the stack on a long one.
void release(std::vector<TapeEdge> edges) {
  thread_local std::vector<std::shared_ptr<TapeNode>> waiting;
  thread_local bool draining = false;
  for (TapeEdge& edge : edges) {
    if (edge.node) waiting.push_back(std::move(edge.node));
  }
  if (draining) return;
  draining = true;
  while (!waiting.empty()) {
    const std::shared_ptr<TapeNode> node = std::move(waiting.back());
    waiting.pop_back();
  }
  draining = false;
}

bool matches(const Tensor& tensor, const TapeNode::Signature& signature) {
  return tensor.shape() == signature.shape && tensor.dtype() == signature.dtype;
}

// Adds in place if no other tensor shares the memory of the sum.
Tensor sum_of(const Tensor& sum, const Tensor& term) {
  if (!sum.defined()) return term;
  Tensor result = sum.owns_memory_alone() ? sum : Tensor(sum.shape(), sum.dtype());
  cpu::map(cpu::MapKernel::add, {sum, term}, result);
  return result;
}

// The gradient that the backward pass starts from: the given one, or 1 for a single element.
Tensor starting_gradient(const Tensor& output, const GradOptions& options) {
  if (!needs_grad(output)) {
    fail("grad", "expected an output that depends on parameters, received one that does not");
  }
  if (options.upstream.defined()) return options.upstream;
  if (output.size() != 1) {
    fail("grad", "expected one element or an upstream gradient, received shape {}",
         to_string(output.shape()));
  }
  return Tensor::ones(output.shape(), output.dtype());
}

/// One backward pass: the gradients of the nodes in flight, by node and output.
class Sweep {
 public:
  explicit Sweep(bool keep_graph) : keep_graph_(keep_graph) {}

  /// Adds `output` as a starting point with gradient `upstream`.
  void start(const Tensor& output, const Tensor& upstream) {
    const std::shared_ptr<TapeNode>& root = output.tape_node();
    const TapeNode::Signature& expected = root->outputs[output.tape_output()];
    if (!matches(upstream, expected)) {
      fail("grad", "expected an upstream gradient of {} {}, received {} {}",
           to_string(expected.dtype), to_string(expected.shape), to_string(upstream.dtype()),
           to_string(upstream.shape()));
    }
    collect(root);
    Tensor& sum = slots_.at(root.get()).gradients[output.tape_output()];
    sum = sum_of(sum, upstream.detach());
  }

  /// Keeps the gradient of `tensor`. Must be called before `run`.
  void want(const Tensor& tensor) {
    const auto slot = slots_.find(tensor.tape_node().get());
    if (slot != slots_.end()) slot->second.wanted = true;
  }

  void run() {
    std::ranges::sort(order_, [](const auto& a, const auto& b) { return a->number > b->number; });
    mark_needed();
    for (const std::shared_ptr<TapeNode>& node : order_) visit(*node);
  }

  /// The gradient of `tensor`, or an undefined tensor.
  Tensor arrived(const Tensor& tensor) const {
    const auto slot = slots_.find(tensor.tape_node().get());
    return slot == slots_.end() ? Tensor() : slot->second.gradients[tensor.tape_output()];
  }

  const std::vector<std::shared_ptr<TapeNode>>& nodes() const { return order_; }

 private:
  struct Slot {
    std::vector<Tensor> gradients;
    bool wanted = false;
    bool needed = false;
  };

  // Finds the nodes that `root` depends on and that are not known yet.
  void collect(const std::shared_ptr<TapeNode>& root) {
    std::vector<std::shared_ptr<TapeNode>> stack;
    discover(root, stack);
    while (!stack.empty()) {
      std::shared_ptr<TapeNode> node = std::move(stack.back());
      stack.pop_back();
      if (node->freed) {
        fail("grad", "the graph was freed by an earlier call (at {}); set keep_graph in that call",
             node->op);
      }
      for (const TapeEdge& edge : node->inputs) {
        if (edge.node) discover(edge.node, stack);
      }
      order_.push_back(std::move(node));
    }
  }

  void discover(const std::shared_ptr<TapeNode>& node,
                std::vector<std::shared_ptr<TapeNode>>& stack) {
    const auto [slot, is_new] = slots_.try_emplace(node.get());
    if (!is_new) return;
    slot->second.gradients.resize(node->outputs.size());
    stack.push_back(node);
  }

  // A node is needed if it is wanted or depends on a wanted node.
  void mark_needed() {
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
      Slot& slot = slots_.at(node->get());
      slot.needed = slot.wanted;
      for (const TapeEdge& edge : (*node)->inputs) {
        if (edge.node && slots_.at(edge.node.get()).needed) slot.needed = true;
      }
    }
  }

  void visit(TapeNode& node) {
    Slot& slot = slots_.at(&node);
    if (!node.is_leaf && slot.needed) propagate(node, slot);
    if (!slot.wanted) slot.gradients.clear();
    if (!node.is_leaf && !keep_graph_) node.free();
  }

  void propagate(TapeNode& node, Slot& slot) {
    const bool nothing_arrived =
        std::ranges::none_of(slot.gradients, [](const Tensor& g) { return g.defined(); });
    if (nothing_arrived) return;
    std::vector<Tensor> upstream = slot.gradients;
    for (std::size_t i = 0; i < upstream.size(); ++i) {
      if (!upstream[i].defined()) {
        upstream[i] = Tensor::zeros(node.outputs[i].shape, node.outputs[i].dtype);
      }
    }
    if (!slot.wanted) slot.gradients.clear();
    const std::size_t count = node.inputs.size();
    const auto needs = std::make_unique<bool[]>(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto& source = node.inputs[i].node;
      needs[i] = source && slots_.at(source.get()).needed;
    }
    std::vector<Tensor> gradients =
        node.vjp({node.residuals, upstream, std::span<const bool>(needs.get(), count)});
    upstream.clear();
    if (gradients.size() != count) {
      fail(node.op, "expected {} gradients from the VJP, received {}", count, gradients.size());
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!needs[i] || !gradients[i].defined()) continue;
      deliver(node, i, gradients[i]);
      gradients[i] = Tensor();
    }
  }

  void deliver(const TapeNode& node, std::size_t input, const Tensor& gradient) {
    const TapeNode::Signature& expected = node.input_signatures[input];
    if (!matches(gradient, expected)) {
      fail(node.op, "expected the gradient of input {} to be {} {}, received {} {}", input,
           to_string(expected.dtype), to_string(expected.shape), to_string(gradient.dtype()),
           to_string(gradient.shape()));
    }
    const TapeEdge& edge = node.inputs[input];
    Tensor& sum = slots_.at(edge.node.get()).gradients[edge.output];
    sum = sum_of(sum, gradient.detach());
  }

  bool keep_graph_;
  std::vector<std::shared_ptr<TapeNode>> order_;
  std::unordered_map<TapeNode*, Slot> slots_;
};

}  // namespace

TapeNode::TapeNode(std::string_view op, std::vector<TapeEdge> inputs)
    : number(node_counter.fetch_add(1, std::memory_order_relaxed)),
      op(op),
      inputs(std::move(inputs)) {}

TapeNode::~TapeNode() { release(std::move(inputs)); }

void TapeNode::free() {
  freed = true;
  residuals.clear();
  vjp = nullptr;
  release(std::exchange(inputs, {}));
}

Tensor parameter(const Tensor& value) {
  if (!is_floating(value.dtype())) {
    fail("parameter", "expected a floating dtype, received {}", to_string(value.dtype()));
  }
  auto node = std::make_shared<TapeNode>("parameter", std::vector<TapeEdge>{});
  node->is_leaf = true;
  node->outputs = {{value.shape(), value.dtype()}};
  Tensor leaf = value.detach();
  leaf.set_tape(std::move(node), 0);
  return leaf;
}

bool needs_grad(const Tensor& tensor) { return tensor.tape_node() != nullptr; }

GradMode::GradMode(bool enabled) : previous_(std::exchange(recording, enabled)) {}
GradMode::~GradMode() { recording = previous_; }

std::uint64_t next_tape_number() { return node_counter.load(std::memory_order_relaxed); }

std::vector<Tensor> record(std::string_view op, std::span<const Tensor> inputs,
                           std::vector<Tensor> outputs, std::vector<Tensor> residuals, Vjp vjp) {
  if (!recording || std::ranges::none_of(inputs, needs_grad)) return outputs;
  std::vector<TapeEdge> edges;
  edges.reserve(inputs.size());
  for (const Tensor& input : inputs) edges.push_back({input.tape_node(), input.tape_output()});
  const auto node = std::make_shared<TapeNode>(op, std::move(edges));
  for (const Tensor& input : inputs) {
    node->input_signatures.push_back({input.shape(), input.dtype()});
  }
  for (Tensor& residual : residuals) residual.set_tape(nullptr, 0);
  node->residuals = std::move(residuals);
  node->vjp = std::move(vjp);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    node->outputs.push_back({outputs[i].shape(), outputs[i].dtype()});
    if (is_floating(outputs[i].dtype())) outputs[i].set_tape(node, i);
  }
  return outputs;
}

Tensor record(std::string_view op, std::initializer_list<Tensor> inputs, Tensor output,
              std::vector<Tensor> residuals, Vjp vjp) {
  return record(op, std::span(inputs.begin(), inputs.size()), std::vector{std::move(output)},
                std::move(residuals), std::move(vjp))[0];
}

std::vector<Tensor> grad(const Tensor& output, std::span<const Tensor> inputs,
                         const GradOptions& options) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!needs_grad(inputs[i])) {
      fail("grad", "expected inputs that need gradients, but input {} does not", i);
    }
  }
  const NoGrad guard;
  Sweep sweep(options.keep_graph);
  sweep.start(output, starting_gradient(output, options));
  for (const Tensor& input : inputs) sweep.want(input);
  sweep.run();
  std::vector<Tensor> result;
  for (const Tensor& input : inputs) {
    Tensor arrived = sweep.arrived(input);
    if (!arrived.defined()) arrived = Tensor::zeros(input.shape(), input.dtype());
    result.push_back(std::move(arrived));
  }
  return result;
}

std::vector<Tensor> grad(const Tensor& output, std::initializer_list<Tensor> inputs,
                         const GradOptions& options) {
  return grad(output, std::span(inputs.begin(), inputs.size()), options);
}

Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& options) {
  return grad(output, std::span(&input, 1), options)[0];
}

std::vector<Tensor> gradients_within(std::string_view op, std::uint64_t oldest,
                                     std::span<const Tensor> outputs,
                                     std::span<const Tensor> upstream,
                                     std::span<const Tensor> inputs) {
  const NoGrad guard;
  Sweep sweep(false);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (needs_grad(outputs[i])) sweep.start(outputs[i], upstream[i]);
  }
  for (const std::shared_ptr<TapeNode>& node : sweep.nodes()) {
    if (node->number >= oldest) continue;
    fail(op,
         "expected every tensor that needs a gradient as an input, but the function captured one "
         "(computed by {})",
         node->op);
  }
  for (const Tensor& input : inputs) sweep.want(input);
  sweep.run();
  std::vector<Tensor> result;
  for (const Tensor& input : inputs) result.push_back(sweep.arrived(input));
  return result;
}

}  // namespace boolgrad
