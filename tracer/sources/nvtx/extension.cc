#include "tracer/sources/nvtx/extension.h"

#include <atomic>
#include <cstddef>

#include "tracer/core/clock.h"
#include "tracer/core/gate.h"
#include "tracer/sources/nvtx/chain.h"
#include "tracer/sources/nvtx/ignored.h"
#include "tracer/sources/nvtx/ranges.h"
#include "tracer/sources/nvtx/schema.h"

namespace tutti::tracer::nvtx {
namespace {

using Payloads = const nvtxPayloadData_t*;

uint64_t OnSchemaRegister(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* attributes) {
  const uint64_t chained = Chain::CallExtension(NVTX3EXT_CBID_nvtxPayloadSchemaRegister,
                                                uint64_t{0}, domain, attributes);
  return RegisterSchema(DomainOf(domain), attributes, chained);
}

uint64_t OnEnumRegister(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* attributes) {
  const uint64_t chained =
      Chain::CallExtension(NVTX3EXT_CBID_nvtxPayloadEnumRegister, uint64_t{0}, domain, attributes);
  return RegisterEnum(DomainOf(domain), attributes, chained);
}

void OnMark(nvtxDomainHandle_t domain, Payloads payloads, size_t count) {
  Mark(DomainOf(domain), Event::Of(payloads, count));
  Chain::NotifyExtension(NVTX3EXT_CBID_nvtxMarkPayload, domain, payloads, count);
}

int OnRangePush(nvtxDomainHandle_t domain, Payloads payloads, size_t count) {
  const int chained = Chain::CallExtension(NVTX3EXT_CBID_nvtxRangePushPayload,
                                           NVTX_NO_PUSH_POP_TRACKING, domain, payloads, count);
  const int own = Push(DomainOf(domain), Event::Of(payloads, count));
  return own != NVTX_NO_PUSH_POP_TRACKING ? own : chained;
}

int OnRangePop(nvtxDomainHandle_t domain, Payloads payloads, size_t count) {
  const int own = Pop(DomainOf(domain), Event::Of(payloads, count));
  const int chained = Chain::CallExtension(NVTX3EXT_CBID_nvtxRangePopPayload,
                                           NVTX_NO_PUSH_POP_TRACKING, domain, payloads, count);
  return own != NVTX_NO_PUSH_POP_TRACKING ? own : chained;
}

nvtxRangeId_t OnRangeStart(nvtxDomainHandle_t domain, Payloads payloads, size_t count) {
  const nvtxRangeId_t chained = Chain::CallExtension(NVTX3EXT_CBID_nvtxRangeStartPayload,
                                                     nvtxRangeId_t{0}, domain, payloads, count);
  return Start(DomainOf(domain), Event::Of(payloads, count), chained);
}

void OnRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id, Payloads payloads, size_t count) {
  End(DomainOf(domain), Event::Of(payloads, count), id);
  Chain::NotifyExtension(NVTX3EXT_CBID_nvtxRangeEndPayload, domain, id, payloads, count);
}

uint8_t OnIsEnabled(nvtxDomainHandle_t domain) {
  const bool own = Active() || IsCandidate();
  const uint8_t chained =
      Chain::CallExtension(NVTX3EXT_CBID_nvtxDomainIsEnabled, uint8_t{0}, domain);
  return own || chained != 0 ? 1 : 0;
}

// An id for something whose registration is accepted and not recorded.
uint64_t NextIgnoredId() noexcept {
  static constinit std::atomic<uint64_t> last_id{NVTX_SCOPE_ID_DYNAMIC_START};
  return last_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

uint64_t OnScopeRegister(nvtxDomainHandle_t domain, const nvtxScopeAttr_t* attributes) {
  CountIgnored(IgnoredGroup::kDeferredEvents);
  const bool given = attributes != nullptr && attributes->scopeId != NVTX_SCOPE_NONE;
  return Chain::CallExtension(NVTX3EXT_CBID_nvtxScopeRegister,
                              given ? attributes->scopeId : NextIgnoredId(), domain, attributes);
}

int64_t OnTimestampGet() {
  return Chain::CallExtension(NVTX3EXT_CBID_nvtxTimestampGet,
                              static_cast<int64_t>(NowTicks(wire::ClockKind::kMonotonicRaw)));
}

uint64_t OnTimeDomainRegister(nvtxDomainHandle_t domain, const nvtxTimeDomainAttr_t* attributes) {
  CountIgnored(IgnoredGroup::kDeferredEvents);
  const bool given = attributes != nullptr && attributes->timeDomainId != 0;
  return Chain::CallExtension(NVTX3EXT_CBID_nvtxTimeDomainRegister,
                              given ? attributes->timeDomainId : NextIgnoredId(), domain,
                              attributes);
}

template <uint32_t kSlot, typename... Arguments>
void Ignore(Arguments... arguments) {
  CountIgnored(IgnoredGroup::kDeferredEvents);
  Chain::NotifyExtension(kSlot, arguments...);
}

// The slot's index and the function to put there.
struct Slot {
  uint32_t index;
  intptr_t function;
};

template <typename Function>
intptr_t AddressOf(Function* function) noexcept {
  return reinterpret_cast<intptr_t>(function);
}

void InstallPayload(const nvtxExtModuleSegment_t& segment) noexcept {
  using Handle = nvtxDomainHandle_t;
  const Slot slots[] = {
      {NVTX3EXT_CBID_nvtxPayloadSchemaRegister, AddressOf(&OnSchemaRegister)},
      {NVTX3EXT_CBID_nvtxPayloadEnumRegister, AddressOf(&OnEnumRegister)},
      {NVTX3EXT_CBID_nvtxMarkPayload, AddressOf(&OnMark)},
      {NVTX3EXT_CBID_nvtxRangePushPayload, AddressOf(&OnRangePush)},
      {NVTX3EXT_CBID_nvtxRangePopPayload, AddressOf(&OnRangePop)},
      {NVTX3EXT_CBID_nvtxRangeStartPayload, AddressOf(&OnRangeStart)},
      {NVTX3EXT_CBID_nvtxRangeEndPayload, AddressOf(&OnRangeEnd)},
      {NVTX3EXT_CBID_nvtxDomainIsEnabled, AddressOf(&OnIsEnabled)},
      {NVTX3EXT_CBID_nvtxScopeRegister, AddressOf(&OnScopeRegister)},
      {NVTX3EXT_CBID_nvtxTimestampGet, AddressOf(&OnTimestampGet)},
      {NVTX3EXT_CBID_nvtxTimeDomainRegister, AddressOf(&OnTimeDomainRegister)},
      {NVTX3EXT_CBID_nvtxTimerSource,
       AddressOf(
           &Ignore<NVTX3EXT_CBID_nvtxTimerSource, Handle, uint64_t, uint64_t, int64_t (*)()>)},
      {NVTX3EXT_CBID_nvtxTimerSourceWithData,
       AddressOf(&Ignore<NVTX3EXT_CBID_nvtxTimerSourceWithData, Handle, uint64_t, uint64_t,
                         int64_t (*)(void*), void*>)},
      {NVTX3EXT_CBID_nvtxTimeSyncPoint,
       AddressOf(
           &Ignore<NVTX3EXT_CBID_nvtxTimeSyncPoint, Handle, uint64_t, uint64_t, int64_t, int64_t>)},
      {NVTX3EXT_CBID_nvtxTimeSyncPointTable,
       AddressOf(&Ignore<NVTX3EXT_CBID_nvtxTimeSyncPointTable, Handle, uint64_t, uint64_t,
                         const nvtxSyncPoint_t*, size_t>)},
      {NVTX3EXT_CBID_nvtxTimestampConversionFactor,
       AddressOf(&Ignore<NVTX3EXT_CBID_nvtxTimestampConversionFactor, Handle, uint64_t, uint64_t,
                         double, int64_t, int64_t>)},
      {NVTX3EXT_CBID_nvtxEventSubmit,
       AddressOf(&Ignore<NVTX3EXT_CBID_nvtxEventSubmit, Handle, Payloads, size_t>)},
      {NVTX3EXT_CBID_nvtxEventBatchSubmit,
       AddressOf(&Ignore<NVTX3EXT_CBID_nvtxEventBatchSubmit, Handle, const nvtxEventBatch_t*>)},
  };
  for (const Slot& slot : slots) {
    if (slot.index < segment.slotCount) segment.functionSlots[slot.index] = slot.function;
  }
}

}  // namespace

int InitializeExtension(nvtxExtModuleInfo_t* module) noexcept {
  if (module == nullptr || module->structSize < offsetof(nvtxExtModuleInfo_t, getExportFunction)) {
    return 0;
  }
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) {
    CountIgnored(IgnoredGroup::kExtensions);
    return 1;  // its slots stay empty, which makes its functions no-ops
  }
  if (module->segmentsCount == 0 || module->segments == nullptr) return 0;
  Chain::AttachExtension(*module);
  InstallPayload(module->segments[0]);
  return 1;
}

}  // namespace tutti::tracer::nvtx
