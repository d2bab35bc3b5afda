// Streams and CUDA graphs. Internal to `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include "boolgrad/backend/cuda/runtime/check.h"

namespace boolgrad::cuda {

/// A stream that can be captured, unlike the default stream. It synchronises with the default
/// stream.
class OwnedStream {
 public:
  OwnedStream() { check(cudaStreamCreate(&stream_), "create a stream"); }
  ~OwnedStream() { cudaStreamDestroy(stream_); }
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;

  cudaStream_t get() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "wait for the device"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Launches captured once and replayed as one graph.
class StepGraph {
 public:
  StepGraph() = default;
  ~StepGraph() { reset(); }
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  bool is_captured() const { return graph_ != nullptr; }
  void reset() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
  }

  /// Captures the launches of `launches` without running them.
  template <class F>
  void capture(cudaStream_t stream, const F& launches) {
    reset();
    cudaGraph_t captured = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture launches");
    launches();
    check(cudaStreamEndCapture(stream, &captured), "capture launches");
    const cudaError_t error = cudaGraphInstantiate(&graph_, captured, 0);
    cudaGraphDestroy(captured);
    check(error, "instantiate captured launches");
  }

  void replay(cudaStream_t stream) const {
    check(cudaGraphLaunch(graph_, stream), "replay captured launches");
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

/// Device time of what `launches` puts into the stream, in milliseconds.
template <class F>
double milliseconds_of(const OwnedStream& stream, const F& launches) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin), "create an event");
  check(cudaEventCreate(&end), "create an event");
  check(cudaEventRecord(begin, stream.get()), "record an event");
  launches();
  check(cudaEventRecord(end, stream.get()), "record an event");
  stream.wait();
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end), "read an event");
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return milliseconds;
}

}  // namespace boolgrad::cuda
