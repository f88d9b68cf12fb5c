// A LibTorch program for live_torch_test.cc, run with and without the tracer preloaded:
//   torch_live_program SCENARIO
// Where it prints "truth NAME COUNT", that is what an observer of its own (written with
// PyTorch's headers) counted, or what it did itself.
#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

namespace {

using Gloo = c10d::ProcessGroupGloo;
using GlooPtr = c10::intrusive_ptr<Gloo>;
using Tensors = std::vector<at::Tensor>;

GlooPtr MakeGloo(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size) {
  auto options = Gloo::Options::create();
  options->devices.push_back(Gloo::createDeviceForHostname("127.0.0.1"));
  options->timeout = std::chrono::seconds(20);
  return c10::make_intrusive<Gloo>(store, rank, size, options);
}

c10::intrusive_ptr<c10d::ProcessGroup> Wrap(const GlooPtr& gloo) {
  auto group = c10::make_intrusive<c10d::ProcessGroup>(gloo->getRank(), gloo->getSize());
  group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
  group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
  group->setGroupName("live");
  group->setGroupDesc("pair of threads");
  return group;
}

// Runs |run| as two ranks, each in a thread of its own.
template <typename Run>
void AsTwoRanks(const Run& run) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  std::thread other([&] { run(MakeGloo(store, 1, 2), 1); });
  run(MakeGloo(store, 0, 2), 0);
  other.join();
}

// The truth about RecordFunctions that begin after Start(): how many of each name ended.
class Observer {
 public:
  static void Start() { at::addGlobalCallback(at::RecordFunctionCallback(&OnStart, &OnEnd)); }
  static void Print() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [name, count] : counts_) {
      std::printf("truth %s %d\n", name.c_str(), count);
    }
  }

 private:
  static std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction&) { return nullptr; }
  static void OnEnd(const at::RecordFunction& function, at::ObserverContext*) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counts_[function.name()];
  }
  static inline std::mutex mutex_;
  static inline std::map<std::string, int> counts_;
};

// Two training steps of a small model on two ranks, with a Reducer of two buckets.
void Train() {
  AsTwoRanks([](const GlooPtr& gloo, int rank) {
    if (rank == 0) Observer::Start();
    Tensors parameters = {at::ones({8, 4}), at::ones({8}), at::ones({1, 8}), at::ones({1})};
    for (at::Tensor& parameter : parameters) parameter.set_requires_grad(true);
    const auto group = Wrap(gloo);
    gloo->barrier()->wait();  // nobody trains before the observer is there
    c10d::Reducer reducer(parameters, {{3, 2}, {1, 0}}, group, {false, false, false, false},
                          1 << 20, false, false, {}, 1 << 20, false, false, {});
    for (int step = 0; step < 2; ++step) {
      const at::RecordFunction::FunctionDescriptor name("live_step");
      at::RecordFunction range(at::RecordScope::USER_SCOPE);
      range.before(name);
      reducer.prepare_for_forward();
      const at::Tensor hidden =
          at::relu(at::linear(at::ones({2, 4}), parameters[0], parameters[1]));
      const at::Tensor loss = at::linear(hidden, parameters[2], parameters[3]).sum();
      reducer.prepare_for_backward({loss});
      loss.backward();
    }
    gloo->barrier()->wait();
  });
  Observer::Print();
}

// Each operation once, on two ranks.
void Communicate() {
  AsTwoRanks([](const GlooPtr& gloo, int rank) {
    const auto group = Wrap(gloo);
    Tensors tensor = {at::ones({1000})};
    gloo->allreduce(tensor)->wait();
    Tensors counts = {at::ones({3, 5}, at::kLong)};
    c10d::BroadcastOptions broadcast;
    broadcast.rootRank = 1;
    gloo->broadcast(counts, broadcast)->wait();
    c10d::ReduceOptions reduce;
    reduce.rootRank = 1;
    gloo->reduce(tensor, reduce)->wait();
    std::vector<Tensors> gathered = {{at::zeros({1000}), at::zeros({1000})}};
    gloo->allgather(gathered, tensor)->wait();
    std::vector<Tensors> none;
    gloo->gather(rank == 0 ? gathered : none, tensor)->wait();
    c10d::ScatterOptions scatter;
    gloo->scatter(tensor, rank == 0 ? gathered : none, scatter)->wait();
    at::Tensor out = at::zeros({10}, at::kDouble);
    at::Tensor in = at::ones({10}, at::kDouble);
    std::vector<int64_t> even;
    gloo->alltoall_base(out, in, even, even)->wait();
    if (rank == 0) {
      gloo->send(tensor, 1, 7)->wait();
    } else {
      gloo->recv(tensor, 0, 7)->wait();
    }
    at::Tensor part = at::zeros({500});
    at::Tensor whole = at::ones({1000});
    group->_reduce_scatter_base(part, whole)->wait();
    gloo->allreduce(counts)->wait();
    gloo->barrier()->wait();
  });
}

// A RecordFunction that ends on another thread, one that says so beforehand, and two that end
// in the wrong order.
void EndElsewhere() {
  MakeGloo(c10::make_intrusive<c10d::HashStore>(), 0, 1);
  const auto make = [](const char* name, bool is_async) {
    auto range = std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE);
    if (is_async) range->_setAsync();
    range->before(at::RecordFunction::FunctionDescriptor(name));
    return range;
  };
  auto silent = make("ends elsewhere", false);
  auto async = make("async", true);
  std::thread([&] {
    silent->end();
    async->end();
  }).join();
  auto first = make("first", false);
  auto second = make("second", false);
  first->end();
  second->end();
}

// What PyTorch's own accounting of CPU memory says, while tensors come and go.
class Accountant : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++(bytes > 0 ? allocations_ : releases_);
    (bytes > 0 ? allocated_ : released_) += bytes > 0 ? bytes : -bytes;
  }
  bool memoryProfilingEnabled() const override { return true; }
  void Print() const {
    std::printf("truth allocations %ld\ntruth releases %ld\n", allocations_, releases_);
    std::printf("truth allocated_bytes %ld\ntruth released_bytes %ld\n", allocated_, released_);
  }

 private:
  std::mutex mutex_;
  long allocations_ = 0;
  long releases_ = 0;
  long allocated_ = 0;
  long released_ = 0;
};

void Allocate() {
  MakeGloo(c10::make_intrusive<c10d::HashStore>(), 0, 1);
  const auto accountant = std::make_shared<Accountant>();
  {
    const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, accountant);
    at::RecordFunction begin(at::RecordScope::USER_SCOPE);
    begin.before(at::RecordFunction::FunctionDescriptor("memory begins"));
    at::Tensor kept = at::zeros({100});
    for (int i = 1; i <= 50; ++i) {
      kept = at::cat({kept, at::ones({i})});
      kept = at::mm(at::ones({i, 7}), at::ones({7, i})).flatten();
    }
  }
  accountant->Print();
}

// Exceptions leave PyTorch's functions through the tracer's.
void Throw() {
  const GlooPtr gloo = MakeGloo(c10::make_intrusive<c10d::HashStore>(), 0, 1);
  try {
    at::empty({int64_t{1} << 60});
  } catch (const c10::Error&) {
    std::printf("truth caught_out_of_memory 1\n");
  }
  Tensors tensor = {at::ones({1})};
  c10d::BroadcastOptions options;
  options.rootRank = 5;
  try {
    gloo->broadcast(tensor, options)->wait();
  } catch (const std::exception&) {
    std::printf("truth caught_bad_root 1\n");
  }
  gloo->allreduce(tensor)->wait();
}

// Tensors, but no training.
void Compute() { std::printf("truth sum %d\n", at::ones({10, 10}).sum().item<int>()); }

void Backward() {
  at::Tensor x = at::ones({3});
  x.set_requires_grad(true);
  (x * x).sum().backward();
  std::printf("truth gradient %d\n", x.grad().sum().item<int>());
}

// Rank 1 never enters the second all-reduce; both stay where they are until they are killed.
void Hang() {
  AsTwoRanks([](const GlooPtr& gloo, int rank) {
    Tensors tensor = {at::ones({256})};
    gloo->allreduce(tensor)->wait();
    if (rank == 1) {
      for (;;) pause();
    }
    const auto work = gloo->allreduce(tensor);
    usleep(300'000);
    std::printf("hangs\n");
    std::fflush(stdout);
    work->wait();
  });
}

// A child works with tensors; only the parent records.
void Fork() {
  const GlooPtr gloo = MakeGloo(c10::make_intrusive<c10d::HashStore>(), 0, 1);
  const at::Tensor before = at::ones({3}).neg();
  if (fork() == 0) {
    for (int i = 0; i < 1000; ++i) at::ones({3}).abs();
    _exit(0);
  }
  const at::Tensor after = at::ones({3}).neg();
}

struct Scenario {
  const char* name;
  void (*run)();
};
constexpr Scenario kScenarios[] = {
    {"train", &Train},
    {"communicate", &Communicate},
    {"end_elsewhere", &EndElsewhere},
    {"allocate", &Allocate},
    {"throw", &Throw},
    {"compute", &Compute},
    {"backward", &Backward},
    {"hang", &Hang},
    {"fork", &Fork},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Scenario& scenario : kScenarios) {
    if (argc == 2 && std::strcmp(argv[1], scenario.name) == 0) {
      scenario.run();
      return 7;  // whatever the program returns must stay what it is
    }
  }
  std::fprintf(stderr, "usage: torch_live_program SCENARIO\n");
  return 2;
}
