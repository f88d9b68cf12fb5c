// gpu_truth PROGRAM: does what the program's comment in programs.h says, and prints its truth.
#include <cstdio>
#include <string_view>

#include "tests/gpu/programs.h"
#include "tracer/annotate.h"

namespace {

struct Program {
  std::string_view name;
  bool (*run)(tutti::gpu::Truth& truth);
};

constexpr Program kPrograms[] = {
    {"kernels", &tutti::gpu::RunKernels},
    {"streams", &tutti::gpu::RunStreams},
    {"copies", &tutti::gpu::RunCopies},
    {"graphs", &tutti::gpu::RunGraphs},
    {"pools", &tutti::gpu::RunPools},
    {"managed", &tutti::gpu::RunManaged},
    {"nvtx", &tutti::gpu::RunNvtx},
    {"fork", &tutti::gpu::RunFork},
    {"out_of_memory", &tutti::gpu::RunOutOfMemory},
};

int Run(const Program& program) {
  // The step makes it a rank; with the device's first use after it, all of CUDA is recorded.
  tutti_step_begin(0);
  tutti::gpu::Truth truth{std::string(program.name)};
  const bool done = tutti::gpu::Done(cudaSetDevice(0), "cudaSetDevice(0)") &&
                    tutti::gpu::Done(cudaFree(nullptr), "cudaFree(nullptr)") && program.run(truth);
  tutti_step_end();
  if (!done) return 1;
  std::printf("%s\n", truth.Json().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (const Program& program : kPrograms) {
    if (argc == 2 && program.name == argv[1]) return Run(program);
  }
  std::fputs("usage: gpu_truth PROGRAM, one of:", stderr);
  for (const Program& program : kPrograms) std::fprintf(stderr, " %s", program.name.data());
  std::fputs("\n", stderr);
  return 2;
}
