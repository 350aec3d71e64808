// GridSample: an image sampled where a grid of coordinates says, by the nearest element or by linear or cubic interpolation.
#include "engine/base/round.h"
#include "engine/graph/gradient.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/vision/grid_tables_common.h"

namespace svengine::ops {
namespace {

/// Until opset 19 two modes had names of two dimensions.
Status canonicalize_grid_sample(CanonicalizeContext& c) {
  const std::string mode = c.attributes().get_string("mode", "bilinear");
  if (c.opset() < 20 && mode != "bilinear" && mode != "nearest" && mode != "bicubic")
    return error("mode is '{}', before opset 20 it is bilinear, nearest or bicubic", mode);
  if (c.opset() < 20)
    c.attributes().set("mode", mode == "bilinear" ? std::string("linear") : mode == "bicubic" ? std::string("cubic") : mode);
  return {};
}

Status infer_grid_sample(InferContext& c) {
  SV_ASSIGN(const GridRules rules, grid_rules(c.attributes()));
  SV_TRY(require_dtype(c, 0, rules.mode == GridMode::kNearest ? kStoredTypes : kNumericTypes));
  SV_TRY(require_dtype(c, 1, kRealTypes));
  SV_ASSIGN(Shape out, grid_output(c.shape(0), c.shape(1)));
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

/// Steps of f(image, first position, count) for all positions, a chunk a task.
template <class Body>
void emit_grid_chunks(LowerContext& c, const char* name, const GridShape& s, int64_t scratch, Body body) {
  const int64_t chunks = (s.positions + kGridChunk - 1) / kGridChunk;
  c.emit(
      name, s.batch * chunks,
      [=](const Run& run, int64_t begin, int64_t end) -> const char* {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = task % chunks * kGridChunk;
          body(run, task / chunks, first, std::min(kGridChunk, s.positions - first));
        }
        return nullptr;
      },
      scratch);
}

/// Real X: tables, and sums over them.
template <class T, class G>
void lower_real_samples(LowerContext& c, const GridRules& rules, const GridShape& s) {
  const int64_t taps = static_cast<int64_t>(std::pow(rules.axis_taps(), s.axes));
  const auto body = [=, data = c.kernels().data, x = c.in(0), grid = c.in(1), y = c.out()](const Run& run, int64_t image,
                                                                                           int64_t first, int64_t count) {
    const SampleTables<T> tables = tables_in<T>(run, taps, count);
    const G* at = run.get<const G>(grid) + (image * s.positions + first) * static_cast<int64_t>(s.axes);
    fill_grid_tables(rules, s, at, tables);
    gather_samples(*data, tables, run.get<const T>(x) + image * s.channels * s.plane, s.plane,
                   run.get<T>(y) + image * s.channels * s.positions + first, s.positions, s.channels, false);
  };
  emit_grid_chunks(c, "grid_sample", s, sample_scratch_bytes<T>(taps * kGridChunk), body);
}

/// Elements of any kind, moved.
template <class T, class G>
void lower_nearest_samples(LowerContext& c, const GridRules& rules, const GridShape& s) {
  const auto body = [=, x = c.in(0), grid = c.in(1), y = c.out()](const Run& run, int64_t image, int64_t first, int64_t count) {
    int64_t* places = run.scratch<int64_t>();
    const G* at = run.get<const G>(grid) + (image * s.positions + first) * static_cast<int64_t>(s.axes);
    for (int64_t j = 0; j < count; ++j, at += s.axes)
      GridPosition<G>(rules, s, at).for_each(s, [&](int64_t, int64_t place, const int64_t*) { places[j] = place; });
    for (int64_t plane = image * s.channels; plane < (image + 1) * s.channels; ++plane)
      for (int64_t j = 0; j < count; ++j)
        run.get<T>(y)[plane * s.positions + first + j] = places[j] < 0 ? T(0) : run.get<const T>(x)[plane * s.plane + places[j]];
  };
  emit_grid_chunks(c, "grid_sample_nearest", s, kGridChunk * 8, body);
}

/// Integers are summed in double; what has a fraction loses it, and what is beyond the type's limits is the limit.
template <class T, class G>
void lower_integer_samples(LowerContext& c, const GridRules& rules, const GridShape& s) {
  const auto body = [=, x = c.in(0), grid = c.in(1), y = c.out()](const Run& run, int64_t image, int64_t first, int64_t count) {
    const G* at = run.get<const G>(grid) + (image * s.positions + first) * static_cast<int64_t>(s.axes);
    for (int64_t j = 0; j < count; ++j, at += s.axes) {
      const GridPosition<double> position(rules, s, at);
      for (int64_t plane = image * s.channels; plane < (image + 1) * s.channels; ++plane) {
        double sum = 0;
        position.for_each(s, [&](int64_t, int64_t place, const int64_t* along) {
          if (place >= 0) sum += position.weight(s, along) * static_cast<double>(run.get<const T>(x)[plane * s.plane + place]);
        });
        run.get<T>(y)[plane * s.positions + first + j] = round_saturated<T>(std::trunc(sum));
      }
    }
  };
  emit_grid_chunks(c, "grid_sample_integer", s, 0, body);
}

template <class G>
Status lower_grid_of(LowerContext& c, const GridRules& rules, const GridShape& s) {
  const DType type = c.in_type(0).dtype;
  if (type == DType::f32 && !std::is_same_v<G, double>)
    lower_real_samples<float, G>(c, rules, s);
  else if (type == DType::f64)
    lower_real_samples<double, G>(c, rules, s);
  else if (type == DType::f32)
    lower_real_samples<float, G>(c, rules, s);
  else if (rules.mode == GridMode::kNearest)
    switch (size_of(type)) {
      case 1:
        lower_nearest_samples<uint8_t, G>(c, rules, s);
        break;
      case 2:
        lower_nearest_samples<uint16_t, G>(c, rules, s);
        break;
      case 4:
        lower_nearest_samples<uint32_t, G>(c, rules, s);
        break;
      default:
        lower_nearest_samples<uint64_t, G>(c, rules, s);
    }
  else if (!kIntegerTypes.has(type))
    return error("X is {}, its kernels take float32, float64 and integers", to_string(DTypeSet{type}));
  else
    with_type(type, [&]<class T>() { lower_integer_samples<T, G>(c, rules, s); });
  return {};
}

Status lower_grid_sample(LowerContext& c) {
  if (element_count(c.out_dims()) == 0) return {};
  SV_ASSIGN(const GridRules rules, grid_rules(c.attributes()));
  const GridShape s = grid_shape(c.in_dims(0), c.in_dims(1));
  switch (c.in_type(1).dtype) {
    case DType::f32:
      return lower_grid_of<float>(c, rules, s);
    case DType::f64:
      return lower_grid_of<double>(c, rules, s);
    default:
      return error("grid is {}, its kernels take float32 and float64", to_string(DTypeSet{c.in_type(1).dtype}));
  }
}

Status grid_sample_gradient(GradientContext& c) {
  const bool both = c.wants(1);
  const Node* grad =
      c.builder().node(kInternalDomain, "GridSampleGrad", {c.dy(), c.input(0), c.input(1)}, both ? 2 : 1, c.attributes());
  if (!grad) return {};
  if (c.wants(0)) c.set(0, grad->output(0));
  if (both) c.set(1, grad->output(1));
  return {};
}

/// Weights of a linear sample: an operation for each element read.
Cost grid_sample_cost(const Node& node) {
  Cost cost;
  for (const Value* v : {node.input(0), node.input(1), node.output()}) cost.bytes += stored_bytes(v->type);
  const int64_t axes = std::max<int64_t>(node.input(0)->type.shape.rank() - 2, 1);
  const std::string mode = node.attributes.get_string("mode", "linear");
  cost.flops = stored_bytes(node.output()->type) / 4 * 2 * std::pow(mode == "nearest" ? 1 : mode == "linear" ? 2 : 4, axes);
  return cost;
}

}  // namespace

OpDef define_grid_sample() {
  return {
      .name = "GridSample",
      .since = 16,
      .inputs = "X, grid",
      .attributes = grid_attributes(),
      .canonicalize = canonicalize_grid_sample,
      .infer = infer_grid_sample,
      .lower = lower_grid_sample,
      .cost = grid_sample_cost,
      .gradient = grid_sample_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = R"((float32[2, 3, 5, 7] -20 to 20, float32[2, 4, 19, 2] -1.4 to 1.4) {mode = "linear", padding_mode = "zeros", )"
                 "align_corners = 0}"
                 R"((float32[1, 2, 5, 4] -20 to 20, float32[1, 3, 5, 2] -1.4 to 1.4) {mode = "cubic", padding_mode = "reflection", )"
                 "align_corners = 0}"
                 R"((float32[1, 2, 5, 4] -20 to 20, float32[1, 3, 5, 2] -1.4 to 1.4) {mode = "cubic", padding_mode = "border", )"
                 "align_corners = 1}"
                 R"((float32[1, 2, 3, 4, 5] -20 to 20, float32[1, 2, 3, 5, 3] -1.4 to 1.4) {mode = "linear", padding_mode = "reflection", )"
                 "align_corners = 1}"
                 R"((float32[1, 1, 1, 1] -20 to 20, float32[1, 1, 1, 2] -1.4 to 1.4) {mode = "nearest", padding_mode = "border", )"
                 "align_corners = 0}"
                 R"((float64[1, 2, 4, 4] -20 to 20, float64[1, 2, 3, 2] -1.4 to 1.4) {mode = "linear", padding_mode = "border", )"
                 "align_corners = 1}"
                 R"((int32[1, 2, 4, 4] -20 to 20, float32[1, 2, 3, 2] -1.4 to 1.4) {mode = "linear", padding_mode = "zeros", )"
                 "align_corners = 1}"
                 R"((uint8[1, 2, 4, 4] -20 to 20, float32[1, 2, 3, 2] -1.4 to 1.4) {mode = "nearest", padding_mode = "reflection", )"
                 "align_corners = 0}",
  };
}

}  // namespace svengine::ops
