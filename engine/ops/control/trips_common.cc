#include "engine/ops/control/trips_common.h"

#include <algorithm>

#include "engine/graph/expand.h"
#include "engine/graph/op_def.h"
#include "engine/ops/host_tensor.h"
#include "engine/ops/registry.h"

namespace svengine::ops {
namespace {

/// Elements before and behind an axis.
int64_t outer_of(const Dims& dims, size_t axis) { return element_count(std::span<const int64_t>(dims).first(axis)); }
int64_t inner_of(const Dims& dims, size_t axis) { return element_count(std::span<const int64_t>(dims).subspan(axis)); }

Dims without(Dims dims, size_t axis) {
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return dims;
}

Result<Tensor> none_of(size_t axis, DType type, const Shape& shape) {
  Dims dims;
  if (shape.has_rank())
    for (const Dim& d : shape.dims()) dims.push_back(d.is_static() ? d.value() : 0);
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(std::min(axis, dims.size())), 0);
  if (type == DType::string) return Tensor::of_strings(dims, {});
  SV_ASSIGN(const MutableTensor out, Tensor::allocate(type, std::move(dims)));
  return Tensor(out);
}

Status check_alike(const std::vector<Tensor>& parts) {
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i].type() != parts[0].type() || parts[i].dims() != parts[0].dims())
      return error("trip 0 gives {}[{}], trip {} {}[{}]; what is scanned has one shape", name_of(parts[0].type()),
                   to_string(parts[0].dims()), i, name_of(parts[i].type()), to_string(parts[i].dims()));
  if (is_container(parts[0].type())) return error("a {} cannot be scanned", name_of(parts[0].type()));
  return {};
}

}  // namespace

Result<Tensor> slice_of(const Tensor& tensor, size_t axis, int64_t index) {
  const Dims& dims = tensor.dims();
  const int64_t outer = outer_of(dims, axis), size = dims[axis], inner = inner_of(dims, axis + 1);
  if (tensor.type() == DType::string) {
    std::vector<std::string> out;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) out.push_back(tensor.strings()[static_cast<size_t>((o * size + index) * inner + i)]);
    return Tensor::of_strings(without(dims, axis), std::move(out));
  }
  const auto bytes = static_cast<size_t>(inner) * size_of(tensor.type());
  const std::byte* from = tensor.raw() + static_cast<size_t>(index) * bytes;
  if (outer == 1) return Tensor::wrap(tensor.type(), without(dims, axis), from, tensor.owner());
  SV_ASSIGN(MutableTensor out, Tensor::allocate(tensor.type(), without(dims, axis)));
  for (int64_t o = 0; o < outer; ++o) std::copy_n(from + static_cast<size_t>(o * size) * bytes, bytes, out.raw() + static_cast<size_t>(o) * bytes);
  return Tensor(out);
}

Result<Tensor> stacked(const std::vector<Tensor>& parts, size_t axis, bool reversed, DType type, const Shape& shape) {
  if (parts.empty()) return none_of(axis, type, shape);
  SV_TRY(check_alike(parts));
  Dims dims = parts[0].dims();
  if (axis > dims.size()) return error("axis {} is outside of what the trips give, of rank {}", axis, dims.size() + 1);
  const int64_t outer = outer_of(dims, axis), inner = inner_of(dims, axis);
  const auto count = static_cast<int64_t>(parts.size());
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), count);
  const auto part_at = [&](int64_t i) -> const Tensor& { return parts[static_cast<size_t>(reversed ? count - 1 - i : i)]; };
  if (parts[0].type() == DType::string) {
    SV_TRY(check_room_for_strings(dims));
    std::vector<std::string> out;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < inner; ++k) out.push_back(part_at(i).strings()[static_cast<size_t>(o * inner + k)]);
    return Tensor::of_strings(std::move(dims), std::move(out));
  }
  const auto bytes = static_cast<size_t>(inner) * size_of(parts[0].type());
  SV_ASSIGN(MutableTensor out, Tensor::allocate(parts[0].type(), std::move(dims)));
  std::byte* to = out.raw();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < count; ++i) to = std::copy_n(part_at(i).raw() + static_cast<size_t>(o) * bytes, bytes, to);
  return Tensor(out);
}

TripInput any_slice_of(const Tensor& tensor, size_t axis) { return {{tensor.type(), Shape::of(without(tensor.dims(), axis)), 0}}; }

void append(std::vector<TripInput>& inputs, const std::vector<Tensor>& values) {
  for (const Tensor& t : values) inputs.push_back({{t.type(), is_handle(t.type()) ? Shape() : Shape::of(t.dims()), 0}, t});
}

std::vector<Type> types_without_trip(const Graph& body, const std::vector<TripInput>& inputs) {
  Graph trip = body.clone();
  const std::vector<Value*> given = trip.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& [type, value] = inputs[i];
    if (is_handle(type.dtype) || type.dtype != given[i]->type.dtype) continue;
    given[i]->type.shape = type.shape;
    if (value.defined()) trip.make_constant(given[i], value);
  }
  // What a trip would refuse is not asked for.
  const auto is_taken = [](const auto& node) { return infer_types(*node).ok() && check_expansion(*node, all_ops()).ok(); };
  const bool known = std::all_of(trip.nodes().begin(), trip.nodes().end(), is_taken);
  std::vector<Type> types;
  for (const Value* v : (known ? trip : body).outputs()) types.push_back(v->type);
  return types;
}

}  // namespace svengine::ops
