#include "validate/compare/precision.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/base/narrow_float.h"
#include "engine/base/random.h"
#include "engine/graph/op_def.h"

namespace svengine::validate {
namespace {

bool is_quantising(const Node& node) {
  const std::string_view name = node.op().name;
  return name.find("Quantize") != name.npos || name.find("QLinear") != name.npos || name.find("Integer") != name.npos;
}

/// What element i is times, less 1.
double shift_of(const RandomStream& stream, double relative, size_t i) { return relative * (2 * stream.uniform(i) - 1); }

template <class T>
void disturb_reals(MutableTensor& tensor, const RandomStream& stream, double relative) {
  size_t i = 0;
  for (T& x : tensor.data<T>()) {
    const double shift = shift_of(stream, relative, i++);
    if (std::isfinite(x)) x = static_cast<T>(static_cast<double>(x) * (1 + shift));
  }
}

void disturb_halves(MutableTensor& tensor, const RandomStream& stream, double relative, float (*to_float)(uint16_t),
                    uint16_t (*from_float)(float)) {
  auto* bits = reinterpret_cast<uint16_t*>(tensor.raw());
  for (size_t i = 0; i < static_cast<size_t>(tensor.count()); ++i) {
    const double value = static_cast<double>(to_float(bits[i]));
    if (std::isfinite(value)) bits[i] = from_float(static_cast<float>(value * (1 + shift_of(stream, relative, i))));
  }
}

}  // namespace

double unit_roundoff(DType type) {
  switch (type) {
    case DType::f64:
      return 0x1p-53;
    case DType::f32:
      return 0x1p-24;
    case DType::f16:
      return 0x1p-11;
    case DType::bf16:
      return 0x1p-8;
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
      return 0x1p-4;
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
      return 0x1p-3;
    case DType::f4e2m1:
      return 0x1p-2;
    case DType::f8e8m0:
      return 0.5;
    default:
      return 0;
  }
}

Precision precision_of(const std::vector<const Node*>& nodes, double length, DType got, DType expected) {
  double coarsest = std::max(unit_roundoff(got), unit_roundoff(expected));
  Precision out;
  for (const Node* node : nodes) {
    for (const Value* v : node->outputs()) coarsest = std::max(coarsest, unit_roundoff(v->type.dtype));
    out.quantises = out.quantises || is_quantising(*node);
  }
  const double sums = coarsest == unit_roundoff(DType::f64) ? coarsest : unit_roundoff(DType::f32);
  const auto count = static_cast<double>(std::max<size_t>(nodes.size(), 1));
  out.relative = 4 * count * std::max(coarsest, sums) + 8 * std::sqrt(length) * sums;
  return out;
}

Bound bound_for(const Precision& precision, DType expected, double largest) {
  if (!is_float(expected)) return {0, precision.quantises ? 1.0 : 0.0};
  return {0, precision.relative * largest};
}

bool is_disturbed(DType type) {
  return type == DType::f32 || type == DType::f64 || type == DType::f16 || type == DType::bf16;
}

Result<std::vector<Tensor>> disturbed(const std::vector<Tensor>& inputs, double relative, uint64_t seed) {
  std::vector<Tensor> out = inputs;
  for (size_t i = 0; i < out.size(); ++i) {
    const DType type = out[i].type();
    if (!is_disturbed(type)) continue;
    SV_ASSIGN(MutableTensor copy, out[i].aligned_copy());
    const RandomStream stream = RandomStream(seed).at(i);
    if (type == DType::f32) disturb_reals<float>(copy, stream, relative);
    if (type == DType::f64) disturb_reals<double>(copy, stream, relative);
    if (type == DType::f16) disturb_halves(copy, stream, relative, half_to_float, float_to_half);
    if (type == DType::bf16) disturb_halves(copy, stream, relative, bfloat_to_float, float_to_bfloat);
    out[i] = std::move(copy);
  }
  return out;
}

}  // namespace svengine::validate
