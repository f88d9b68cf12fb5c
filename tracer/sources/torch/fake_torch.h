// A PyTorch for tests: RecordFunctions, tensors, Gloo groups and works that are laid out as
// layout.h says, and a registry that keeps the callbacks and runs them as PyTorch does. No
// PyTorch is needed, so these tests run under every sanitizer.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tracer/sources/torch/layout.h"
#include "tracer/sources/torch/operators.h"
#include "tracer/sources/torch/source.h"

namespace tutti::tracer::torch {

template <typename T>
void StoreField(void* base, size_t offset, T value) {
  std::memcpy(static_cast<char*>(base) + offset, &value, sizeof(value));
}

// A dense CPU tensor as an IValue.
class FakeTensor {
 public:
  FakeTensor(std::vector<int64_t> sizes, int32_t dtype) : sizes_(std::move(sizes)) {
    int64_t elements = 1;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      StoreField(impl_, kSizesOffset + tensor_impl::kSizes + i * sizeof(int64_t), sizes_[i]);
      elements *= sizes_[i];
    }
    StoreField(impl_, kSizesOffset + tensor_impl::kDimensions, uint64_t{sizes_.size()});
    StoreField(impl_, kSizesOffset + tensor_impl::kElements, elements);
    StoreField(impl_, kSizesOffset + tensor_impl::kDtype, static_cast<uint16_t>(dtype));
  }
  static constexpr size_t kSizesOffset = tensor_impl::kSizesCandidates[0];
  const void* impl() const { return impl_; }

 private:
  std::vector<int64_t> sizes_;
  alignas(8) char impl_[256] = {};
};

// An at::RecordFunction.
class FakeRecord {
 public:
  // Named by an operator's schema, which must outlive it.
  static FakeRecord Operator(const std::string& schema_name, Scope scope = kScopeFunction) {
    FakeRecord record(scope);
    StoreField(record.bytes_.get(), record_function::kName, &schema_name);
    StoreField(record.bytes_.get(), record_function::kNameIsSchema, uint8_t{1});
    return record;
  }
  // Named by a text of its own.
  static FakeRecord Range(const std::string& name, Scope scope = kScopeUser) {
    FakeRecord record(scope);
    record.name_ = std::make_unique<std::string>(name);
    StoreField(record.bytes_.get(), record_function::kName, record.name_->data());
    StoreField(record.bytes_.get(), record_function::kName + std_string::kLength,
               uint64_t{name.size()});
    return record;
  }

  FakeRecord& Sequence(int64_t number) {
    StoreField(bytes_.get(), record_function::kSequenceNr, number);
    return *this;
  }
  FakeRecord& Threads(uint64_t own, uint64_t forward) {
    StoreField(bytes_.get(), record_function::kThreadId, own);
    StoreField(bytes_.get(), record_function::kForwardThreadId, forward);
    return *this;
  }
  FakeRecord& Async() {
    StoreField(bytes_.get(), record_function::kIsAsync, true);
    return *this;
  }
  FakeRecord& Inputs(const std::vector<const FakeTensor*>& tensors) {
    inputs_ = std::make_unique<char[]>(tensors.size() * ivalue::kBytes);
    for (size_t i = 0; i < tensors.size(); ++i) {
      char* value = inputs_.get() + i * ivalue::kBytes;
      StoreField(value, ivalue::kPayload, tensors[i]->impl());
      StoreField(value, ivalue::kTag, ivalue::kTagTensor);
    }
    StoreField(bytes_.get(), record_function::kInputs, inputs_.get());
    StoreField(bytes_.get(), record_function::kInputCount, uint64_t{tensors.size()});
    return *this;
  }

  // Runs the callbacks of its scope.
  void Start();
  void End();

 private:
  explicit FakeRecord(Scope scope) : bytes_(new char[record_function::kBytes]()), scope_(scope) {
    StoreField(bytes_.get(), record_function::kScope, static_cast<uint8_t>(scope));
    Sequence(-1).Threads(1, 0);
  }

  std::unique_ptr<char[]> bytes_;
  std::unique_ptr<std::string> name_;
  std::unique_ptr<char[]> inputs_;
  Scope scope_;
  void* context_ = nullptr;
};

// at::ObserverContext: what PyTorch deletes a callback's context as.
struct FakeObserverContext {
  virtual ~FakeObserverContext() = default;
};

// The callbacks that were registered.
struct FakeRegistry {
  static inline std::vector<GlobalCallback> callbacks;
  static const GlobalCallback* For(Scope scope) {
    for (const GlobalCallback& callback : callbacks) {
      if (callback.scopes[scope]) return &callback;
    }
    return nullptr;
  }
};

inline void FakeRecord::Start() {
  if (const GlobalCallback* callback = FakeRegistry::For(scope_)) {
    callback->start(&context_, bytes_.get());
  }
}

// The tracer's contexts are no at::ObserverContext, and need not be: PyTorch calls the destructor
// through the virtual table, and nothing else. UBSan would look for the base class.
[[gnu::no_sanitize("vptr")]] inline void FakeRecord::End() {
  if (const GlobalCallback* callback = FakeRegistry::For(scope_)) {
    callback->end(bytes_.get(), context_);
  }
  delete static_cast<FakeObserverContext*>(context_);
  context_ = nullptr;
}

// A c10d::ProcessGroupGloo.
class FakeGloo {
 public:
  FakeGloo(int32_t rank, int32_t size, std::string uid, std::vector<uint64_t> ranks)
      : uid_(std::move(uid)), ranks_(std::move(ranks)) {
    StoreField(object_, backend::kRank, rank);
    StoreField(object_, backend::kSize, size);
    StoreField(object_, backend::kUid, uid_.data());
    StoreField(object_, backend::kUid + std_string::kLength, uint64_t{uid_.size()});
    StoreField(object_, backend::kDescription, uid_.data());
    StoreField(object_, kRanks, &ranks_);
  }
  const void* address() const { return object_; }
  static const void* Ranks(const void* gloo) { return LoadField<const void*>(gloo, kRanks); }

 private:
  static constexpr size_t kRanks = 128;
  std::string uid_;
  std::vector<uint64_t> ranks_;
  alignas(8) char object_[160] = {};
};

// A c10d::ProcessGroupGloo::AsyncWork: its address matters, and its kind.
struct FakeWork {
  uint8_t op_type;
  static uint8_t OpType(const void* work) { return static_cast<const FakeWork*>(work)->op_type; }
};

// Attaches the source to this PyTorch, once a process.
inline void AttachToFakeTorch() {
  Source& source = TheSource();
  if (source.state.load() == Source::State::kAttached) return;
  source.library.version = {2, 11, 0};
  source.library.add_global_callback = [](GlobalCallback callback) -> uint64_t {
    FakeRegistry::callbacks.push_back(callback);
    return FakeRegistry::callbacks.size();
  };
  source.library.gloo_group_ranks = &FakeGloo::Ranks;
  source.library.work_op_type = &FakeWork::OpType;
  source.backend_is_known = true;
  source.tensors = {FakeTensor::kSizesOffset, nullptr, TagGenericList(source.library.version)};
  source.state.store(Source::State::kAttached);
  RegisterCallbacks(source.library);
}

}  // namespace tutti::tracer::torch
