// svengine.DenseChain: dense layers one after the other, made by fusion (graph/passes/fuse_dense_chain.cc).
//
//   x [rows, inputs], then weights and bias of every layer: weights [outputs, inputs], or [groups, outputs, inputs] where a layer's
//   inputs and outputs are divided into groups; bias [groups * outputs]
//
// Attributes have an element for every layer: what it ends in, and that activation's two numbers. A block of rows goes through all
// layers before the next does (kernels/gemm_chain.h).
#include <array>

#include "engine/kernels/gemm.h"
#include "engine/ops/fused_activation.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kMostChainLayers = 16;
constexpr DTypeSet kChainTypes{DType::f32, DType::f64};

size_t layer_count(const Node& node) { return (node.inputs().size() - 1) / 2; }

/// The activation of layer i as the one of a node that has it alone.
Attributes layer_activation(const Attributes& all, size_t i) {
  Attributes one;
  const auto* names = all.get<std::vector<std::string>>("activations");
  if (names && i < names->size()) one.set("activation", (*names)[i]);
  for (const char* number : {"activation_alpha", "activation_beta"}) {
    const auto* values = all.get<std::vector<float>>(std::string(number) + "s");
    if (values && i < values->size()) one.set(number, (*values)[i]);
  }
  return one;
}

struct ChainLayerShape {
  int64_t groups, outputs, inputs;
};

Result<ChainLayerShape> layer_shape(const Shape& weights) {
  if (!weights.is_static() || (weights.rank() != 2 && weights.rank() != 3))
    return error("weights of {}, need 2 or 3 known dimensions", to_string(weights));
  const Dims dims = *weights.concrete();
  const ChainLayerShape shape{dims.size() == 3 ? dims[0] : 1, dims[dims.size() - 2], dims.back()};
  if (shape.groups < 1 || shape.outputs < 1 || shape.inputs < 1) return error("weights of {} are empty", to_string(weights));
  return shape;
}

Status infer_dense_chain(InferContext& c) {
  const size_t layers = (c.input_count() - 1) / 2;
  if (c.input_count() % 2 == 0 || layers > kMostChainLayers) return error("need weights and a bias for 1 to {} layers", kMostChainLayers);
  for (size_t i = 0; i < c.input_count(); ++i) SV_TRY(require_dtype(c, i, kChainTypes));
  SV_TRY(require_rank(c, 0, 2));
  Dim width = c.shape(0).has_rank() ? c.shape(0)[1] : Dim();
  for (size_t l = 0; l < layers; ++l) {
    SV_TRY(check_activation(layer_activation(c.attributes(), l), c.dtype(0)));
    SV_ASSIGN(const ChainLayerShape shape, layer_shape(c.shape(1 + 2 * l)));
    if (known_different(width, Dim(shape.groups * shape.inputs)))
      return error("layer {} takes in {} values and gets {}", l, shape.groups * shape.inputs, width.value());
    width = Dim(shape.groups * shape.outputs);
    if (!(c.shape(2 + 2 * l) == Shape{width}))
      return error("bias {} of layer {} is not [{}]", to_string(c.shape(2 + 2 * l)), l, width.value());
  }
  c.set(0, c.dtype(0), Shape({c.shape(0).has_rank() ? c.shape(0)[0] : Dim(), width}));
  return {};
}

/// A layer but for its addresses.
struct PlannedLayer {
  ChainLayerShape shape;
  Buffer weights, bias;
  kernels::ActivationArgs activation;
};

/// The weights of layer l: operand A of a product of [outputs, inputs] matrices.
PlannedLayer plan_layer(LowerContext& c, size_t l) {
  const size_t at = 1 + 2 * l;
  PlannedLayer layer{*layer_shape(c.in_type(at).shape), {}, {}, activation_of(layer_activation(c.attributes(), l))};
  const auto [groups, outputs, inputs] = layer.shape;
  Product p;
  p.type = c.in_type(0).dtype;
  p.batch = {groups};
  p.m = outputs, p.n = 1, p.k = inputs;
  p.a = {{}, inputs, false, {groups > 1 ? outputs * inputs : 0}, c.constant(at) ? static_cast<int>(at) : -1};
  if (p.a.constant_input < 0) p.a.buffer = c.in(at);
  layer.weights = pack_as_a(c, p);
  layer.bias = c.in(at + 1);
  return layer;
}

template <class T>
void emit_dense_chain(LowerContext& c, const kernels::GemmKernelsOf<T>& gemm, const char* step) {
  std::vector<PlannedLayer> layers;
  for (size_t l = 0; l < layer_count(c.node()); ++l) layers.push_back(plan_layer(c, l));
  const auto bind = [layers](std::array<kernels::DenseLayerOf<T>, kMostChainLayers>& bound, const Run* run) {
    for (size_t l = 0; l < layers.size(); ++l) {
      const PlannedLayer& from = layers[l];
      bound[l] = {from.shape.groups, from.shape.inputs, from.shape.outputs, nullptr, nullptr, from.activation};
      if (run) bound[l].weights = run->get<const T>(from.weights), bound[l].bias = run->get<const T>(from.bias);
    }
  };
  std::array<kernels::DenseLayerOf<T>, kMostChainLayers> shapes;
  bind(shapes, nullptr);
  kernels::DenseChainArgsOf<T> args;
  args.rows = c.in_dims(0)[0];
  args.count = static_cast<int64_t>(layers.size());
  args.layers = shapes.data();
  const int64_t tasks = gemm.chain.tasks(args), scratch = gemm.chain.scratch_bytes(args);
  c.emit(step, tasks,
         [=, in = c.in(0), out = c.out(), run_chain = gemm.chain.run](const Run& run, int64_t begin, int64_t end) -> const char* {
           std::array<kernels::DenseLayerOf<T>, kMostChainLayers> bound;
           bind(bound, &run);
           kernels::DenseChainArgsOf<T> one = args;
           one.layers = bound.data();
           one.x = run.get<const T>(in), one.y = run.get<T>(out);
           run_chain(one, begin, end, run.scratch<void>());
           return nullptr;
         },
         scratch);
}

Status lower_dense_chain(LowerContext& c) {
  if (c.in_type(0).dtype == DType::f64) emit_dense_chain(c, *c.kernels().gemm_f64, "dense_chain_f64");
  else emit_dense_chain(c, *c.kernels().gemm, "dense_chain_f32");
  return {};
}

/// A multiply-add for every weight and row.
Cost dense_chain_cost(const Node& node) {
  Cost cost;
  const Shape& x = node.input(0)->type.shape;
  const double rows = x.has_rank() && x[0].is_static() ? static_cast<double>(x[0].value()) : 1;
  for (const Value* v : node.inputs())
    if (v) cost.bytes += stored_bytes(v->type);
  cost.bytes += stored_bytes(node.output()->type);
  for (size_t l = 0; l < layer_count(node); ++l)
    if (const Result<ChainLayerShape> shape = layer_shape(node.input(1 + 2 * l)->type.shape); shape.ok())
      cost.flops += 2.0 * rows * static_cast<double>(shape->groups * shape->outputs * shape->inputs);
  return cost;
}

}  // namespace

OpDef define_dense_chain() {
  return {
      .name = "DenseChain",
      .domain = kInternalDomain,
      .inputs = "x, weights, biases_and_weights...",
      .attributes = {{"activations", AttributeKind::kStrings, true},
                     {"activation_alphas", AttributeKind::kFloats, true},
                     {"activation_betas", AttributeKind::kFloats, true}},
      .infer = infer_dense_chain,
      .lower = lower_dense_chain,
      .types = {{"T", kChainTypes, {0, 1}}},
      .cost = dense_chain_cost,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[45, 19], float32[33, 19] -0.3 to 0.3, float32[33], float32[7, 33] -0.3 to 0.3, float32[7]) "
                 R"({activations = ["tanh", ""], activation_alphas = [0.0, 0.0], activation_betas = [0.0, 0.0]})"
                 R"((float64[37, 9], float64[15, 9], float64[15], float64[5, 2, 3], float64[10]) {activations = ["sigmoid", "leaky_relu"], )"
                 "activation_alphas = [0.0, 0.5], activation_betas = [0.0, 0.0]}",
  };
}

}  // namespace svengine::ops
