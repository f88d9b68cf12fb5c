// A libtorch_cpu.so that is laid out like no PyTorch that the tracer knows, and the libc10.so
// beside it in one file, for unknown_torch_test.cc: every function that the tracer looks for,
// version 3.1.0. What they do is counted on by nobody but the layout check.
//   UNKNOWN_TORCH_LACKS_NAME   leaves RecordFunction::name() out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#define AS(symbol) __asm__(symbol)

extern "C" {

void* AllocCpu(size_t bytes) AS("_ZN3c109alloc_cpuEm");
void* AllocCpu(size_t bytes) { return std::malloc(bytes); }
void FreeCpu(void* memory) AS("_ZN3c108free_cpuEPv");
void FreeCpu(void* memory) { std::free(memory); }

uint64_t aoti_torch_abi_version() { return uint64_t{3} << 56 | uint64_t{1} << 48; }

uint64_t AddCallback() AS("_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
uint64_t AddCallback() { std::abort(); }  // it must never come to this

#ifndef UNKNOWN_TORCH_LACKS_NAME
const char* Name(const void*) AS("_ZNK2at14RecordFunction4nameEv");
const char* Name(const void*) { return ""; }
#endif
bool IsAsync(const void*) AS("_ZNK2at14RecordFunction7isAsyncEv");
bool IsAsync(const void*) { return false; }
uint64_t NumInputs(const void*) AS("_ZNK2at14RecordFunction10num_inputsEv");
uint64_t NumInputs(const void*) { return 0; }
uint64_t NumOutputs(const void*) AS("_ZNK2at14RecordFunction11num_outputsEv");
uint64_t NumOutputs(const void*) { return 0; }
void Construct(void*, void*) AS("_ZN2at14RecordFunctionC1EONS_13StepCallbacksE");
void Construct(void*, void*) {}
void Destroy(void*) AS("_ZN2at14RecordFunctionD1Ev");
void Destroy(void*) {}
void SetAsync(void*) AS("_ZN2at14RecordFunction9_setAsyncEv");
void SetAsync(void*) {}
void End(void*) AS("_ZN2at14RecordFunction3endEv");
void End(void*) {}
void Before(void*, const char*, int64_t) AS("_ZN2at14RecordFunction6beforeEPKcl");
void Before(void*, const char*, int64_t) {}

// ProcessGroupGloo's constructor, which makes the program a rank.
void Gloo(void*, const void*, int, int, void*)
    AS("_ZN4c10d16ProcessGroupGlooC1ERKN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_"
       "target_default_null_typeIS3_EEEEiiNS2_INS0_7OptionsENS5_ISA_EEEE");
void Gloo(void*, const void*, int, int, void*) {}

}  // extern "C"
