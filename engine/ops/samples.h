// Short forms for OpDef::samples.
#pragma once
#include <initializer_list>

#include "engine/graph/op_def.h"

namespace svengine::ops {

/// Random float32 values in [low, high).
inline SampleInput f32(Dims dims, double low = -2, double high = 2) { return {DType::f32, std::move(dims), low, high, {}}; }

/// Random values of any type.
inline SampleInput any(DType type, Dims dims, double low = -2, double high = 2) { return {type, std::move(dims), low, high, {}}; }

/// A constant of the graph.
inline SampleInput fixed(Tensor value) {
  const DType type = value.type();
  Dims dims = value.dims();
  return {type, std::move(dims), 0, 0, std::move(value)};
}

/// A constant int64 vector: axes, shapes, indices.
inline SampleInput ints(std::initializer_list<int64_t> values) {
  return fixed(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

inline Attribute integer(int64_t value) { return value; }
inline Attribute integers(std::initializer_list<int64_t> values) { return std::vector<int64_t>(values); }
inline Attribute real(float value) { return value; }
inline Attribute text(const char* value) { return std::string(value); }

}  // namespace svengine::ops
