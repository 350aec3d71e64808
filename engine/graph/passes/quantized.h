// What the passes of quantised networks share: QuantizeLinear and DequantizeLinear of constant parameters.
#pragma once
#include <optional>

#include "engine/graph/graph.h"

namespace svengine {

/// (value - zero) * scale, or its inverse. The scale is a finite float32 constant, the zero point one of the value's type, or null.
struct QuantizedValue {
  Value* value = nullptr;
  Value* scale = nullptr;
  Value* zero = nullptr;
  int64_t axis = 1;  // where the scale has more than one element

  bool is_single() const { return scale->constant().count() == 1; }
};

/// What a DequantizeLinear of 8-bit (or, where `wide`, of 32-bit) values gives; nothing for anything else.
std::optional<QuantizedValue> dequantized(const Value* value, bool wide = false);

/// The result and the parameters of a QuantizeLinear to 8 bits by one scale, a positive number that dequantised bytes can be had back by;
/// nothing for other nodes.
std::optional<QuantizedValue> quantized(const Node& node);

/// Both are by the same numbers.
bool same_quantization(const QuantizedValue& a, const QuantizedValue& b);

/// The zero point, or a constant 0 of the value's type in its place.
Value* zero_point_of(Graph& graph, const QuantizedValue& q);

/// A bias as int32 of scale x.scale * w.scale, whether it is float32 or dequantised from int32; null where that cannot be.
Value* integer_bias(Graph& graph, const Value* bias, const QuantizedValue& x, const QuantizedValue& w);

/// Weights of one scale, or of one for each index of dimension `axis`.
bool is_per(const QuantizedValue& w, int64_t axis);

/// A constant float32 or 8-bit scalar as a number.
double number_of(const Value* constant);

}  // namespace svengine
