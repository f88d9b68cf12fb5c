// Shapes and bytes of real operator inputs, seen through a real RecordFunction callback.
#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <string>

#include "tracer/sources/torch/layout_check.h"
#include "tracer/sources/torch/library.h"
#include "tracer/sources/torch/tensors.h"

namespace tutti::tracer::torch {
namespace {

TensorReader Reader() {
  Library library;
  const char* missing = nullptr;
  EXPECT_TRUE(FindLibrary(&library, &missing));
  return {FindTensorSizes(library), library.undefined_tensor, TagGenericList(library.version)};
}

struct Seen {
  static inline std::string op;
  static inline std::string shapes;
  static inline TensorTotal total;
};

// Runs |run| and looks at the inputs of the operator |op| in it.
template <typename Run>
void Look(const std::string& op, const Run& run) {
  Seen::op = op;
  Seen::shapes = "not seen";
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction& function)
                                     -> std::unique_ptr<at::ObserverContext> {
        if (function.name() == Seen::op) {
          const Record record(&function);
          char buffer[kShapesBytes];
          Seen::shapes = WriteShapes(Reader(), record, buffer);
          Seen::total = SumInputs(Reader(), record);
        }
        return nullptr;
      }).needsInputs(true));
  run();
  at::removeCallback(handle);
}

TEST(Tensors, WritesTheShapesOfAnOperatorsInputs) {
  const at::Tensor a = at::zeros({2, 3});
  const at::Tensor b = at::zeros({3, 4});
  Look("aten::mm", [&] { at::mm(a, b); });
  EXPECT_EQ(Seen::shapes, "[[2,3],[3,4]]");
  EXPECT_EQ(Seen::total.bytes, (6 + 12) * 4);
  EXPECT_STREQ(Seen::total.dtype, "float32");
}

TEST(Tensors, WritesListsScalarsAndMissingInputs) {
  const at::Tensor a = at::zeros({2, 3}, at::kLong);
  Look("aten::cat", [&] { at::cat({a, a}, 1); });
  EXPECT_EQ(Seen::shapes, "[[[2,3],[2,3]],null]");
  EXPECT_EQ(Seen::total.bytes, 2 * 6 * 8);
  EXPECT_EQ(Seen::total.tensors, 2u);
  EXPECT_STREQ(Seen::total.dtype, "int64");

  Look("aten::linear", [&] { at::linear(at::zeros({2, 3}), at::zeros({5, 3})); });
  EXPECT_EQ(Seen::shapes, "[[2,3],[5,3],null]");
}

TEST(Tensors, WritesMoreDimensionsThanAreStoredInline) {
  const at::Tensor a = at::zeros({1, 2, 1, 2, 1, 2, 3});
  Look("aten::neg", [&] { at::neg(a); });
  EXPECT_EQ(Seen::shapes, "[[1,2,1,2,1,2,3]]");
  Look("aten::neg", [&] { at::neg(at::zeros({})); });
  EXPECT_EQ(Seen::shapes, "[[]]");
}

// Their sizes are computed, by code that must not run inside the tracer.
TEST(Tensors, LeavesTensorsAloneThatDoNotStoreTheirSizes) {
  const at::Tensor computed = at::zeros({2, 3});
  c10::TensorImpl* impl = computed.unsafeGetTensorImpl();
  impl->set_custom_sizes_strides(c10::TensorImpl::SizesStridesPolicy::CustomSizes);
  const std::vector<c10::IValue> inputs = {computed, at::Tensor(), at::zeros({4})};
  at::RecordFunction function(at::RecordScope::FUNCTION);
  function.inputs_ = c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size());
  char buffer[kShapesBytes];
  EXPECT_EQ(WriteShapes(Reader(), Record(&function), buffer), "[null,null,[4]]");
  EXPECT_EQ(SumInputs(Reader(), Record(&function)).bytes, -1);
}

TEST(Tensors, CutsShapesThatDoNotFit) {
  const std::vector<at::Tensor> many(300, at::zeros({10, 20}));
  Look("aten::cat", [&] { at::cat(many); });
  EXPECT_LE(Seen::shapes.size(), kShapesBytes);
  EXPECT_GT(Seen::shapes.size(), kShapesBytes - 40);
  EXPECT_TRUE(Seen::shapes.starts_with("[[[10,20],[10,20],"));
  EXPECT_TRUE(Seen::shapes.ends_with("…"));
  EXPECT_EQ(Seen::total.tensors, 300u);
  EXPECT_EQ(Seen::total.bytes, 300 * 800);
}

TEST(Tensors, ReadsNothingWhereTheLayoutIsNotKnown) {
  at::RecordFunction function(at::RecordScope::FUNCTION);
  const std::vector<c10::IValue> inputs = {at::zeros({2})};
  function.inputs_ = c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size());
  char buffer[kShapesBytes];
  const Record record(&function);
  EXPECT_EQ(WriteShapes(Reader(), record, buffer), "[[2]]");
  EXPECT_EQ(WriteShapes({0, nullptr, 0}, record, buffer), "[null]");
  EXPECT_EQ(SumInputs({0, nullptr, 0}, record).bytes, -1);
}

}  // namespace
}  // namespace tutti::tracer::torch
