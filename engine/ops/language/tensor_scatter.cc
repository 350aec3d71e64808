// TensorScatter: the update's rows written into a cache along `axis`, from each sample's own index on; in place where the cache's
// memory may be reused.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/graph/axes.h"
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {
namespace {

Result<int64_t> scatter_axis(const Attributes& attributes, int64_t rank) {
  SV_ASSIGN(const int64_t axis, normalise_axis(attributes.get_int("axis", -2), rank));
  if (axis == 0) return error("axis is the batch dimension, must be another one");
  return axis;
}

Status infer_tensor_scatter(InferContext& c) {
  const std::string mode = c.attributes().get_string("mode", "linear");
  if (mode != "linear" && mode != "circular") return error("mode is '{}', must be linear or circular", mode);
  if (is_handle(c.dtype(0))) return error("past_cache is {}, must be a tensor of numbers", name_of(c.dtype(0)));
  if (c.dtype(1) != c.dtype(0))
    return error("update is {}, must be {} as past_cache is", name_of(c.dtype(1)), name_of(c.dtype(0)));
  SV_TRY(require_dtype(c, 2, {DType::i64}));
  SV_TRY(require_rank(c, 2, 1));
  const Shape &past = c.shape(0), &update = c.shape(1);
  c.set(0, c.dtype(0), past);
  if (!past.has_rank()) return {};
  if (past.rank() < 2) return error("past_cache is {}, needs a rank of at least 2", to_string(past));
  SV_ASSIGN(const int64_t axis, scatter_axis(c.attributes(), past.rank()));
  if (c.has_input(2) && c.shape(2).has_rank() && known_different(c.shape(2)[0], past[0]))
    return error("write_indices has {} elements, needs one for each of {} in the batch", c.shape(2)[0].value(), past[0].value());
  if (!update.has_rank()) return {};
  bool fits = update.rank() == past.rank();
  for (size_t i = 0; fits && i < past.dims().size(); ++i)
    fits = static_cast<int64_t>(i) == axis ? !known_different(update[i], past[i]) || update[i].value() < past[i].value()
                                           : !known_different(update[i], past[i]);
  if (!fits)
    return error("update {} does not fit past_cache {}: only dimension {} may differ, and be smaller", to_string(update),
                 to_string(past), axis);
  return {};
}

struct ScatterShape {
  int64_t batch, prefixes, length, rows;  // prefixes: of one sample; rows of the cache and of the update
  size_t row_bytes;
  bool circular;
};

/// Null, or what is wrong with the index.
const char* scatter_rows(const ScatterShape& s, int64_t index, const std::byte* past, const std::byte* update,
                         std::byte* present) {
  if (!s.circular && (index < 0 || index > s.length - s.rows)) return "TensorScatter: an index is outside the cache";
  if (past != present) std::memcpy(present, past, static_cast<size_t>(s.length) * s.row_bytes);
  if (s.length == 0) return nullptr;
  const int64_t first = (index % s.length + s.length) % s.length;
  for (int64_t i = 0; i < s.rows; ++i) {
    const int64_t row = first + i < s.length ? first + i : first + i - s.length;
    std::memcpy(present + static_cast<size_t>(row) * s.row_bytes, update + static_cast<size_t>(i) * s.row_bytes, s.row_bytes);
  }
  return nullptr;
}

Status lower_tensor_scatter(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  SV_ASSIGN(const int64_t at, scatter_axis(c.attributes(), static_cast<int64_t>(dims.size())));
  const auto axis = static_cast<size_t>(at);
  ScatterShape s;
  s.batch = dims[0], s.length = dims[axis], s.rows = c.in_dims(1)[axis];
  s.prefixes = element_count(std::span(dims).subspan(1, axis - 1));
  s.row_bytes = static_cast<size_t>(element_count(std::span(dims).subspan(axis + 1))) * size_of(c.out_type().dtype);
  s.circular = c.attributes().get_string("mode", "linear") == "circular";
  c.emit("tensor_scatter", s.batch * s.prefixes,
         [=, past = c.in(0), update = c.in(1), indices = c.in(2), out = c.out()](const Run& run, int64_t begin,
                                                                                 int64_t end) -> const char* {
           const int64_t* index = run.get<const int64_t>(indices);
           for (int64_t i = begin; i < end; ++i) {
             const size_t of_cache = static_cast<size_t>(i * s.length) * s.row_bytes,
                          of_update = static_cast<size_t>(i * s.rows) * s.row_bytes;
             const char* problem = scatter_rows(s, index ? index[i / s.prefixes] : 0, run.get<const std::byte>(past) + of_cache,
                                                run.get<const std::byte>(update) + of_update, run.get<std::byte>(out) + of_cache);
             if (problem) return problem;
           }
           return nullptr;
         });
  return {};
}

/// Where each sample's rows went, [batch, rows] along an axis of `length`.
Value* written_rows(GradientContext& c, int64_t rows, int64_t length) {
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  Value* all = c.builder().constant(Tensor::of<int64_t>({rows}, std::span<const int64_t>(order)));
  Value* first = c.op("Unsqueeze", {c.input(2), c.builder().integers({1})});
  return c.op("Mod", {c.op("Add", {first, all}), c.builder().constant(Tensor::scalar<int64_t>(std::max<int64_t>(length, 1)))});
}

/// The cache keeps its gradient but where rows were written; that went to the update.
Status tensor_scatter_gradient(GradientContext& c) {
  std::vector<Value*> inputs{c.dy(), c.zeros_like(c.input(1))};
  if (c.input(2)) inputs.push_back(c.input(2));
  if (c.wants(0)) c.set(0, c.op("TensorScatter", std::move(inputs), c.attributes()));
  if (!c.wants(1)) return {};
  const Shape &past = c.input(0)->type.shape, &update = c.input(1)->type.shape;
  if (!past.has_rank() || !update.has_rank()) return error("the gradient needs the rank of past_cache and update");
  SV_ASSIGN(const int64_t axis, scatter_axis(c.attributes(), past.rank()));
  const Dim &length = past[static_cast<size_t>(axis)], &rows = update[static_cast<size_t>(axis)];
  if (!length.is_static() || !rows.is_static())
    return error("the gradient needs dimension {} of past_cache {} and update {}", axis, to_string(past), to_string(update));
  if (!c.input(2)) {
    c.set(1, c.op("Slice", {c.dy(), c.builder().integers({0}), c.builder().integers({rows.value()}), c.builder().integers({axis})}));
    return {};
  }
  std::vector<int64_t> perm(static_cast<size_t>(past.rank())), back(perm.size());  // the axis behind the batch, and back
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + 1, perm.begin() + axis, perm.begin() + axis + 1);
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  const auto transposed = [&](Value* v, const std::vector<int64_t>& order) { return c.op("Transpose", {v}, make_attributes({{"perm", order}})); };
  Value* at = c.op("Unsqueeze", {written_rows(c, rows.value(), length.value()), c.builder().integers({2})});
  c.set(1, transposed(c.op("GatherND", {transposed(c.dy(), perm), at}, make_attributes({{"batch_dims", int64_t{1}}})), back));
  return {};
}

}  // namespace

OpDef define_tensor_scatter() {
  return {
      .name = "TensorScatter",
      .since = 24,
      .until = 28,
      .inputs = "past_cache, update, write_indices?",
      .attributes = {{"axis", AttributeKind::kInt, false, -2},
                     {"mode", AttributeKind::kString, false, "linear"}},
      .infer = infer_tensor_scatter,
      .lower = lower_tensor_scatter,
      .kernel_types = kDenseTypes,
      .gradient = tensor_scatter_gradient,
      .traits = {.may_overwrite = true, .reads_others_late = true},
      .samples = "(float32[2, 3, 5, 4], float32[2, 3, 2, 4], int64[2]{1, 3})"
                 R"((float32[2, 5, 3], float32[2, 3, 3], int64[2]{4, 2}) {mode = "circular", axis = 1})"
                 "(float32[2, 3, 5, 4], float32[2, 3, 2, 4])"
                 "(int8[1, 2], int8[1, 1]) {axis = 1}",
  };
}

}  // namespace svengine::ops
