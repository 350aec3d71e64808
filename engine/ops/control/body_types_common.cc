#include "engine/ops/control/body_types_common.h"

#include "engine/graph/axes.h"
#include "engine/ops/control/control_common.h"

namespace svengine::ops {
namespace {

const Shape kScalarShape{std::vector<Dim>{}};

Type type_at(const std::vector<Type>& types, size_t i) { return i < types.size() ? types[i] : Type{}; }

std::vector<Type> of_loop(const std::vector<Type>& inputs, size_t count) {
  std::vector<Type> out{{DType::i64, kScalarShape}, {DType::boolean, kScalarShape}};
  for (size_t i = 2; i < count; ++i) out.push_back(loosened(type_at(inputs, i)));
  return out;
}

/// Without the dimension along which it is cut.
Type slice_type(Type type, int64_t axis) {
  if (!type.shape.has_rank() || type.shape.rank() == 0) return {type.dtype, Shape()};
  const Result<int64_t> place = normalise_axis(axis, type.shape.rank());
  if (!place.ok()) return {type.dtype, Shape()};  // Scan's inference says so
  std::vector<Dim> dims = type.shape.dims();
  dims.erase(dims.begin() + *place);
  return {type.dtype, Shape(std::move(dims))};
}

std::vector<Type> of_scan(const std::vector<Type>& inputs, const Attributes& attributes, size_t count, int opset) {
  const bool batched = opset < 9;
  const int64_t scans = attributes.get_int("num_scan_inputs");
  const std::vector<int64_t> axes = attributes.get_ints("scan_input_axes");
  std::vector<Type> out;
  for (size_t i = 0; i < count; ++i) {
    Type type = type_at(inputs, i + (batched ? 1 : 0));
    const int64_t scan = static_cast<int64_t>(i) - (static_cast<int64_t>(count) - scans);
    if (batched) type = slice_type(std::move(type), 0);
    if (scan < 0) out.push_back(loosened(type));
    else out.push_back(slice_type(std::move(type), static_cast<size_t>(scan) < axes.size() ? axes[static_cast<size_t>(scan)] : 0));
  }
  return out;
}

/// The scores, or probabilities: [batch, query heads, queries, keys].
std::vector<Type> of_flex_attention(const std::vector<Type>& inputs, const Attributes& attributes, size_t count) {
  std::vector<Type> out(count);
  const Type q = type_at(inputs, 0), k = type_at(inputs, 1);
  if (count == 0 || q.dtype == DType::undefined) return out;
  const DType otherwise = q.dtype == DType::f64 ? DType::f64 : DType::f32;
  out[0].dtype = attributes.get_dtype("softmax_precision", otherwise);
  if (q.shape.rank() != 4 || k.shape.rank() != 4 || !q.shape.has_rank() || !k.shape.has_rank()) return out;
  out[0].shape = Shape{q.shape[0], q.shape[1], q.shape[2], k.shape[2]};
  return out;
}

}  // namespace

std::vector<Type> body_input_types(const OpDef& op, const std::vector<Type>& inputs, const Attributes& attributes, size_t count, int opset) {
  const std::string_view name = op.name;
  if (name == "Loop") return of_loop(inputs, count);
  if (name == "Scan") return of_scan(inputs, attributes, count, opset);
  if (name == "FlexAttention") return of_flex_attention(inputs, attributes, count);
  std::vector<Type> out(count);
  if (name != "SequenceMap") return out;
  for (size_t i = 0; i < count; ++i) {
    const Type given = type_at(inputs, i);
    out[i] = given.dtype != DType::sequence ? given : given.element ? *given.element : Type{};
  }
  return out;
}

}  // namespace svengine::ops
