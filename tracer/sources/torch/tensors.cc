#include "tracer/sources/torch/tensors.h"

#include <cstring>

#include "tracer/sources/torch/decimal.h"

namespace tutti::tracer::torch {
namespace {

constexpr char kCut[] = "…";

uint32_t TagOf(const char* value) noexcept { return LoadField<uint32_t>(value, ivalue::kTag); }

// The elements of a list; none if |value| is not one.
struct Elements {
  const char* begin = nullptr;
  const char* end = nullptr;
};

Elements ElementsOf(const TensorReader& reader, const char* value) noexcept {
  if (reader.generic_list_tag == 0 || TagOf(value) != reader.generic_list_tag) {
    return {};
  }
  const char* list = LoadField<const char*>(value, ivalue::kPayload) + list_impl::kElements;
  return {LoadField<const char*>(list, std_vector::kBegin),
          LoadField<const char*>(list, std_vector::kEnd)};
}

// The TensorImpl of an IValue, nullptr if it is no tensor.
const char* TensorOf(const char* value) noexcept {
  return TagOf(value) == ivalue::kTagTensor ? LoadField<const char*>(value, ivalue::kPayload)
                                            : nullptr;
}

// The SizesAndStrides of a defined tensor that stores its sizes, else nullptr.
const char* SizesOf(const TensorReader& reader, const char* tensor) noexcept {
  if (reader.sizes_offset == 0 || tensor == nullptr || tensor == reader.undefined) {
    return nullptr;
  }
  const char* sizes = tensor + reader.sizes_offset;
  constexpr uint8_t kComputed = tensor_impl::kPolicyCustomMask | tensor_impl::kPolicySymbolic;
  const auto policy = LoadField<uint8_t>(sizes, tensor_impl::kPolicy);
  return (policy & kComputed) == 0 ? sizes : nullptr;
}

void AddTensor(const TensorReader& reader, const char* tensor, TensorTotal* total) noexcept {
  const char* sizes = SizesOf(reader, tensor);
  Dtype dtype = {"", 0};
  if (sizes != nullptr) {
    dtype = DescribeDtype(LoadField<uint16_t>(sizes, tensor_impl::kDtype));
  }
  if (total->tensors++ == 0) {
    total->dtype = dtype.name;
  }
  if (dtype.element_bytes == 0) {
    total->bytes = -1;
  } else if (total->bytes >= 0) {
    total->bytes += LoadField<int64_t>(sizes, tensor_impl::kElements) * dtype.element_bytes;
  }
}

// Appends to a buffer and remembers when something did not fit.
class Writer {
 public:
  Writer(char* begin, size_t bytes) noexcept
      : begin_(begin), at_(begin), end_(begin + bytes - sizeof(kCut)) {}

  void Append(std::string_view text) noexcept {
    if (text.size() > static_cast<size_t>(end_ - at_)) {
      full_ = true;
    }
    if (!full_) {
      std::memcpy(at_, text.data(), text.size());
      at_ += text.size();
    }
  }

  void Append(int64_t number) noexcept {
    char digits[kMaxDecimalDigits];
    Append({digits, static_cast<size_t>(WriteDecimal(digits, number) - digits)});
  }

  bool full() const noexcept { return full_; }

  std::string_view Finish() noexcept {
    if (full_) {
      std::memcpy(at_, kCut, sizeof(kCut) - 1);  // room was kept for it
      at_ += sizeof(kCut) - 1;
    }
    return {begin_, static_cast<size_t>(at_ - begin_)};
  }

 private:
  char* const begin_;
  char* at_;
  char* const end_;
  bool full_ = false;
};

void AppendShape(const TensorReader& reader, const char* value, Writer* writer) noexcept {
  const char* sizes = SizesOf(reader, TensorOf(value));
  if (sizes == nullptr) {
    return writer->Append("null");
  }
  const auto dimensions = LoadField<uint64_t>(sizes, tensor_impl::kDimensions);
  const char* lengths = sizes + tensor_impl::kSizes;
  if (dimensions > tensor_impl::kInlineDimensions) {
    lengths = LoadField<const char*>(lengths, 0);
  }
  writer->Append("[");
  for (uint64_t i = 0; i < dimensions && !writer->full(); ++i) {
    if (i > 0) {
      writer->Append(",");
    }
    writer->Append(LoadField<int64_t>(lengths, i * sizeof(int64_t)));
  }
  writer->Append("]");
}

void AppendInput(const TensorReader& reader, const char* value, Writer* writer) noexcept {
  const Elements elements = ElementsOf(reader, value);
  if (elements.begin == elements.end || TagOf(elements.begin) != ivalue::kTagTensor) {
    return AppendShape(reader, value, writer);
  }
  writer->Append("[");
  for (const char* at = elements.begin; at < elements.end && !writer->full();
       at += ivalue::kBytes) {
    if (at > elements.begin) {
      writer->Append(",");
    }
    AppendShape(reader, at, writer);
  }
  writer->Append("]");
}

}  // namespace

TensorTotal SumInputs(const TensorReader& reader, const Record& record) noexcept {
  TensorTotal total = {0, "", 0};
  const char* value = record.Inputs();
  for (uint64_t i = 0; i < record.InputCount(); ++i, value += ivalue::kBytes) {
    if (const char* tensor = TensorOf(value)) {
      AddTensor(reader, tensor, &total);
    }
    const Elements elements = ElementsOf(reader, value);
    for (const char* at = elements.begin; at < elements.end; at += ivalue::kBytes) {
      if (const char* tensor = TensorOf(at)) {
        AddTensor(reader, tensor, &total);
      }
    }
  }
  return total;
}

TensorTotal SumTensors(const TensorReader& reader, const void* vector) noexcept {
  TensorTotal total = {0, "", 0};
  const auto* tensor = LoadField<const char* const*>(vector, std_vector::kBegin);
  const auto* end = LoadField<const char* const*>(vector, std_vector::kEnd);
  for (; tensor != end; ++tensor) {
    AddTensor(reader, *tensor, &total);  // an at::Tensor is a pointer to its TensorImpl
  }
  return total;
}

std::string_view WriteShapes(const TensorReader& reader, const Record& record,
                             char (&buffer)[kShapesBytes]) noexcept {
  if (record.InputCount() == 0) {
    return {};
  }
  Writer writer(buffer, sizeof(buffer));
  writer.Append("[");
  const char* value = record.Inputs();
  for (uint64_t i = 0; i < record.InputCount() && !writer.full(); ++i, value += ivalue::kBytes) {
    if (i > 0) {
      writer.Append(",");
    }
    AppendInput(reader, value, &writer);
  }
  writer.Append("]");
  return writer.Finish();
}

}  // namespace tutti::tracer::torch
