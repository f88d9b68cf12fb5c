#include "tracer/sources/torch/layout.h"

namespace tutti::tracer::torch {
namespace {

// c10/core/ScalarType.h (torch/headeronly since 2.9), in the order of the enumeration. Names
// are those that Python shows; types without one there have C++'s, in lower case. The
// 1-to-7-bit and quantised types are stored in whole bytes.
constexpr Dtype kDtypes[] = {
    {"uint8", 1},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"float16", 2},
    {"float32", 4},
    {"float64", 8},
    {"complex32", 4},
    {"complex64", 8},
    {"complex128", 16},
    {"bool", 1},
    {"qint8", 1},
    {"quint8", 1},
    {"qint32", 4},
    {"bfloat16", 2},
    {"quint4x2", 1},
    {"quint2x4", 1},
    {"bits1x8", 1},
    {"bits2x4", 1},
    {"bits4x2", 1},
    {"bits8", 1},
    {"bits16", 2},
    {"float8_e5m2", 1},
    {"float8_e4m3fn", 1},
    {"float8_e5m2fnuz", 1},
    {"float8_e4m3fnuz", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"uint1", 1},
    {"uint2", 1},
    {"uint3", 1},
    {"uint4", 1},
    {"uint5", 1},
    {"uint6", 1},
    {"uint7", 1},
    {"int1", 1},
    {"int2", 1},
    {"int3", 1},
    {"int4", 1},
    {"int5", 1},
    {"int6", 1},
    {"int7", 1},
    {"float8_e8m0fnu", 1},
    {"float4_e2m1fn_x2", 1},
};

}  // namespace

Dtype DescribeDtype(int32_t scalar_type) noexcept {
  constexpr int32_t kCount = sizeof(kDtypes) / sizeof(kDtypes[0]);
  if (scalar_type < 0 || scalar_type >= kCount) {
    return {"", 0};
  }
  return kDtypes[scalar_type];
}

}  // namespace tutti::tracer::torch
