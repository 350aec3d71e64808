#include "engine/ops/sequence/sequence_common.h"

#include <memory>

namespace svengine::ops {

Type handle_type(DType kind, Type element) {
  Type type{kind, Shape(std::vector<Dim>{})};
  type.element = std::make_shared<const Type>(std::move(element));
  return type;
}

Status require_sequence(const InferContext& c, size_t i) {
  const DType type = c.dtype(i);
  if (type == DType::sequence || type == DType::undefined) return {};
  return error("{} is {}, needs a sequence", c.described(i), name_of(type));
}

Type element_type(const Type& type) { return type.element ? *type.element : Type(); }

Result<Type> common_element(const Type& a, const Type& b) {
  if (a.dtype == DType::undefined || b.dtype == DType::undefined) {
    Type known = a.dtype == DType::undefined ? b : a;
    known.shape = Shape();
    return known;
  }
  if (a.dtype != b.dtype) return error("a sequence of {} cannot hold {}", name_of(a.dtype), name_of(b.dtype));
  Type common = a;
  if (!a.shape.has_rank() || !b.shape.has_rank() || a.shape.rank() != b.shape.rank()) {
    common.shape = Shape();
    return common;
  }
  for (size_t i = 0; i < a.shape.dims().size(); ++i)
    if (!a.shape[i].same(b.shape[i])) common.shape.set(i, Dim());
  return common;
}

const std::vector<Tensor>& sequence_items(const EvaluateContext& c, size_t i) { return c.input(i).items(); }

Result<size_t> sequence_position(const EvaluateContext& c, size_t i, int64_t count, int64_t limit) {
  const std::vector<int64_t> given = c.input(i).as_int64s();
  if (given.size() != 1) return error("the position has {} elements, needs one", given.size());
  const int64_t at = given[0] < 0 ? given[0] + count : given[0];
  if (at < 0 || at >= limit) return error("position {} is outside a sequence of {} items", given[0], count);
  return static_cast<size_t>(at);
}

Status check_item(const std::vector<Tensor>& items, const Tensor& item) {
  if (items.empty() || items[0].type() == item.type()) return {};
  return error("a sequence of {} cannot hold {}", name_of(items[0].type()), name_of(item.type()));
}

}  // namespace svengine::ops
