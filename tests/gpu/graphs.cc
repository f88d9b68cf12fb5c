// A graph of K kernels, launched M times: one row per node and launch.
#include "tests/gpu/programs.h"
#include "tests/gpu/spin.h"

namespace tutti::gpu {
namespace {

constexpr int64_t kNodes = 5;
constexpr int64_t kLaunches = 40;
constexpr uint64_t kNodeNs = 50'000;

bool Capture(cudaStream_t stream, cudaGraphExec_t* executable) {
  cudaGraph_t graph;
  TUTTI_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int64_t node = 0; node < kNodes; ++node) TUTTI_CUDA(LaunchSpin(stream, kNodeNs));
  TUTTI_CUDA(cudaStreamEndCapture(stream, &graph));
  TUTTI_CUDA(cudaGraphInstantiate(executable, graph, 0));
  TUTTI_CUDA(cudaGraphDestroy(graph));
  return true;
}

}  // namespace

bool RunGraphs(Truth& truth) {
  cudaStream_t stream;
  cudaGraphExec_t executable;
  TUTTI_CUDA(cudaStreamCreate(&stream));
  if (!Capture(stream, &executable)) return false;
  for (int64_t n = 0; n < kLaunches; ++n) TUTTI_CUDA(cudaGraphLaunch(executable, stream));
  TUTTI_CUDA(cudaStreamSynchronize(stream));
  TUTTI_CUDA(cudaGraphExecDestroy(executable));
  truth.Expect(SpinKernels(kNodes * kLaunches, kNodeNs));
  truth.Expect({.what = "nodes of the graph",
                .table = "(SELECT DISTINCT graph_node_id FROM kernel)",
                .count = kNodes});
  truth.Expect({.what = "launches that the nodes tell apart",
                .table = "(SELECT DISTINCT correlation_id FROM kernel)",
                .count = kLaunches});
  truth.ExpectCalls("cudaGraphLaunch", kLaunches);
  return true;
}

}  // namespace tutti::gpu
