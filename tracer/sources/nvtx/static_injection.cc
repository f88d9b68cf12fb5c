// Ties the tracer to NVTX at link time, by the pointers that NVTX's loader looks at last:
// for builds with a sanitizer, whose runtime can't be preloaded.
#include "tracer/sources/nvtx/abi.h"

extern "C" {
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table);
int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module);

// NOLINTBEGIN(readability-identifier-naming): NVTX's names
NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = &InitializeInjectionNvtx2;
NvtxExtInitializeInjectionFunc_t InitializeInjectionNvtxExtension_fnptr =
    &InitializeInjectionNvtxExtension;
// NOLINTEND(readability-identifier-naming)
}
