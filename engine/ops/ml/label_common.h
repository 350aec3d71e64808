// Operators that look values up: keys and values of any type as strings, numbers or tensors in attributes.
#pragma once
#include <unordered_map>
#include <variant>

#include "engine/graph/evaluate_context.h"
#include "engine/ops/ml/ml_common.h"

namespace svengine::ops {

/// A number by its bits in a double or int64, or a string. NaN equals NaN, and -0 is 0.
struct LabelKey {
  std::string text;
  int64_t bits = 0;
  friend bool operator==(const LabelKey&, const LabelKey&) = default;
};
struct LabelKeyHash {
  size_t operator()(const LabelKey& k) const {
    return std::hash<std::string>()(k.text) ^ std::hash<int64_t>()(k.bits) * 0x9e3779b97f4a7c15u;
  }
};

/// Element i of a tensor of strings, floats or integers.
LabelKey label_key(DType type, const void* data, int64_t i);

/// From keys to places.
using LabelTable = std::unordered_map<LabelKey, int64_t, LabelKeyHash>;

/// The tensor of the first of these attributes that is there: a tensor, strings, ints (int64) or floats (float32). Undefined:
/// none is.
Tensor label_list(const Attributes& attributes, std::initializer_list<const char*> names);

}  // namespace svengine::ops
