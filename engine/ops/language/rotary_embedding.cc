// RotaryEmbedding: pairs of elements of every head rotated by an angle that depends on the token's position. Cosines and sines
// come from caches, rows of which position_ids pick; without them the caches have a row for every token, of one batch or of all: PyTorch
// exports angles of [1, tokens, half] for any batch, which ONNX's own reference repeats.
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/language/attention_common.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {
namespace {

Status check_rotary_caches(const InferContext& c, const Dim& batch, const Dim& length, const Dim& half) {
  const bool picked = c.has_input(3);
  for (size_t i = 1; i < 3; ++i) {
    SV_TRY(require_rank(c, i, picked ? 2 : 3));
    if (c.dtype(i) != c.dtype(0)) return error("{} is {}, must be {} as X is", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(0)));
    if (!c.shape(i).has_rank()) continue;
    if (known_different(c.shape(i).back(), half))
      return error("{} is {}, its last dimension must be half of what is rotated, {}", c.described(i), to_string(c.shape(i)), half.value());
    const bool one_batch = c.shape(i)[0] == Dim(1);
    if (!picked && ((!one_batch && known_different(c.shape(i)[0], batch)) || known_different(c.shape(i)[1], length)))
      return error("{} is {}; without position_ids it needs a row for every token of X {}", c.described(i), to_string(c.shape(i)),
                   to_string(c.shape(0)));
  }
  if (!picked) return {};
  if (c.shape(1).has_rank() && c.shape(2).has_rank() && known_different(c.shape(1)[0], c.shape(2)[0]))
    return error("cos_cache {} and sin_cache {} must be of one shape", to_string(c.shape(1)), to_string(c.shape(2)));
  SV_TRY(require_dtype(c, 3, {DType::i64}));
  SV_TRY(require_rank(c, 3, 2));
  if (c.shape(3).has_rank() && (known_different(c.shape(3)[0], batch) || known_different(c.shape(3)[1], length)))
    return error("position_ids {} must have an element for every token of X {}", to_string(c.shape(3)), to_string(c.shape(0)));
  return {};
}

Status infer_rotary_embedding(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  c.set(0, c.dtype(0), c.shape(0));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return {};
  const bool flat = x.rank() == 3;
  if (!flat && x.rank() != 4) return error("X is {}, needs rank 3 or 4", to_string(x));
  Dim size = x.back();
  const int64_t heads = c.attributes().get_int("num_heads", 0), rotated = c.attributes().get_int("rotary_embedding_dim", 0);
  if (flat && heads < 1) return error("X of rank 3 needs attribute num_heads of at least 1; it is {}", heads);
  if (flat && size.is_static()) {
    if (size.value() % heads != 0) return error("X {} cannot be cut into {} heads", to_string(x), heads);
    size = Dim(size.value() / heads);
  }
  if (rotated < 0 || rotated % 2 != 0) return error("rotary_embedding_dim is {}, must be even", rotated);
  if (size.is_static() && (rotated > size.value() || (rotated == 0 && size.value() % 2 != 0)))
    return error("of heads of {} elements {} cannot be rotated in pairs", size.value(), rotated ? rotated : size.value());
  const Dim half = rotated ? Dim(rotated / 2) : size.is_static() ? Dim(size.value() / 2) : Dim();
  return check_rotary_caches(c, x[0], flat ? x[1] : x[2], half);
}

/// Sizes, and strides in elements of X and Y, which are laid out alike.
struct RotaryShape {
  int64_t batch, heads, length, size, half;
  int64_t head_stride, token_stride;
  int64_t cosine_rows, sine_rows;
  bool interleaved;
};

RotaryShape rotary_shape(const LowerContext& c) {
  const Dims d = c.in_dims(0);
  RotaryShape s;
  s.batch = d[0];
  if (d.size() == 3) {
    s.heads = c.attributes().get_int("num_heads", 1), s.length = d[1], s.size = d[2] / s.heads;
    s.head_stride = s.size, s.token_stride = d[2];
  } else {
    s.heads = d[1], s.length = d[2], s.size = d[3];
    s.head_stride = d[2] * d[3], s.token_stride = d[3];
  }
  const int64_t rotated = c.attributes().get_int("rotary_embedding_dim", 0);
  s.half = (rotated ? rotated : s.size) / 2;
  const auto rows = [&](size_t cache) { return c.has_input(3) ? c.in_dims(cache)[0] : c.in_dims(cache)[0] * s.length; };
  s.cosine_rows = rows(1), s.sine_rows = rows(2);
  s.interleaved = c.attributes().get_int("interleaved", 0) != 0;
  return s;
}

/// One head of one token.
template <class T>
void rotate(const RotaryShape& s, const T* x, const T* cosine, const T* sine, T* y) {
  const int64_t step = s.interleaved ? 2 : 1, second = s.interleaved ? 1 : s.half;
  for (int64_t i = 0; i < s.half; ++i) {
    const T a = x[i * step], b = x[i * step + second];
    y[i * step] = cosine[i] * a - sine[i] * b;
    y[i * step + second] = sine[i] * a + cosine[i] * b;
  }
  std::copy(x + 2 * s.half, x + s.size, y + 2 * s.half);
}

template <class T>
Status emit_rotary(LowerContext& c) {
  const RotaryShape s = rotary_shape(c);
  c.emit("rotary_embedding", s.batch * s.length,
         [=, in = c.in(0), cosines = c.in(1), sines = c.in(2), ids = c.in(3), out = c.out()](const Run& run, int64_t begin,
                                                                                             int64_t end) -> const char* {
           const int64_t* picked = run.get<const int64_t>(ids);
           for (int64_t token = begin; token < end; ++token) {
             if (picked && (picked[token] < 0 || picked[token] >= s.cosine_rows))
               return "RotaryEmbedding: a position is outside cos_cache and sin_cache";
             const int64_t cosine = picked ? picked[token] : token % s.cosine_rows, sine = picked ? picked[token] : token % s.sine_rows;
             const int64_t first = token / s.length * s.heads * s.length * s.size + token % s.length * s.token_stride;
             for (int64_t head = 0; head < s.heads; ++head) {
               const int64_t at = first + head * s.head_stride;
               rotate(s, run.get<const T>(in) + at, run.get<const T>(cosines) + cosine * s.half,
                      run.get<const T>(sines) + sine * s.half, run.get<T>(out) + at);
             }
           }
           return nullptr;
         });
  return {};
}

Status lower_rotary_embedding(LowerContext& c) {
  return c.out_type().dtype == DType::f64 ? emit_rotary<double>(c) : emit_rotary<float>(c);
}

/// Turned back: by the same angles with the opposite sign.
Status rotary_embedding_gradient(GradientContext& c) {
  if (c.wants(1) || c.wants(2)) return error("only input X has a gradient, cos_cache and sin_cache have none");
  std::vector<Value*> inputs{c.dy(), c.input(1), c.op("Neg", {c.input(2)})};
  if (c.input(3)) inputs.push_back(c.input(3));
  c.set(0, c.op("RotaryEmbedding", std::move(inputs), c.attributes()));
  return {};
}

}  // namespace

OpDef define_rotary_embedding() {
  return {
      .name = "RotaryEmbedding",
      .since = 23,
      .until = 28,
      .inputs = "X, cos_cache, sin_cache, position_ids?",
      .attributes = {{"interleaved", AttributeKind::kInt, false, 0},
                     {"num_heads", AttributeKind::kInt},
                     {"rotary_embedding_dim", AttributeKind::kInt, false, 0}},
      .infer = infer_rotary_embedding,
      .lower = lower_rotary_embedding,
      .gradient = rotary_embedding_gradient,
      .samples = "(float32[2, 3, 4, 8], float32[9, 4]{0.6, 0.55, ...}, float32[9, 4]{0.6, 0.55, ...}, int64[2, 4]{0, 8, 2, 3, 4, 1, 6, 7})"
                 "(float32[2, 3, 24], float32[2, 3, 2]{0.6, 0.55, 0.5, 0.45000002, 0.40000004, 0.35000002, 0.3, 0.25000003, 0.20000002, "
                 "0.15, 0.100000024, 0.050000012}, float32[2, 3, 2]{0.6, 0.55, 0.5, 0.45000002, 0.40000004, 0.35000002, 0.3, 0.25000003, "
                 "0.20000002, 0.15, 0.100000024, 0.050000012}) {num_heads = 3, rotary_embedding_dim = 4, interleaved = 1}"
                 "(float32[2, 2, 3, 4], float32[1, 3, 2]{0.6, 0.55, 0.5, 0.45000002, 0.40000004, 0.35000002}, float32[2, 3, 2]{0.6, 0.55, "
                 "0.5, 0.45000002, 0.40000004, 0.35000002, 0.3, 0.25000003, 0.20000002, 0.15, 0.100000024, 0.050000012})",
  };
}

}  // namespace svengine::ops
