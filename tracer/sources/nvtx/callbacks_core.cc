// Module CORE: the API without domains.
#include "tracer/sources/nvtx/callbacks.h"
#include "tracer/sources/nvtx/chain.h"
#include "tracer/sources/nvtx/ranges.h"

namespace tutti::tracer::nvtx {
namespace {

// Passes a call on to a chained tool: with and without a result.
template <typename Function, typename Result, typename... Arguments>
Result Pass(uint32_t slot, Result otherwise, Arguments... arguments) noexcept {
  return Chain::Call<Function>(NVTX_CB_MODULE_CORE, slot, otherwise, arguments...);
}
template <typename Function, typename... Arguments>
void Tell(uint32_t slot, Arguments... arguments) noexcept {
  Chain::Notify<Function>(NVTX_CB_MODULE_CORE, slot, arguments...);
}

// A chained tool's level where we track none.
int LevelOr(int own, int chained) noexcept {
  return own != NVTX_NO_PUSH_POP_TRACKING ? own : chained;
}

template <typename Text, typename Function, uint32_t kSlot>
void OnMark(Text text) {
  Mark(DefaultDomain(), Event::Of(text));
  Tell<Function>(kSlot, text);
}

template <typename Text, typename Function, uint32_t kSlot>
nvtxRangeId_t OnRangeStart(Text text) {
  const nvtxRangeId_t chained = Pass<Function>(kSlot, nvtxRangeId_t{0}, text);
  return Start(DefaultDomain(), Event::Of(text), chained);
}

void OnRangeEnd(nvtxRangeId_t id) {
  End(DefaultDomain(), Event{}, id);
  Tell<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd, id);
}

template <typename Text, typename Function, uint32_t kSlot>
int OnRangePush(Text text) {
  const int chained = Pass<Function>(kSlot, NVTX_NO_PUSH_POP_TRACKING, text);
  return LevelOr(Push(DefaultDomain(), Event::Of(text)), chained);
}

int OnRangePop() {
  const int own = Pop(DefaultDomain(), Event{});
  return LevelOr(
      own, Pass<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop, NVTX_NO_PUSH_POP_TRACKING));
}

void OnNameCategoryA(uint32_t category, const char* name) {
  if (name != nullptr) NameCategory(DefaultDomain(), category, name);
  Tell<nvtxNameCategoryA_impl_fntype>(NVTX_CBID_CORE_NameCategoryA, category, name);
}

void OnNameCategoryW(uint32_t category, const wchar_t* name) {
  if (name != nullptr) NameCategory(DefaultDomain(), category, WideText(name).text());
  Tell<nvtxNameCategoryW_impl_fntype>(NVTX_CBID_CORE_NameCategoryW, category, name);
}

void OnNameOsThreadA(uint32_t tid, const char* name) {
  if (name != nullptr) NameThread(tid, name);
  Tell<nvtxNameOsThreadA_impl_fntype>(NVTX_CBID_CORE_NameOsThreadA, tid, name);
}

void OnNameOsThreadW(uint32_t tid, const wchar_t* name) {
  if (name != nullptr) NameThread(tid, WideText(name).text());
  Tell<nvtxNameOsThreadW_impl_fntype>(NVTX_CBID_CORE_NameOsThreadW, tid, name);
}

}  // namespace

void InstallCore(NvtxFunctionTable table, unsigned size) noexcept {
  using Attributes = const nvtxEventAttributes_t*;
  const auto install = [&](uint32_t slot, auto* function) {
    if (slot < size && table[slot] != nullptr) {
      *table[slot] = reinterpret_cast<NvtxFunctionPointer>(function);
    }
  };
  install(NVTX_CBID_CORE_MarkEx,
          &OnMark<Attributes, nvtxMarkEx_impl_fntype, NVTX_CBID_CORE_MarkEx>);
  install(NVTX_CBID_CORE_MarkA, &OnMark<const char*, nvtxMarkA_impl_fntype, NVTX_CBID_CORE_MarkA>);
  install(NVTX_CBID_CORE_MarkW,
          &OnMark<const wchar_t*, nvtxMarkW_impl_fntype, NVTX_CBID_CORE_MarkW>);
  install(NVTX_CBID_CORE_RangeStartEx,
          &OnRangeStart<Attributes, nvtxRangeStartEx_impl_fntype, NVTX_CBID_CORE_RangeStartEx>);
  install(NVTX_CBID_CORE_RangeStartA,
          &OnRangeStart<const char*, nvtxRangeStartA_impl_fntype, NVTX_CBID_CORE_RangeStartA>);
  install(NVTX_CBID_CORE_RangeStartW,
          &OnRangeStart<const wchar_t*, nvtxRangeStartW_impl_fntype, NVTX_CBID_CORE_RangeStartW>);
  install(NVTX_CBID_CORE_RangeEnd, &OnRangeEnd);
  install(NVTX_CBID_CORE_RangePushEx,
          &OnRangePush<Attributes, nvtxRangePushEx_impl_fntype, NVTX_CBID_CORE_RangePushEx>);
  install(NVTX_CBID_CORE_RangePushA,
          &OnRangePush<const char*, nvtxRangePushA_impl_fntype, NVTX_CBID_CORE_RangePushA>);
  install(NVTX_CBID_CORE_RangePushW,
          &OnRangePush<const wchar_t*, nvtxRangePushW_impl_fntype, NVTX_CBID_CORE_RangePushW>);
  install(NVTX_CBID_CORE_RangePop, &OnRangePop);
  install(NVTX_CBID_CORE_NameCategoryA, &OnNameCategoryA);
  install(NVTX_CBID_CORE_NameCategoryW, &OnNameCategoryW);
  install(NVTX_CBID_CORE_NameOsThreadA, &OnNameOsThreadA);
  install(NVTX_CBID_CORE_NameOsThreadW, &OnNameOsThreadW);
}

}  // namespace tutti::tracer::nvtx
