#include "engine/graph/transposed_node.h"

#include <algorithm>

namespace svengine {
namespace {

bool is_one_element(const Shape& shape) {
  return shape.has_rank() && std::all_of(shape.dims().begin(), shape.dims().end(), [](const Dim& d) { return d.same(Dim(1)); });
}

}  // namespace

Permutation inverse(const Permutation& perm) {
  Permutation out(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) out[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return out;
}

Permutation composed(const Permutation& first, const Permutation& second) {
  Permutation out;
  for (int64_t i : second) out.push_back(first[static_cast<size_t>(i)]);
  return out;
}

std::optional<TransposedNode> transposed_elementwise(const Node& node, const Permutation& perm) {
  const auto rank = static_cast<int64_t>(perm.size());
  TransposedNode out{.inputs = {}, .outputs = {perm}, .attributes = node.attributes};
  if (node.outputs().size() != 1 || node.output()->type.shape.rank() != rank) return std::nullopt;
  for (const Value* v : node.inputs()) {
    if (v && (!v->type.shape.has_rank() || v->type.shape.rank() > rank)) return std::nullopt;
    out.inputs.push_back(v && !is_one_element(v->type.shape) ? perm : Permutation());
  }
  return out;
}

std::optional<TransposedNode> transposed_along_axis(const Node& node, const Permutation& perm, size_t inputs, int64_t otherwise) {
  const auto rank = static_cast<int64_t>(perm.size());
  const auto axis = stored_axes({node.attributes.get_int("axis", otherwise)}, perm);
  if (!axis) return std::nullopt;
  TransposedNode out{.inputs = {}, .outputs = {}, .attributes = node.attributes};
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.input(i);
    if (i < inputs && (!v || v->type.shape.rank() != rank)) return std::nullopt;
    out.inputs.push_back(i < inputs ? perm : Permutation());
  }
  out.outputs.assign(node.outputs().size(), perm);
  out.attributes.set("axis", axis->front());
  return out;
}

std::optional<TransposedNode> transposed_with_axes(const Node& node, const Permutation& perm, size_t slot, const std::vector<int64_t>& axes) {
  const auto stored = stored_axes(axes, perm);
  if (!stored) return std::nullopt;
  TransposedNode out{.inputs = {perm}, .outputs = {perm}, .attributes = node.attributes, .constants = {{slot, integer_list(*stored)}}};
  out.inputs.resize(std::max(node.inputs().size(), slot + 1));
  return out;
}

Permutation without(const Permutation& perm, const std::vector<int64_t>& dropped) {
  Permutation kept;
  for (size_t i = 0; i < perm.size(); ++i)
    if (!std::binary_search(dropped.begin(), dropped.end(), static_cast<int64_t>(i))) kept.push_back(perm[i]);
  Permutation out;
  for (int64_t i : kept) out.push_back(std::count_if(kept.begin(), kept.end(), [i](int64_t other) { return other < i; }));
  return out;
}

std::optional<std::vector<int64_t>> stored_axes(const std::vector<int64_t>& axes, const Permutation& perm) {
  const auto normal = normalise_axes(axes, static_cast<int64_t>(perm.size()));
  if (!normal.ok()) return std::nullopt;
  return composed(perm, *normal);
}

std::optional<std::vector<int64_t>> known_integers(const Node& node, size_t input) {
  const Value* v = node.input(input);
  if (!v || !v->is_constant()) return std::nullopt;
  return v->constant().as_int64s();
}

Tensor integer_list(const std::vector<int64_t>& values) {
  return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values));
}

}  // namespace svengine
