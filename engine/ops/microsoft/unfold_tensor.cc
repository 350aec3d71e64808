// com.microsoft.UnfoldTensor: windows of `size` elements along a dimension, every `step`, as PyTorch's Tensor.unfold has them: their number
// takes the dimension's place, their elements are a last dimension.
#include "engine/graph/axes.h"
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

Status infer_unfold(InferContext& c) {
  const int64_t size = c.attributes().get_int("size", 0), step = c.attributes().get_int("step", 1);
  if (size < 1 || step < 1) return error("size is {} and step {}, must be at least 1", size, step);
  SV_TRY(require_rank_at_least(c, 0, 1));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape()), Status{};
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("dim", -1), x.rank()));
  std::vector<Dim> dims = x.dims();
  Dim& windows = dims[static_cast<size_t>(axis)];
  if (windows.is_static() && windows.value() < size) return error("size is {}, but dimension {} has {} elements", size, axis, windows.value());
  windows = windows.is_static() ? Dim((windows.value() - size) / step + 1) : Dim();
  dims.push_back(Dim(size));
  c.set(0, c.dtype(0), Shape(std::move(dims)));
  return {};
}

Status expand_unfold(ExpandContext& c) {
  if (!c.shape(0).has_rank()) return {};
  const int64_t size = c.attributes().get_int("size", 1), step = c.attributes().get_int("step", 1), rank = c.shape(0).rank();
  const int64_t given = c.attributes().get_int("dim", -1), axis = given < 0 ? given + rank : given;
  if (!c.dim(0, axis)) return {};
  const int64_t windows = (*c.dim(0, axis) - size) / step + 1;
  const auto count = [&](int64_t n) { return c.up_to(c.number(static_cast<double>(n), DType::i64)); };
  Value* begins = c.op("Mul", {count(windows), c.number(static_cast<double>(step), DType::i64)});
  Value* places = c.op("Add", {c.unsqueeze(begins, {1}), count(size)});
  std::vector<int64_t> perm;  // the elements of windows go from behind the axis to the end
  for (int64_t i = 0; i <= rank; ++i)
    if (i != axis + 1) perm.push_back(i);
  perm.push_back(axis + 1);
  c.set(0, c.transpose(c.op("Gather", {c.input(0), places}, make_attributes({{"axis", axis}})), std::move(perm)));
  return {};
}

}  // namespace

OpDef define_microsoft_unfold_tensor() {
  return {
      .name = "UnfoldTensor",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input",
      .attributes = {{"dim", AttributeKind::kInt, false, -1},
                     {"size", AttributeKind::kInt, true},
                     {"step", AttributeKind::kInt, false, 1}},
      .expand = expand_unfold,
      .infer = infer_unfold,
      .types = {{"T", kDenseTypes, {0}}},
      .samples = "(float32[3, 7, 2]) {dim = 1, size = 3, step = 2}"
                 "(int64[2, 5]) {size = 5}",
  };
}

}  // namespace svengine::ops
