// Transpose: output dimension i is input dimension perm[i]; without perm the dimensions are reversed.
#include <algorithm>
#include <numeric>

#include "engine/graph/gradient.h"
#include "engine/graph/axes.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

Result<std::vector<int64_t>> permutation(const Attributes& attributes, int64_t rank) {
  const auto* given = attributes.get<std::vector<int64_t>>("perm");
  if (!given) {
    std::vector<int64_t> reversed(static_cast<size_t>(rank));
    std::iota(reversed.rbegin(), reversed.rend(), 0);
    return reversed;
  }
  if (static_cast<int64_t>(given->size()) != rank)
    return error("perm has {} entries, needs one for each of {} dimensions", given->size(), rank);
  return normalise_axes(*given, rank, "perm");
}

Status infer_transpose(InferContext& c) {
  const Shape& in = c.shape(0);
  const auto* perm = c.attributes().get<std::vector<int64_t>>("perm");
  if (!in.has_rank()) {
    c.set(0, c.dtype(0), perm ? unknown_dims(static_cast<int64_t>(perm->size())) : Shape());
    return {};
  }
  SV_ASSIGN(const std::vector<int64_t> order, permutation(c.attributes(), in.rank()));
  std::vector<Dim> out;
  for (int64_t axis : order) out.push_back(in[static_cast<size_t>(axis)]);
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

bool keeps_order(const Node& node) {
  const std::vector<int64_t> perm = node.attributes.get_ints("perm");
  const int64_t rank = node.input(0)->type.shape.rank();
  if (perm.empty()) return rank == 0 || rank == 1;
  if (rank != static_cast<int64_t>(perm.size())) return false;  // not known yet, or refused
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

Status lower_transpose(LowerContext& c) {
  const Dims in = c.in_dims(0);
  SV_ASSIGN(const std::vector<int64_t> order, permutation(c.attributes(), static_cast<int64_t>(in.size())));
  const std::vector<int64_t> strides = strides_of(in);
  CopyView view{.dims = c.out_dims(), .in_strides = {}, .out_strides = strides_of(c.out_dims())};
  for (int64_t axis : order) view.in_strides.push_back(strides[static_cast<size_t>(axis)]);
  emit_copy(c, "transpose", std::move(view));
  return {};
}

Status transpose_gradient(GradientContext& c) {
  const std::vector<int64_t> perm = c.attributes().get_ints("perm");
  Attributes inverse;  // without perm both reverse all dimensions
  if (!perm.empty()) {
    std::vector<int64_t> back(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    inverse.set("perm", std::move(back));
  }
  c.set(0, c.op("Transpose", {c.dy()}, std::move(inverse)));
  return {};
}

}  // namespace

OpDef define_transpose() {
  return {
      .name = "Transpose",
      .inputs = "data",
      .attributes = {{"perm", AttributeKind::kInts}},
      .infer = infer_transpose,
      .lower = lower_transpose,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = transpose_gradient,
      .traits = {.is_identity = keeps_order, .moves_elements = always},
      .samples = "(float32[17, 33])"
                 "(float32[2, 3, 5, 7]) {perm = [0, 2, 1, 3]}"
                 "(float32[2, 3, 5, 7]) {perm = [0, 2, 3, 1]}"
                 "(int64[3, 4, 5]) {perm = [2, 0, 1]}"
                 "(bool[3, 19] 0 to 2)",
  };
}

}  // namespace svengine::ops
