// What is recorded of operator inputs: shapes as text, and the bytes of a collective. Tensors
// are read by layout.h; no function of PyTorch is called, so that a tensor whose sizes are
// computed (by Python, for symbolic ones) is left alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tracer/sources/torch/record.h"

namespace tutti::tracer::torch {

// What reading inputs needs to know about the loaded PyTorch.
struct TensorReader {
  size_t sizes_offset;        // FindTensorSizes(); 0: tensors can't be read
  const void* undefined;      // Library::undefined_tensor
  uint32_t generic_list_tag;  // TagGenericList(); 0: lists can't be read
};

struct TensorTotal {
  int64_t bytes;      // of all tensors among the inputs, -1 when one of them can't be read
  const char* dtype;  // of the first tensor, "" none or unknown
  uint32_t tensors;   // how many there are
};

// Sums the tensors that are inputs of |record|, those in lists included. In a start callback.
TensorTotal SumInputs(const TensorReader& reader, const Record& record) noexcept;

// The same for a std::vector<at::Tensor>, any time.
TensorTotal SumTensors(const TensorReader& reader, const void* vector) noexcept;

inline constexpr size_t kShapesBytes = 1024;

// The shapes of the inputs of |record| in the order of its arguments, as JSON: "[64,784]" for
// a tensor, a list of those for a list of tensors, null for everything else; for example
// "[[64,784],[[2],[3]],null]". Cut off before kShapesBytes, which a closing "…" tells. Made
// in |buffer|; empty when there are no inputs. In a start callback.
std::string_view WriteShapes(const TensorReader& reader, const Record& record,
                             char (&buffer)[kShapesBytes]) noexcept;

}  // namespace tutti::tracer::torch
