/* A user's own NVTX tool, for the test that it keeps working behind ours. It checks that it
 * is given back its own handles and ids and prints one line a call: "name argument". */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NVTX_NO_IMPL
#include "nvtx3/nvToolsExt.h"
#include "nvtx3/nvToolsExtPayload.h"

#define EXPORT __attribute__((visibility("default")))

/* Handles are addresses of these, so that a foreign one is noticed. */
static char domains[16][64];
static unsigned domain_count;
static char strings[16][64];
static unsigned string_count;
static int depth;
static nvtxRangeId_t last_range = 1000;

static const char* DomainName(nvtxDomainHandle_t domain) {
  const char* name = (const char*)domain;
  if (!name) return "-";
  return name >= domains[0] && name < domains[16] ? name : "FOREIGN";
}

static const char* Message(const nvtxEventAttributes_t* attributes) {
  const char* name;
  if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII) return attributes->message.ascii;
  if (attributes->messageType != NVTX_MESSAGE_TYPE_REGISTERED) return "-";
  name = (const char*)attributes->message.registered;
  return name >= strings[0] && name < strings[16] ? name : "FOREIGN";
}

static nvtxDomainHandle_t DomainCreateA(const char* name) {
  unsigned i;
  for (i = 0; i < domain_count; ++i) {
    if (strcmp(domains[i], name) == 0) return (nvtxDomainHandle_t)domains[i];
  }
  printf("DomainCreate %s\n", name);
  strncpy(domains[domain_count], name, sizeof(domains[0]) - 1);
  return (nvtxDomainHandle_t)domains[domain_count++];
}

static nvtxStringHandle_t RegisterStringA(nvtxDomainHandle_t domain, const char* string) {
  printf("RegisterString %s/%s\n", DomainName(domain), string);
  strncpy(strings[string_count], string, sizeof(strings[0]) - 1);
  return (nvtxStringHandle_t)strings[string_count++];
}

static void DomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  printf("Mark %s/%s\n", DomainName(domain), Message(attributes));
}

static void MarkA(const char* message) { printf("Mark %s\n", message); }

static int RangePushA(const char* message) {
  printf("Push %s\n", message);
  return depth++;
}

static int RangePop(void) {
  printf("Pop\n");
  return --depth;
}

static nvtxRangeId_t RangeStartA(const char* message) {
  printf("Start %s\n", message);
  return ++last_range;
}

static void RangeEnd(nvtxRangeId_t id) { printf("End %llu\n", (unsigned long long)id); }

static void NameCudaDeviceA(int device, const char* name) {
  printf("NameCudaDevice %d %s\n", device, name);
}

static uint64_t SchemaRegister(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* schema) {
  printf("Schema %s/%s\n", DomainName(domain), schema->name);
  return NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + 77;
}

static void MarkPayload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, size_t count) {
  printf("MarkPayload %s %llu %zu\n", DomainName(domain),
         (unsigned long long)(data->schemaId - NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START), count);
}

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  const NvtxExportTableCallbacks* callbacks =
      (const NvtxExportTableCallbacks*)get_export_table(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable core = NULL;
  NvtxFunctionTable core2 = NULL;
  NvtxFunctionTable cudart = NULL;
  unsigned size = 0;
  setvbuf(stdout, NULL, _IONBF, 0);
  printf("Initialize\n");
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &size) ||
      size != NVTX_CBID_CORE_SIZE ||
      !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &core2, &size) ||
      size != NVTX_CBID_CORE2_SIZE ||
      !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CUDART, &cudart, &size)) {
    return 0;
  }
  *core[NVTX_CBID_CORE_MarkA] = (NvtxFunctionPointer)MarkA;
  *core[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)RangePushA;
  *core[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)RangePop;
  *core[NVTX_CBID_CORE_RangeStartA] = (NvtxFunctionPointer)RangeStartA;
  *core[NVTX_CBID_CORE_RangeEnd] = (NvtxFunctionPointer)RangeEnd;
  *core2[NVTX_CBID_CORE2_DomainMarkEx] = (NvtxFunctionPointer)DomainMarkEx;
  *core2[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)DomainCreateA;
  *core2[NVTX_CBID_CORE2_DomainRegisterStringA] = (NvtxFunctionPointer)RegisterStringA;
  *cudart[NVTX_CBID_CUDART_NameCudaDeviceA] = (NvtxFunctionPointer)NameCudaDeviceA;
  return 1;
}

EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return 1;
  module->segments->functionSlots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
      (intptr_t)SchemaRegister;
  module->segments->functionSlots[NVTX3EXT_CBID_nvtxMarkPayload] = (intptr_t)MarkPayload;
  return 1;
}
