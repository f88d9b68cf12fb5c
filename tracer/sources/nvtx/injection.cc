#include "tracer/sources/nvtx/injection.h"

#include "tracer/sources/nvtx/callbacks.h"
#include "tracer/sources/nvtx/chain.h"
#include "tracer/sources/nvtx/ignored.h"
#include "tracer/sources/nvtx/registry.h"
#include "tracer/sources/nvtx/schema.h"

namespace tutti::tracer::nvtx {
namespace {

using Installer = void (*)(NvtxCallbackModule module, NvtxFunctionTable table, unsigned size);

void InstallModule(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
                   Installer install) noexcept {
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) != 0 && table != nullptr) {
    install(module, table, size);
  }
}

// Tells the library which version of the interface its tool was built with.
void TellVersion(NvtxGetExportTableFunc_t get_export_table) noexcept {
  const auto* version =
      static_cast<const NvtxExportTableVersionInfo*>(get_export_table(NVTX_ETID_VERSIONINFO));
  if (version != nullptr && version->struct_size >= sizeof(*version) &&
      version->SetInjectionNvtxVersion != nullptr) {
    version->SetInjectionNvtxVersion(NVTX_VERSION);
  }
}

}  // namespace

int InitializeInjection(NvtxGetExportTableFunc_t get_export_table) noexcept {
  if (get_export_table == nullptr) return 0;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(*callbacks)) return 0;
  TellVersion(get_export_table);
  Chain::Attach(get_export_table);
  InstallModule(
      *callbacks, NVTX_CB_MODULE_CORE,
      [](NvtxCallbackModule, NvtxFunctionTable table, unsigned size) { InstallCore(table, size); });
  InstallModule(*callbacks, NVTX_CB_MODULE_CORE2,
                [](NvtxCallbackModule, NvtxFunctionTable table, unsigned size) {
                  InstallCore2(table, size);
                });
  for (const NvtxCallbackModule module :
       {NVTX_CB_MODULE_CUDA, NVTX_CB_MODULE_OPENCL, NVTX_CB_MODULE_CUDART, NVTX_CB_MODULE_SYNC}) {
    InstallModule(*callbacks, module, &InstallIgnored);
  }
  return 1;
}

void OnPromotion() noexcept {
  EmitSchemas();
  EmitThreadNames();
  EmitIgnored();
}

}  // namespace tutti::tracer::nvtx
