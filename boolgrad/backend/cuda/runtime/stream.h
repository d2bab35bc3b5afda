// Streams, and launches that are captured once and replayed. Inside of `cuda/`.
#pragma once

#include <cuda_runtime.h>

#include "boolgrad/backend/cuda/runtime/check.h"

namespace boolgrad::cuda {

/// A stream of its own: only such a one can be captured. What the default stream does waits for it,
/// and it for that.
class OwnStream {
 public:
  OwnStream() { check(cudaStreamCreate(&stream_), "make a stream"); }
  ~OwnStream() { cudaStreamDestroy(stream_); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  cudaStream_t get() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "wait for the device"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Launches captured once and replayed as one.
class StepGraph {
 public:
  StepGraph() = default;
  ~StepGraph() { forget(); }
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  bool is_captured() const { return graph_ != nullptr; }
  void forget() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
  }

  /// Captures what `launches` puts into the stream, without running it.
  template <class F>
  void capture(cudaStream_t stream, const F& launches) {
    forget();
    cudaGraph_t captured = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture launches");
    launches();
    check(cudaStreamEndCapture(stream, &captured), "capture launches");
    const cudaError_t error = cudaGraphInstantiate(&graph_, captured, 0);
    cudaGraphDestroy(captured);
    check(error, "prepare captured launches");
  }

  void replay(cudaStream_t stream) const {
    check(cudaGraphLaunch(graph_, stream), "replay captured launches");
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

/// Milliseconds of the device for what `launches` puts into the stream.
template <class F>
double milliseconds_of(const OwnStream& stream, const F& launches) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin), "make an event");
  check(cudaEventCreate(&end), "make an event");
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
