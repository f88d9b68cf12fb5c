// Module CORE2: the API with domains, and the registration of domains and strings.
#include <bit>
#include <cstddef>

#include "tracer/sources/nvtx/callbacks.h"
#include "tracer/sources/nvtx/chain.h"
#include "tracer/sources/nvtx/ignored.h"
#include "tracer/sources/nvtx/ranges.h"

namespace tutti::tracer::nvtx {
namespace {

template <typename Function, typename Result, typename... Arguments>
Result Pass(uint32_t slot, Result otherwise, Arguments... arguments) noexcept {
  return Chain::Call<Function>(NVTX_CB_MODULE_CORE2, slot, otherwise, arguments...);
}
template <typename Function, typename... Arguments>
void Tell(uint32_t slot, Arguments... arguments) noexcept {
  Chain::Notify<Function>(NVTX_CB_MODULE_CORE2, slot, arguments...);
}

void OnMark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  Mark(DomainOf(domain), Event::Of(attributes));
  Tell<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx, domain, attributes);
}

nvtxRangeId_t OnRangeStart(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const nvtxRangeId_t chained = Pass<nvtxDomainRangeStartEx_impl_fntype>(
      NVTX_CBID_CORE2_DomainRangeStartEx, nvtxRangeId_t{0}, domain, attributes);
  return Start(DomainOf(domain), Event::Of(attributes), chained);
}

void OnRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  End(DomainOf(domain), Event{}, id);
  Tell<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd, domain, id);
}

int OnRangePush(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const int chained = Pass<nvtxDomainRangePushEx_impl_fntype>(
      NVTX_CBID_CORE2_DomainRangePushEx, NVTX_NO_PUSH_POP_TRACKING, domain, attributes);
  const int own = Push(DomainOf(domain), Event::Of(attributes));
  return own != NVTX_NO_PUSH_POP_TRACKING ? own : chained;
}

int OnRangePop(nvtxDomainHandle_t domain) {
  const int own = Pop(DomainOf(domain), Event{});
  const int chained = Pass<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop,
                                                           NVTX_NO_PUSH_POP_TRACKING, domain);
  return own != NVTX_NO_PUSH_POP_TRACKING ? own : chained;
}

nvtxResourceHandle_t OnResourceCreate(nvtxDomainHandle_t domain,
                                      nvtxResourceAttributes_t* attributes) {
  CountIgnored(IgnoredGroup::kResources);
  // Not null and distinct, should a program compare or test it.
  static constinit std::atomic<uintptr_t> last_handle{0};
  const uintptr_t own = last_handle.fetch_add(8, std::memory_order_relaxed) + 8;
  return Pass<nvtxDomainResourceCreate_impl_fntype>(NVTX_CBID_CORE2_DomainResourceCreate,
                                                    std::bit_cast<nvtxResourceHandle_t>(own),
                                                    domain, attributes);
}

void OnResourceDestroy(nvtxResourceHandle_t resource) {
  CountIgnored(IgnoredGroup::kResources);
  Tell<nvtxDomainResourceDestroy_impl_fntype>(NVTX_CBID_CORE2_DomainResourceDestroy, resource);
}

void OnNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char* name) {
  if (name != nullptr) NameCategory(DomainOf(domain), category, name);
  Tell<nvtxDomainNameCategoryA_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryA, domain, category,
                                            name);
}

void OnNameCategoryW(nvtxDomainHandle_t domain, uint32_t category, const wchar_t* name) {
  if (name != nullptr) NameCategory(DomainOf(domain), category, WideText(name).text());
  Tell<nvtxDomainNameCategoryW_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryW, domain, category,
                                            name);
}

nvtxStringHandle_t HandleOf(String* string, nvtxStringHandle_t chained) noexcept {
  return string != nullptr ? string->handle : chained;
}

nvtxStringHandle_t OnRegisterStringA(nvtxDomainHandle_t domain, const char* text) {
  const auto chained = Pass<nvtxDomainRegisterStringA_impl_fntype>(
      NVTX_CBID_CORE2_DomainRegisterStringA, nvtxStringHandle_t{nullptr}, domain, text);
  if (text == nullptr) return chained;
  return HandleOf(FindOrMakeString(DomainOf(domain), text, chained), chained);
}

nvtxStringHandle_t OnRegisterStringW(nvtxDomainHandle_t domain, const wchar_t* text) {
  const auto chained = Pass<nvtxDomainRegisterStringW_impl_fntype>(
      NVTX_CBID_CORE2_DomainRegisterStringW, nvtxStringHandle_t{nullptr}, domain, text);
  if (text == nullptr) return chained;
  return HandleOf(FindOrMakeString(DomainOf(domain), WideText(text).text(), chained), chained);
}

nvtxDomainHandle_t HandleOf(Domain* domain, nvtxDomainHandle_t chained) noexcept {
  return domain != nullptr ? domain->handle : chained;
}

nvtxDomainHandle_t OnDomainCreateA(const char* name) {
  const auto chained = Pass<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA,
                                                           nvtxDomainHandle_t{nullptr}, name);
  if (name == nullptr) return chained;
  return HandleOf(FindOrMakeDomain(name, chained), chained);
}

nvtxDomainHandle_t OnDomainCreateW(const wchar_t* name) {
  const auto chained = Pass<nvtxDomainCreateW_impl_fntype>(NVTX_CBID_CORE2_DomainCreateW,
                                                           nvtxDomainHandle_t{nullptr}, name);
  if (name == nullptr) return chained;
  return HandleOf(FindOrMakeDomain(WideText(name).text(), chained), chained);
}

// Ours stays: other libraries may have a domain of that name, and ranges may be open in it.
void OnDomainDestroy(nvtxDomainHandle_t domain) {
  Tell<nvtxDomainDestroy_impl_fntype>(NVTX_CBID_CORE2_DomainDestroy, domain);
}

void OnInitialize(const void* reserved) {
  Tell<nvtxInitialize_impl_fntype>(NVTX_CBID_CORE2_Initialize, reserved);
}

}  // namespace

void InstallCore2(NvtxFunctionTable table, unsigned size) noexcept {
  const auto install = [&](uint32_t slot, auto* function) {
    if (slot < size && table[slot] != nullptr) {
      *table[slot] = reinterpret_cast<NvtxFunctionPointer>(function);
    }
  };
  install(NVTX_CBID_CORE2_DomainMarkEx, &OnMark);
  install(NVTX_CBID_CORE2_DomainRangeStartEx, &OnRangeStart);
  install(NVTX_CBID_CORE2_DomainRangeEnd, &OnRangeEnd);
  install(NVTX_CBID_CORE2_DomainRangePushEx, &OnRangePush);
  install(NVTX_CBID_CORE2_DomainRangePop, &OnRangePop);
  install(NVTX_CBID_CORE2_DomainResourceCreate, &OnResourceCreate);
  install(NVTX_CBID_CORE2_DomainResourceDestroy, &OnResourceDestroy);
  install(NVTX_CBID_CORE2_DomainNameCategoryA, &OnNameCategoryA);
  install(NVTX_CBID_CORE2_DomainNameCategoryW, &OnNameCategoryW);
  install(NVTX_CBID_CORE2_DomainRegisterStringA, &OnRegisterStringA);
  install(NVTX_CBID_CORE2_DomainRegisterStringW, &OnRegisterStringW);
  install(NVTX_CBID_CORE2_DomainCreateA, &OnDomainCreateA);
  install(NVTX_CBID_CORE2_DomainCreateW, &OnDomainCreateW);
  install(NVTX_CBID_CORE2_DomainDestroy, &OnDomainDestroy);
  install(NVTX_CBID_CORE2_Initialize, &OnInitialize);
}

}  // namespace tutti::tracer::nvtx
