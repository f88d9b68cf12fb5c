// Compares layout.h with the headers of the PyTorch that this test is built with (offsetof,
// private members included), and runs the run-time check against its library.
#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/version.h>

#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "tracer/sources/torch/layout.h"
#include "tracer/sources/torch/layout_check.h"
#include "tracer/sources/torch/library.h"
#include "tracer/sources/torch/op_names.h"

namespace tutti::tracer::torch {
namespace {

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

#define EXPECT_OFFSET(type, member, expected) EXPECT_EQ(offsetof(type, member), (expected))

Library LoadedLibrary() {
  Library library;
  const char* missing = "no libtorch_cpu";
  EXPECT_TRUE(FindLibrary(&library, &missing)) << missing;
  return library;
}

TEST(TorchLayout, CallbackIsTheHeaders) {
  using Real = at::RecordFunctionCallback;
  EXPECT_EQ(sizeof(Real), sizeof(GlobalCallback));
  EXPECT_OFFSET(Real, start_, offsetof(GlobalCallback, start));
  EXPECT_OFFSET(Real, end_, offsetof(GlobalCallback, end));
  EXPECT_OFFSET(Real, sampling_prob_, offsetof(GlobalCallback, sampling_probability));
  EXPECT_OFFSET(Real, scopes_, offsetof(GlobalCallback, scopes));
  EXPECT_EQ(sizeof(Real::scopes_), sizeof(GlobalCallback::scopes));
  EXPECT_OFFSET(Real, needs_inputs_, offsetof(GlobalCallback, needs_inputs));
  EXPECT_OFFSET(Real, needs_outputs_, offsetof(GlobalCallback, needs_outputs));
  EXPECT_OFFSET(Real, needs_ids_, offsetof(GlobalCallback, needs_ids));
}

TEST(TorchLayout, StepCallbacksIsTheHeaders) {
  using Real = at::StepCallbacks;
  EXPECT_EQ(sizeof(Real), sizeof(StepCallbacks));
  EXPECT_OFFSET(Real, callbacks_, offsetof(StepCallbacks, begin));
  EXPECT_OFFSET(Real, thread_id_, offsetof(StepCallbacks, thread_id));
  EXPECT_OFFSET(Real, scope_, offsetof(StepCallbacks, scope));
  EXPECT_OFFSET(Real, needs_inputs_, offsetof(StepCallbacks, needs_inputs));
  EXPECT_OFFSET(Real, needs_outputs_, offsetof(StepCallbacks, needs_outputs));
  EXPECT_OFFSET(Real, needs_ids_, offsetof(StepCallbacks, needs_ids));
  EXPECT_EQ(sizeof(Real::callbacks_), offsetof(StepCallbacks, thread_id));
}

TEST(TorchLayout, RecordFunctionIsTheHeaders) {
  using Real = at::RecordFunction;
  EXPECT_EQ(sizeof(Real), record_function::kBytes);
  const size_t step = offsetof(Real, step_callbacks_);
  EXPECT_EQ(step + offsetof(at::StepCallbacks, thread_id_), record_function::kThreadId);
  EXPECT_EQ(step + offsetof(at::StepCallbacks, scope_), record_function::kScope);
  EXPECT_OFFSET(Real, fn_, record_function::kName);
  EXPECT_OFFSET(Real, sequence_nr_, record_function::kSequenceNr);
  EXPECT_OFFSET(Real, inputs_, record_function::kInputs);
  EXPECT_OFFSET(Real, outputs_, record_function::kOutputs);
  EXPECT_OFFSET(Real, fwd_thread_id_, record_function::kForwardThreadId);
  EXPECT_OFFSET(Real, handle_, record_function::kHandle);
  EXPECT_OFFSET(Real, is_async_, record_function::kIsAsync);
  EXPECT_OFFSET(Real, debug_handle_, record_function::kDebugHandle);
  EXPECT_OFFSET(c10::FunctionSchema, name_, function_schema::kName);
  EXPECT_OFFSET(c10::OperatorName, name, 0u);
}

TEST(TorchLayout, NameVariantIsTheHeaders) {
  decltype(at::RecordFunction::fn_) name = std::string("text");
  const char* bytes = reinterpret_cast<const char*>(&name);
  constexpr size_t kIndex = record_function::kNameIsSchema - record_function::kName;
  EXPECT_EQ(bytes[kIndex], 0);
  alignas(c10::FunctionSchema) char schema[sizeof(c10::FunctionSchema)];
  name = at::RecordFunction::schema_ref_t(*reinterpret_cast<c10::FunctionSchema*>(schema));
  EXPECT_EQ(bytes[kIndex], 1);
  EXPECT_EQ(LoadField<const void*>(bytes, 0), schema);
}

TEST(TorchLayout, InputListIsTheHeaders) {
  const std::vector<c10::IValue> values(3);
  const c10::ArrayRef<c10::IValue> inputs(values);
  constexpr size_t kCount = record_function::kInputCount - record_function::kInputs;
  EXPECT_EQ(LoadField<const void*>(&inputs, 0), values.data());
  EXPECT_EQ(LoadField<uint64_t>(&inputs, kCount), 3u);
}

TEST(TorchLayout, ScopesAreTheHeaders) {
  EXPECT_EQ(static_cast<int>(at::RecordScope::FUNCTION), kScopeFunction);
  EXPECT_EQ(static_cast<int>(at::RecordScope::BACKWARD_FUNCTION), kScopeBackwardFunction);
  EXPECT_EQ(static_cast<int>(at::RecordScope::TORCHSCRIPT_FUNCTION), kScopeTorchscriptFunction);
  EXPECT_EQ(static_cast<int>(at::RecordScope::KERNEL_FUNCTION_DTYPE), kScopeKernelFunctionDtype);
  EXPECT_EQ(static_cast<int>(at::RecordScope::CUSTOM_CLASS), kScopeCustomClass);
  EXPECT_EQ(static_cast<int>(at::RecordScope::BUILD_FEATURE), kScopeBuildFeature);
  EXPECT_EQ(static_cast<int>(at::RecordScope::LITE_INTERPRETER), kScopeLiteInterpreter);
  EXPECT_EQ(static_cast<int>(at::RecordScope::USER_SCOPE), kScopeUser);
  EXPECT_EQ(static_cast<int>(at::RecordScope::STATIC_RUNTIME_OP), kScopeStaticRuntimeOp);
  EXPECT_EQ(static_cast<int>(at::RecordScope::STATIC_RUNTIME_MODEL), kScopeStaticRuntimeModel);
}

TEST(TorchLayout, IValueIsTheHeaders) {
  EXPECT_EQ(sizeof(c10::IValue), ivalue::kBytes);
  EXPECT_OFFSET(c10::IValue, payload, ivalue::kPayload);
  EXPECT_OFFSET(c10::IValue, tag, ivalue::kTag);
  EXPECT_OFFSET(c10::detail::ListImpl, list, list_impl::kElements);
  using Tag = c10::IValue::Tag;
  const Version version = LoadedLibrary().version;
  EXPECT_EQ(static_cast<uint32_t>(Tag::None), ivalue::kTagNone);
  EXPECT_EQ(static_cast<uint32_t>(Tag::Tensor), ivalue::kTagTensor);
  EXPECT_EQ(static_cast<uint32_t>(Tag::Double), ivalue::kTagDouble);
  EXPECT_EQ(static_cast<uint32_t>(Tag::Int), ivalue::kTagInt);
  EXPECT_EQ(static_cast<uint32_t>(Tag::Bool), TagBool(version));
  EXPECT_EQ(static_cast<uint32_t>(Tag::GenericList), TagGenericList(version));
}

TEST(TorchLayout, BackendIsTheHeaders) {
  EXPECT_OFFSET(c10d::Backend, rank_, backend::kRank);
  EXPECT_OFFSET(c10d::Backend, size_, backend::kSize);
  EXPECT_OFFSET(c10d::Backend, pg_uid_, backend::kUid);
  EXPECT_OFFSET(c10d::Backend, pg_desc_, backend::kDescription);
}

TEST(TorchLayout, RootsAreTheHeaders) {
  EXPECT_OFFSET(c10d::BroadcastOptions, rootRank, options::kBroadcastRoot);
  EXPECT_OFFSET(c10d::ReduceOptions, rootRank, options::kReduceRoot);
  EXPECT_OFFSET(c10d::GatherOptions, rootRank, options::kGatherRoot);
  EXPECT_OFFSET(c10d::ScatterOptions, rootRank, options::kScatterRoot);
}

TEST(TorchLayout, OpTypesAreTheHeaders) {
  const auto name = [](c10d::OpType type) { return OpName(static_cast<uint8_t>(type)); };
  EXPECT_STREQ(name(c10d::OpType::BROADCAST), "broadcast");
  EXPECT_STREQ(name(c10d::OpType::ALLREDUCE), "all_reduce");
  EXPECT_STREQ(name(c10d::OpType::_ALLGATHER_BASE), "all_gather");
  EXPECT_STREQ(name(c10d::OpType::REDUCE_SCATTER), "reduce_scatter");
  EXPECT_STREQ(name(c10d::OpType::ALLTOALL), "all_to_all");
  EXPECT_STREQ(name(c10d::OpType::BARRIER), "barrier");
  EXPECT_STREQ(name(c10d::OpType::_REDUCE_SCATTER_BASE), "reduce_scatter");
  EXPECT_STREQ(name(c10d::OpType::_ALLREDUCE_SPARSE), "all_reduce");
  EXPECT_EQ(OpName(kOpTypeUnknown), nullptr);
  EXPECT_EQ(static_cast<uint8_t>(c10d::OpType::SCATTER), kOpTypeScatter);
  EXPECT_EQ(static_cast<uint8_t>(c10d::OpType::REDUCE_SCATTER), kOpTypeReduceScatter);
  EXPECT_EQ(static_cast<uint8_t>(c10d::OpType::SEND), kOpTypeSend);
  EXPECT_EQ(static_cast<uint8_t>(c10d::OpType::RECV), kOpTypeReceive);
  EXPECT_TRUE(IsPointToPoint(static_cast<uint8_t>(c10d::OpType::RECVANYSOURCE)));
  EXPECT_TRUE(IsRooted(static_cast<uint8_t>(c10d::OpType::SCATTER)));
  EXPECT_FALSE(IsRooted(static_cast<uint8_t>(c10d::OpType::ALLREDUCE)));
  EXPECT_TRUE(CountsPerPeer(static_cast<uint8_t>(c10d::OpType::SCATTER)));
  EXPECT_FALSE(CountsPerPeer(static_cast<uint8_t>(c10d::OpType::ALLGATHER)));
}

TEST(TorchLayout, TensorIsTheHeaders) {
  using Real = c10::TensorImpl;
  const Library library = LoadedLibrary();
  const size_t sizes = FindTensorSizes(library);
  EXPECT_OFFSET(Real, sizes_and_strides_, sizes);
  EXPECT_OFFSET(Real, numel_, sizes + tensor_impl::kElements);
  EXPECT_OFFSET(Real, data_type_, sizes + tensor_impl::kDtype);
  using Sizes = c10::impl::SizesAndStrides;
  EXPECT_OFFSET(Sizes, size_, tensor_impl::kDimensions);
  EXPECT_OFFSET(Sizes, inlineStorage_, tensor_impl::kSizes);
  EXPECT_OFFSET(Sizes, outOfLineStorage_, tensor_impl::kSizes);
  EXPECT_EQ(C10_SIZES_AND_STRIDES_MAX_INLINE_SIZE, tensor_impl::kInlineDimensions);
  EXPECT_EQ(tensor_impl::kStrides, tensor_impl::kSizes + 5 * sizeof(int64_t));

  at::Tensor tensor = at::zeros({2});
  Real* real = tensor.unsafeGetTensorImpl();
  const auto policy = [&] { return LoadField<uint8_t>(real, sizes + tensor_impl::kPolicy); };
  EXPECT_EQ(policy() & tensor_impl::kPolicyCustomMask, 0);
  real->sizes_strides_policy_ = 3;
  EXPECT_EQ(policy() & tensor_impl::kPolicyCustomMask, tensor_impl::kPolicyCustomMask);
  real->sizes_strides_policy_ = 0;
  real->has_symbolic_sizes_strides_ = true;
  EXPECT_NE(policy() & tensor_impl::kPolicySymbolic, 0);
  real->has_symbolic_sizes_strides_ = false;
}

TEST(TorchLayout, StringsAndVectorsAreTheHeaders) {
  const std::string text = "abc";
  EXPECT_EQ(sizeof(text), std_string::kBytes);
  EXPECT_EQ(LoadField<const char*>(&text, std_string::kData), text.data());
  EXPECT_EQ(LoadField<uint64_t>(&text, std_string::kLength), 3u);
  EXPECT_EQ(text.data() - reinterpret_cast<const char*>(&text),
            static_cast<ptrdiff_t>(std_string::kShortText));
  const std::vector<uint64_t> numbers = {1, 2};
  EXPECT_EQ(LoadField<const void*>(&numbers, std_vector::kBegin), numbers.data());
  EXPECT_EQ(LoadField<const void*>(&numbers, std_vector::kEnd), numbers.data() + 2);
}

TEST(TorchLayout, DtypesAreTheHeaders) {
  EXPECT_STREQ(DescribeDtype(static_cast<int32_t>(c10::ScalarType::Float)).name, "float32");
  EXPECT_STREQ(DescribeDtype(static_cast<int32_t>(c10::ScalarType::Long)).name, "int64");
  EXPECT_STREQ(DescribeDtype(static_cast<int32_t>(c10::ScalarType::BFloat16)).name, "bfloat16");
  EXPECT_STREQ(DescribeDtype(static_cast<int32_t>(c10::ScalarType::Bool)).name, "bool");
  EXPECT_STREQ(DescribeDtype(static_cast<int32_t>(c10::ScalarType::UInt16)).name, "uint16");
  EXPECT_STREQ(DescribeDtype(static_cast<int32_t>(c10::ScalarType::Float8_e8m0fnu)).name,
               "float8_e8m0fnu");
  const auto count = static_cast<int32_t>(c10::ScalarType::NumOptions);
  for (int32_t type = 0; type < count; ++type) {
    const auto scalar = static_cast<c10::ScalarType>(type);
    if (scalar != c10::ScalarType::Undefined && *DescribeDtype(type).name != '\0') {
      EXPECT_EQ(DescribeDtype(type).element_bytes, c10::elementSize(scalar)) << type;
    }
  }
  EXPECT_STREQ(DescribeDtype(-1).name, "");
  EXPECT_STREQ(DescribeDtype(1000).name, "");
}

TEST(TorchLibrary, TellsTheVersionOfTheHeaders) {
  const Version version = LoadedLibrary().version;
  EXPECT_EQ(version.major, TORCH_VERSION_MAJOR);
  EXPECT_EQ(version.minor, TORCH_VERSION_MINOR);
  EXPECT_EQ(version.patch, TORCH_VERSION_PATCH);
  EXPECT_TRUE(IsKnown(version));
}

TEST(TorchLibrary, FindsNothingWhereThereIsNothing) {
  EXPECT_EQ(FindSymbol("libnot_there.so", "malloc"), nullptr);
  EXPECT_EQ(FindSymbol("libc10.so", "not_there"), nullptr);
  EXPECT_EQ(FindReal("libnot_there.so", "not_there"), nullptr);
}

TEST(TorchLibrary, FindsTheRealFunctionUnderAnotherFileName) {
  constexpr char kAllocate[] = "_ZN3c109alloc_cpuEm";
  EXPECT_EQ(FindReal("libnot_there.so", kAllocate), FindSymbol("libc10.so", kAllocate));
}

TEST(LayoutCheck, PassesOnTheLoadedLibrary) {
  const Library library = LoadedLibrary();
  EXPECT_EQ(FindRecordFunctionMismatch(library), nullptr) << FindRecordFunctionMismatch(library);
  EXPECT_EQ(FindBackendMismatch(library), nullptr) << FindBackendMismatch(library);
}

TEST(LayoutCheck, RunsNoOtherObserver) {
  static int runs = 0;
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
        ++runs;
        return nullptr;
      }));
  EXPECT_EQ(FindRecordFunctionMismatch(LoadedLibrary()), nullptr);
  at::removeCallback(handle);
  EXPECT_EQ(runs, 0);
}

// A library in which one thing lies elsewhere is played by answering for it differently.
TEST(LayoutCheck, NamesWhatLiesElsewhere) {
  Library library = LoadedLibrary();
  library.name = [](const void*) { return "another name"; };
  EXPECT_STREQ(FindRecordFunctionMismatch(library), "its name");

  library = LoadedLibrary();
  library.num_inputs = [](const void*) -> uint64_t { return 0; };
  EXPECT_STREQ(FindRecordFunctionMismatch(library), "its inputs");

  library = LoadedLibrary();
  library.num_outputs = [](const void*) -> uint64_t { return 0; };
  EXPECT_STREQ(FindRecordFunctionMismatch(library), "its outputs");

  library = LoadedLibrary();
  library.set_async = [](void*) {};
  EXPECT_STREQ(FindRecordFunctionMismatch(library), "whether it is asynchronous");

  library = LoadedLibrary();
  library.before = [](void*, FunctionDescriptor, int64_t) {};
  EXPECT_STREQ(FindRecordFunctionMismatch(library), "how its callbacks are kept");
}

TEST(LayoutCheck, FindsNoSizesInWhatIsNoUndefinedTensor) {
  Library library = LoadedLibrary();
  const at::Tensor tensor = at::zeros({0});
  library.undefined_tensor = tensor.unsafeGetTensorImpl();
  EXPECT_EQ(FindTensorSizes(library), 0u);
  library.undefined_tensor = nullptr;
  EXPECT_EQ(FindTensorSizes(library), 0u);
}

TEST(LayoutCheck, NamesWhatLiesElsewhereInABackend) {
  Library library = LoadedLibrary();
  library.backend_construct = [](void* object, int32_t, int32_t size) {
    static const auto real = LoadedLibrary().backend_construct;
    real(object, size, size);
  };
  EXPECT_STREQ(FindBackendMismatch(library), "its rank");
  library.backend_construct = nullptr;
  EXPECT_STREQ(FindBackendMismatch(library), "not in this PyTorch");
}

}  // namespace
}  // namespace tutti::tracer::torch
