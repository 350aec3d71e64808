// RandomNormal, RandomUniform, and their forms that take the shape of an input.
#include <cmath>
#include <numbers>

#include "engine/graph/gradient.h"
#include "engine/ops/element_step.h"
#include "engine/ops/random/random_common.h"

namespace svengine::ops {
namespace {

Status check_distribution(const Attributes& a, bool normal) {
  if (normal) {
    const float mean = a.get_float("mean", 0), scale = a.get_float("scale", 1);
    if (!std::isfinite(mean) || !std::isfinite(scale) || scale < 0)
      return error("mean {} and scale {}: both must be finite, scale not negative", mean, scale);
    return {};
  }
  const float low = a.get_float("low", 0), high = a.get_float("high", 1);
  if (!std::isfinite(high - low) || !(low <= high)) return error("low {} and high {}: needs low <= high, both finite", low, high);
  return {};
}

template <bool kNormal>
Status infer_random(InferContext& c) {
  SV_TRY(check_distribution(c.attributes(), kNormal));
  SV_ASSIGN(const DType type, dtype_attribute(c.attributes(), "dtype", DType::f32, kDrawnTypes));
  const std::vector<int64_t> shape = c.attributes().get_ints("shape");
  SV_TRY(check_dims(shape));
  c.set(0, type, Shape::of(shape));
  return {};
}

template <bool kNormal>
Status infer_random_like(InferContext& c) {
  SV_TRY(check_distribution(c.attributes(), kNormal));
  const bool real = kDrawnTypes.has(c.dtype(0));
  if (!c.attributes().has("dtype") && !real && c.dtype(0) != DType::undefined)
    return error("the input is {}, which cannot be drawn; attribute dtype says what to draw", name_of(c.dtype(0)));
  SV_ASSIGN(const DType type, dtype_attribute(c.attributes(), "dtype", real ? c.dtype(0) : DType::f32, kDrawnTypes));
  c.set(0, type, c.shape(0));
  return {};
}

/// Box and Muller's transform of two doubles of 53 and 64 bits.
double drawn_normal(const RandomStream& stream, uint64_t i) {
  const PhiloxCounter w = stream.block(i);
  const double u = 1 - drawn_double(stream, i), angle = static_cast<double>(static_cast<uint64_t>(w[2]) << 32 | w[3]) * 0x1p-64;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * angle);
}

struct Distribution {
  bool normal;
  float a, b;  // mean and scale, or low and high

  explicit Distribution(const Attributes& x, bool is_normal)
      : normal(is_normal),
        a(is_normal ? x.get_float("mean", 0) : x.get_float("low", 0)),
        b(is_normal ? x.get_float("scale", 1) : x.get_float("high", 1)) {}
};

void emit_draw(LowerContext& c, Distribution d, Buffer out, bool wide) {
  const Buffer seed = emit_seed(c);
  emit_elements(c, d.normal ? "random_normal" : "random_uniform", element_count(c.out_dims()),
                [=](const Run& run, int64_t begin, int64_t end) {
                  const RandomStream stream = stream_of(run, seed);
                  const auto first = static_cast<uint64_t>(begin);
                  if (!wide) {
                    const std::span<float> y(run.get<float>(out) + begin, static_cast<size_t>(end - begin));
                    if (d.normal)
                      fill_normal(stream, first, d.a, d.b, y);
                    else
                      fill_uniform(stream, first, d.a, d.b, y);
                    return;
                  }
                  for (int64_t i = begin; i < end; ++i) {
                    const auto at = static_cast<uint64_t>(i);
                    const double a = d.a, b = d.b;
                    run.get<double>(out)[i] =
                        d.normal ? a + b * drawn_normal(stream, at) : a + (b - a) * drawn_double(stream, at);
                  }
                });
}

template <bool kNormal>
Status lower_random(LowerContext& c) {
  emit_draw(c, Distribution(c.attributes(), kNormal), c.out(), c.out_type().dtype == DType::f64);
  return {};
}

OpDef random_op(const char* name, bool normal, bool like) {
  OpDef op{.name = name, .inputs = like ? OpInputs("input") : OpInputs("")};
  op.attributes = {{"dtype", AttributeKind::kInt, false, like ? AttributeDefault() : 1}, {"seed", AttributeKind::kFloat}};
  if (normal)
    op.attributes.insert(op.attributes.end(),
                         {{"mean", AttributeKind::kFloat, false, 0.0f}, {"scale", AttributeKind::kFloat, false, 1.0f}});
  else
    op.attributes.insert(op.attributes.end(),
                         {{"low", AttributeKind::kFloat, false, 0.0f}, {"high", AttributeKind::kFloat, false, 1.0f}});
  if (!like) op.attributes.push_back({"shape", AttributeKind::kInts, true});
  op.infer =
      normal ? (like ? infer_random_like<true> : infer_random<true>) : (like ? infer_random_like<false> : infer_random<false>);
  op.lower = normal ? lower_random<true> : lower_random<false>;
  if (like) op.gradient = zero_gradient;  // only the shape is read
  for (const auto& [shape, type] :
       {std::pair("[3, 37]", 1), std::pair("[2, 5]", 11), std::pair("[70]", 10), std::pair("[0, 2]", 1), std::pair("[]", 11)}) {
    const std::string size = shape == std::string_view("[]") ? "ints[]" : shape;
    op.samples += like ? fmt::format("(float32{}) {{seed = 3.0, dtype = {}}}", shape, type)
                       : fmt::format("() {{seed = 3.0, dtype = {}, shape = {}}}", type, size);
  }
  return op;
}

}  // namespace

OpDef define_random_normal() { return random_op("RandomNormal", true, false); }

OpDef define_random_uniform() { return random_op("RandomUniform", false, false); }

OpDef define_random_normal_like() { return random_op("RandomNormalLike", true, true); }

OpDef define_random_uniform_like() { return random_op("RandomUniformLike", false, true); }

}  // namespace svengine::ops
