/* A plain C program that uses every part of NVTX's core API once, for the tests of the NVTX
 * source. It prints nothing; its exit code is the number of a call whose result was wrong.
 * With the argument "annotate" it first becomes a rank by an event in domain "tutti"; without
 * it, it uses NVTX as any program may and must stay a candidate. With "annotate env" it lets
 * a shell print what of LD_PRELOAD its children inherit. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

#include "nvtx3/nvToolsExt.h"
#include "nvtx3/nvToolsExtCudaRt.h"
#include "nvtx3/nvToolsExtPayload.h"
#include "nvtx3/nvToolsExtSync.h"

#define CHECK(condition)                     \
  do {                                       \
    if (!(condition)) return __LINE__ % 256; \
  } while (0)

static nvtxEventAttributes_t Attributes(void) {
  nvtxEventAttributes_t attributes;
  memset(&attributes, 0, sizeof(attributes));
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return attributes;
}

static nvtxEventAttributes_t AsciiAttributes(const char* message) {
  nvtxEventAttributes_t attributes = Attributes();
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

static void Annotate(void) {
  nvtxEventAttributes_t attributes = AsciiAttributes("go");
  nvtxDomainMarkEx(nvtxDomainCreateA("tutti"), &attributes);
}

/* Levels are told per domain, from 0, and a pop without a push is an error. */
static int UsePushPop(nvtxDomainHandle_t domain, int traced) {
  nvtxEventAttributes_t outer = AsciiAttributes("outer");
  const int untracked = NVTX_NO_PUSH_POP_TRACKING;
  outer.category = 3;
  outer.colorType = NVTX_COLOR_ARGB;
  outer.color = 0xff112233u;
  outer.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  outer.payload.iValue = -7;
  CHECK(nvtxDomainRangePushEx(domain, &outer) == (traced ? 0 : untracked));
  CHECK(nvtxRangePushA("crossing") == (traced ? 0 : untracked));
  CHECK(nvtxRangePushW(L"wide \u00e4\u20ac\U0001f600") == (traced ? 1 : untracked));
  CHECK(nvtxDomainRangePushEx(domain, &outer) == (traced ? 1 : untracked));
  CHECK(nvtxDomainRangePop(domain) == (traced ? 1 : untracked));
  CHECK(nvtxDomainRangePop(domain) == (traced ? 0 : untracked));
  CHECK(nvtxRangePop() == (traced ? 1 : untracked));
  CHECK(nvtxRangePop() == (traced ? 0 : untracked));
  CHECK(nvtxRangePop() < 0);
  return 0;
}

static int UseMarksAndStarts(nvtxDomainHandle_t domain) {
  nvtxEventAttributes_t mark = Attributes();
  nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxRangeId_t first;
  nvtxRangeId_t second;
  CHECK(registered != NULL);
  CHECK(registered == nvtxDomainRegisterStringW(domain, L"registered"));
  mark.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  mark.message.registered = registered;
  mark.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  mark.payload.fValue = 0.5f;
  nvtxDomainMarkEx(domain, &mark);
  nvtxMarkEx(&mark);
  nvtxMarkA("mark a");
  nvtxMarkW(L"mark w");
  first = nvtxRangeStartA("start a");
  second = nvtxDomainRangeStartEx(domain, &mark);
  CHECK(first != 0 && second != 0 && first != second);
  nvtxDomainRangeEnd(domain, second);
  nvtxRangeEnd(first);
  nvtxRangeEnd(nvtxRangeStartW(L"start w"));
  nvtxRangeEnd(nvtxRangeStartEx(&mark));
  return 0;
}

static int UseRegistrations(nvtxDomainHandle_t domain) {
  nvtxResourceAttributes_t resource;
  CHECK(domain == nvtxDomainCreateW(L"test domain"));
  CHECK(domain != nvtxDomainCreateA("other domain"));
  nvtxDomainNameCategoryA(domain, 3, "third");
  nvtxDomainNameCategoryW(domain, 4, L"fourth");
  nvtxNameCategoryA(3, "default third");
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "the thread");
  memset(&resource, 0, sizeof(resource));
  CHECK(nvtxDomainResourceCreate(domain, &resource) != NULL);
  nvtxNameCudaDeviceA(0, "device");
  nvtxNameCudaDeviceW(0, L"device");
  nvtxDomainSyncUserDestroy(nvtxDomainSyncUserCreate(domain, NULL));
  return 0;
}

struct Numbers {
  uint8_t small;
  uint64_t large;
  const char* text;
  nvtxStringHandle_t handle;
  int32_t values[3];
};

static const nvtxPayloadSchemaEntry_t kEntries[] = {
    {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "small", NULL, 0, 0, NULL, NULL},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "large", NULL, 0, 0, NULL, NULL},
    {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 0, 0,
     NULL, NULL},
    {0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "handle", NULL, 0, 0, NULL, NULL},
    {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "values", NULL, 3, 0,
     NULL, NULL},
};

static uint64_t RegisterNumbers(nvtxDomainHandle_t domain) {
  nvtxPayloadSchemaAttr_t schema;
  memset(&schema, 0, sizeof(schema));
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = "numbers";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = kEntries;
  schema.numEntries = sizeof(kEntries) / sizeof(kEntries[0]);
  schema.payloadStaticSize = sizeof(struct Numbers);
  return nvtxPayloadSchemaRegister(domain, &schema);
}

static uint64_t RegisterColours(nvtxDomainHandle_t domain) {
  static const nvtxPayloadEnum_t kColours[] = {{"red", 1, 0}, {"green", 2, 0}};
  nvtxPayloadEnumAttr_t attributes;
  memset(&attributes, 0, sizeof(attributes));
  attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  attributes.name = "colour";
  attributes.entries = kColours;
  attributes.numEntries = 2;
  attributes.sizeOfEnum = 4;
  attributes.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1;
  return nvtxPayloadEnumRegister(domain, &attributes);
}

static int UsePayloads(nvtxDomainHandle_t domain, int traced) {
  struct Numbers numbers = {200, 1234567890123ull, "from a pointer", NULL, {1, -2, 3}};
  nvtxPayloadData_t payload;
  nvtxEventAttributes_t attributes = AsciiAttributes("with payload");
  nvtxRangeId_t id;
  numbers.handle = nvtxDomainRegisterStringA(domain, "from a handle");
  payload.schemaId = RegisterNumbers(domain);
  payload.size = SIZE_MAX; /* the schema says */
  payload.payload = &numbers;
  CHECK(payload.schemaId >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
  CHECK(RegisterColours(domain) == NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1);
  attributes.payloadType = (int32_t)NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;
  attributes.payload.ullValue = (uint64_t)(uintptr_t)&payload;
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxMarkPayload(domain, &payload, 1);
  CHECK(nvtxRangePushPayload(domain, &payload, 1) == (traced ? 1 : NVTX_NO_PUSH_POP_TRACKING));
  CHECK(nvtxRangePopPayload(domain, &payload, 1) == (traced ? 1 : NVTX_NO_PUSH_POP_TRACKING));
  id = nvtxRangeStartPayload(domain, &payload, 1);
  CHECK(id != 0);
  nvtxRangeEndPayload(domain, id, &payload, 1);
  nvtxDomainRangePop(domain);
  CHECK(nvtxDomainIsEnabled(domain) == 1);
  return 0;
}

int main(int argc, char** argv) {
  const int traced = argc > 1 && strcmp(argv[1], "annotate") == 0;
  nvtxDomainHandle_t domain;
  int wrong;
  nvtxInitialize(NULL);
  domain = nvtxDomainCreateA("test domain");
  CHECK(domain != NULL);
  if ((wrong = UseRegistrations(domain)) != 0) return wrong;
  if (traced) Annotate();
  if (argc > 2) return system("env | grep LD_PRELOAD") == 0 ? 0 : 1;
  if ((wrong = UsePushPop(domain, traced)) != 0) return wrong;
  if ((wrong = UseMarksAndStarts(domain)) != 0) return wrong;
  if ((wrong = UsePayloads(domain, traced)) != 0) return wrong;
  nvtxDomainDestroy(domain);
  return 0;
}
