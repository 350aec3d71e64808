// SplitToSequence: pieces of a tensor along an axis as a sequence. ConcatFromSequence: the other way.
#include <algorithm>

#include "engine/graph/axes.h"
#include "engine/ops/host_tensor.h"
#include "engine/ops/sequence/sequence_common.h"

namespace svengine::ops {
namespace {

/// Pieces of one lose the axis, unless keepdims; only where no sizes are given.
bool drops_axis(const Attributes& attributes, bool has_sizes) { return !has_sizes && attributes.get_int("keepdims", 1) == 0; }

Status infer_split_to_sequence(InferContext& c) {
  SV_TRY(require_dtype(c, 1, kIndexTypes));
  SV_TRY(require_rank_at_least(c, 0, 1));
  if (c.has_input(1) && c.shape(1).rank() > 1) return error("split has rank {}, needs a scalar or a list", c.shape(1).rank());
  Type element = c.type(0);
  element.block = 0;
  if (element.shape.has_rank()) {
    SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), element.shape.rank()));
    std::vector<Dim> dims = element.shape.dims();
    if (drops_axis(c.attributes(), c.has_input(1)))
      dims.erase(dims.begin() + axis);
    else
      dims[static_cast<size_t>(axis)] = c.has_input(1) ? Dim() : Dim(1);
    element.shape = Shape(std::move(dims));
  }
  c.set(0, handle_type(DType::sequence, std::move(element)));
  return {};
}

/// The lengths of the pieces of `size` positions.
Result<std::vector<int64_t>> piece_sizes(const Tensor& split, int64_t size) {
  if (!split.defined()) return std::vector<int64_t>(static_cast<size_t>(size), 1);
  std::vector<int64_t> given = split.as_int64s();
  if (split.dims().empty()) {
    const int64_t each = given[0];
    if (each < 1) return error("split is {}, needs a positive length", each);
    std::vector<int64_t> sizes;
    for (int64_t left = size; left > 0; left -= sizes.back()) sizes.push_back(std::min(each, left));
    return sizes;
  }
  int64_t left = size;
  for (const int64_t n : given) {
    if (n < 0 || n > left)
      return error("piece sizes {} do not sum to the {} positions of the axis", fmt::join(given, ", "), size);
    left -= n;
  }
  if (left != 0) return error("piece sizes {} do not sum to the {} positions of the axis", fmt::join(given, ", "), size);
  return given;
}

Status evaluate_split_to_sequence(EvaluateContext& c) {
  const Tensor& x = c.input(0);
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(x.dims().size())));
  const auto a = static_cast<size_t>(axis);
  SV_ASSIGN(const std::vector<int64_t> sizes, piece_sizes(c.has_input(1) ? c.input(1) : Tensor(), x.dims()[a]));
  const bool drop = drops_axis(c.attributes(), c.has_input(1));
  std::vector<Tensor> items;
  int64_t begin = 0;
  for (const int64_t n : sizes) {
    SV_ASSIGN(Tensor piece, sliced(x, a, begin, n));
    begin += n;
    if (drop) {
      Dims dims = piece.dims();
      dims.erase(dims.begin() + axis);
      piece = piece.reshaped(std::move(dims));
    }
    items.push_back(std::move(piece));
  }
  c.set(0, Tensor::of_items(DType::sequence, std::move(items)));
  return {};
}

Status infer_concat_from_sequence(InferContext& c) {
  SV_TRY(require_sequence(c, 0));
  Type out = element_type(c.type(0));
  const int64_t new_axis = c.attributes().get_int("new_axis");
  if (new_axis != 0 && new_axis != 1) return error("new_axis is {}, must be 0 or 1", new_axis);
  if (out.shape.has_rank()) {
    std::vector<Dim> dims = out.shape.dims();
    SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), out.shape.rank() + new_axis));
    if (new_axis)
      dims.insert(dims.begin() + axis, Dim());
    else
      dims[static_cast<size_t>(axis)] = Dim();
    out.shape = Shape(std::move(dims));
  }
  c.set(0, std::move(out));
  return {};
}

/// The same dimensions but for `axis`.
bool fits(const Dims& a, const Dims& b, size_t axis, bool new_axis) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && (new_axis || i != axis)) return false;
  return true;
}

Status evaluate_concat_from_sequence(EvaluateContext& c) {
  std::vector<Tensor> items = sequence_items(c, 0);
  if (items.empty()) return error("the sequence is empty: the result has no shape");
  const bool new_axis = c.attributes().get_int("new_axis") != 0;
  const auto rank = static_cast<int64_t>(items[0].dims().size());
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), rank + new_axis));
  for (size_t i = 1; i < items.size(); ++i) {
    SV_TRY(check_item(items, items[i]));
    if (!fits(items[0].dims(), items[i].dims(), static_cast<size_t>(axis), new_axis))
      return error("item {} is {}, item 0 is {}; {}", i, svengine::to_string(items[i].dims()),
                   svengine::to_string(items[0].dims()),
                   new_axis ? "stacked items have one shape" : fmt::format("only dimension {} may differ", axis));
  }
  if (new_axis)
    for (Tensor& t : items) {
      Dims dims = t.dims();
      dims.insert(dims.begin() + axis, 1);
      t = t.reshaped(std::move(dims));
    }
  SV_ASSIGN(Tensor out, joined(items, static_cast<size_t>(axis)));
  c.set(0, std::move(out));
  return {};
}

}  // namespace

OpDef define_split_to_sequence() {
  return {
      .name = "SplitToSequence",
      .since = 11,
      .inputs = "input, split?",
      .attributes = {{"axis", AttributeKind::kInt, false, 0}, {"keepdims", AttributeKind::kInt, false, 1}},
      .infer = infer_split_to_sequence,
      .evaluate = evaluate_split_to_sequence,
  };
}

OpDef define_concat_from_sequence() {
  return {
      .name = "ConcatFromSequence",
      .since = 11,
      .inputs = "input_sequence",
      .attributes = {{"axis", AttributeKind::kInt, true}, {"new_axis", AttributeKind::kInt, false, 0}},
      .infer = infer_concat_from_sequence,
      .evaluate = evaluate_concat_from_sequence,
  };
}

}  // namespace svengine::ops
