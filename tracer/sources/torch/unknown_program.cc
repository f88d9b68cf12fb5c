// A program that uses unknown_torch.cc as a training program uses PyTorch: allocates, makes a
// group, allocates again. Returns 7.
#include <cstddef>

extern "C" {
void* AllocCpu(size_t bytes) __asm__("_ZN3c109alloc_cpuEm");
void FreeCpu(void* memory) __asm__("_ZN3c108free_cpuEPv");
void Gloo(void* object, const void* store, int rank, int size, void* options) __asm__(
    "_ZN4c10d16ProcessGroupGlooC1ERKN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_"
    "target_default_null_typeIS3_EEEEiiNS2_INS0_7OptionsENS5_ISA_EEEE");
}

int main() {
  FreeCpu(AllocCpu(64));
  char group[512] = {};
  Gloo(group, nullptr, 0, 1, nullptr);
  FreeCpu(AllocCpu(128));
  return 7;
}
