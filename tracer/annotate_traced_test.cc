// What an NVTX tool gets from annotate.h. The tool is a recorder in this program, linked in
// through NVTX's weak symbol for that, so no environment variable and no library is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "tracer/annotate.h"

extern "C" void AnnotateEverythingFromC(void);

namespace {

using Payload = std::variant<std::monostate, int64_t, double>;

// One NVTX call. |kind| is "push", "pop" or "mark".
struct Call {
  std::string kind;
  uint32_t category = 0;
  std::string message;
  Payload payload;
  bool operator==(const Call&) const = default;
};

std::vector<Call>& Calls() {
  static std::vector<Call> calls;
  return calls;
}

nvtxDomainHandle_t OurDomain() {
  static int storage;
  return reinterpret_cast<nvtxDomainHandle_t>(&storage);
}

Call Describe(const char* kind, const nvtxEventAttributes_t& event) {
  Call call{kind, event.category, "", {}};
  if (event.messageType == NVTX_MESSAGE_TYPE_ASCII) call.message = event.message.ascii;
  if (event.payloadType == NVTX_PAYLOAD_TYPE_INT64) call.payload = event.payload.llValue;
  if (event.payloadType == NVTX_PAYLOAD_TYPE_DOUBLE) call.payload = event.payload.dValue;
  return call;
}

nvtxDomainHandle_t NVTX_API OnDomainCreate(const char* name) {
  return std::string_view(name) == "tutti" ? OurDomain() : nullptr;
}
void NVTX_API OnMark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  if (domain == OurDomain()) Calls().push_back(Describe("mark", *event));
}
int NVTX_API OnPush(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  if (domain == OurDomain()) Calls().push_back(Describe("push", *event));
  return 0;
}
int NVTX_API OnPop(nvtxDomainHandle_t domain) {
  if (domain == OurDomain()) Calls().push_back({"pop", 0, "", {}});
  return 0;
}

template <typename Function>
void Install(NvtxFunctionTable table, NvtxCallbackIdCore2 id, Function* function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

int NVTX_API InitializeRecorder(NvtxGetExportTableFunc_t get_export_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) return 0;
  Install(table, NVTX_CBID_CORE2_DomainCreateA, &OnDomainCreate);
  Install(table, NVTX_CBID_CORE2_DomainMarkEx, &OnMark);
  Install(table, NVTX_CBID_CORE2_DomainRangePushEx, &OnPush);
  Install(table, NVTX_CBID_CORE2_DomainRangePop, &OnPop);
  return 1;
}

class AnnotateTraced : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("NVTX_INJECTION64_PATH")) GTEST_SKIP() << "another NVTX tool comes first";
    InitializeInjectionNvtx2_fnptr = &InitializeRecorder;  // read at the first NVTX call
    Calls().clear();
  }
};

TEST_F(AnnotateTraced, MapsEveryCallToItsCategoryMessageAndPayload) {
  AnnotateEverythingFromC();
  EXPECT_THAT(Calls(), testing::ElementsAre(Call{"push", 1, "step", int64_t{7}},        //
                                            Call{"push", 3, "train", int64_t{-1}},      //
                                            Call{"pop", 0, "", {}},                     //
                                            Call{"mark", 4, "", int64_t{64}},           //
                                            Call{"push", 2, "forward", {}},             //
                                            Call{"pop", 0, "", {}},                     //
                                            Call{"mark", 6, "loss", 0.25},              //
                                            Call{"mark", 7, R"({"kind":"none"})", {}},  //
                                            Call{"pop", 0, "", {}}));
}

TEST_F(AnnotateTraced, MarksTokensOnlyWhereThereAreAny) {
  tutti_batch(8, 4096);
  tutti_batch(0, 0);
  EXPECT_THAT(Calls(), testing::ElementsAre(Call{"mark", 4, "", int64_t{8}},
                                            Call{"mark", 5, "", int64_t{4096}}));
}

}  // namespace
