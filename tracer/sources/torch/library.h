// The PyTorch that is loaded in this process: its exported functions, found by name. The
// tracer never links PyTorch, and never loads it: it only looks at what the program loaded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/sources/torch/layout.h"

namespace tutti::tracer::torch {

// std::variant<std::string_view, reference_wrapper<const FunctionSchema>>: passed in memory.
struct FunctionDescriptor {
  size_t length;
  const char* text;
  uint64_t index;  // 0: the string_view
};
static_assert(sizeof(FunctionDescriptor) == 24);

// Functions of libtorch_cpu and libc10 by their mangled names, which are the same in all
// known releases but where said. All of them are present after FindLibrary() returned true,
// except those marked optional, which may be nullptr.
struct Library {
  Version version;

  uint64_t (*add_global_callback)(GlobalCallback);
  const char* (*name)(const void* record_function);
  bool (*is_async)(const void* record_function);
  uint64_t (*num_inputs)(const void* record_function);
  uint64_t (*num_outputs)(const void* record_function);

  // For the run-time check of layouts.
  void (*construct)(void* record_function, StepCallbacks* moved_from);
  void (*destroy)(void* record_function);
  void (*set_async)(void* record_function);
  void (*end)(void* record_function);
  void (*before)(void* record_function, FunctionDescriptor, int64_t sequence_nr);  // since 2.9
  void (*before_text)(void* record_function, const char*, int64_t sequence_nr);    // 2.8

  // c10d; optional (a PyTorch may be built without distributed).
  void (*backend_construct)(void* backend, int32_t rank, int32_t size);
  void (*backend_destroy)(void* backend);
  const void* (*gloo_group_ranks)(const void* gloo);  // std::vector<uint64_t>
  uint8_t (*work_op_type)(const void* work);          // c10d::OpType

  // c10::UndefinedTensorImpl's one object: what an undefined at::Tensor points to. Optional.
  const void* undefined_tensor;
};

// Fills |library| from the libtorch_cpu and libc10 that are loaded. Returns true; or false
// with |*missing| = nullptr when there is no libtorch_cpu yet, else the name of a function
// that every known release has and this one lacks. Takes the loader's lock; not for hot paths.
bool FindLibrary(Library* library, const char** missing) noexcept;

// The address of |symbol| in the loaded library with this soname, or nullptr. Finds it also
// when the library was loaded RTLD_LOCAL, as Python does.
void* FindSymbol(const char* soname, const char* symbol) noexcept;

// As FindSymbol; when |soname| is not loaded or lacks it, looks through every loaded library
// but this one (a PyTorch under another file name). For interposed functions, which must
// reach the real one.
void* FindReal(const char* soname, const char* symbol) noexcept;

}  // namespace tutti::tracer::torch
