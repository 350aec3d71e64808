// Attention, and the layers of Vaswani et al. 2017 (arXiv 1706.03762) as PyTorch has them. The nodes are those of PyTorch's exporter,
// so that the pass `attention` recognises them.
#include <cmath>
#include <limits>

#include "engine/graph/layers/layer.h"

namespace svengine::layers {
namespace {

using Values = std::vector<Value*>;

Attributes permutation(std::vector<int64_t> perm) { return make_attributes({{"perm", std::move(perm)}}); }

/// x W^T + b for a W [outs, ins] that is a node's result, or a constant.
Value* project(Scope& scope, Value* x, Value* weight, Value* bias) {
  Value* product = scope.op("MatMul", {x, scope.op("Transpose", {weight}, permutation({1, 0}))});
  return bias ? scope.op("Add", {product, bias}) : product;
}

/// Query, key and value, each [batch, length, features], from one product where all are of the same x.
Values projections(Scope& scope, const Values& in, int64_t features, bool with_bias) {
  Value* weight = scope.parameter("in_proj_weight", {3 * features, features}, Initializer::xavier_uniform());
  Value* bias = with_bias ? scope.parameter("in_proj_bias", {3 * features}, Initializer::constant(0)) : nullptr;
  const std::vector<int64_t> sizes(3, features);
  if (in[0] == in[1] && in[1] == in[2]) return scope.split(project(scope, in[0], weight, bias), 2, sizes);
  const Values weights = scope.split(weight, 0, sizes);
  const Values biases = with_bias ? scope.split(bias, 0, sizes) : Values(3, nullptr);
  Values out;
  for (size_t i = 0; i < 3; ++i) out.push_back(project(scope, in[i], weights[i], biases[i]));
  return out;
}

/// [length, length]: 0 where a position may look, -infinity at what comes after it. Made by nodes, because a constant would be trained.
Value* causal_mask(Scope& scope, const Value* query, const Value* key) {
  const Shape &q = query->type.shape, &k = key->type.shape;
  if (q.rank() != 3 || k.rank() != 3 || !q[1].is_static() || !q[1].same(k[1])) {
    scope.fail(error("causal attention '{}' needs a query and a key of one fixed length; they are {} and {}", scope.prefix(),
                     to_string(query->type), to_string(key->type)));
    return nullptr;
  }
  const Tensor infinity = Tensor::of<float>({1}, {-std::numeric_limits<float>::infinity()});
  Value* all = scope.op("ConstantOfShape", {scope.builder().integers({q[1].value(), q[1].value()})}, make_attributes({{"value", infinity}}));
  return scope.op("Trilu", {all, scope.builder().constant(Tensor::scalar<int64_t>(1))}, make_attributes({{"upper", int64_t{1}}}));
}

Values attention(Scope scope, const Values& inputs, int64_t features, int64_t heads, const AttentionOptions& options) {
  if (heads < 1 || features % heads != 0) {
    scope.fail(error("attention '{}' cannot share {} features among {} heads", scope.prefix(), features, heads));
    return Values(1, nullptr);
  }
  const int64_t size = features / heads;
  const bool self = inputs.size() < 3;
  const Values from = self ? Values(3, inputs[0]) : Values(inputs.begin(), inputs.begin() + 3);
  Value* mask = inputs.size() % 2 == 0 ? inputs.back() : nullptr;
  Value* causal = options.causal ? causal_mask(scope, from[0], from[1]) : nullptr;
  Values parts = projections(scope, from, features, options.bias);
  Value* split = scope.builder().integers({0, 0, heads, size});  // 0: as it is
  for (Value*& p : parts) p = scope.op("Reshape", {p, split});
  Value* q = scope.op("Transpose", {parts[0]}, permutation({0, 2, 1, 3}));
  Value* k = scope.op("Transpose", {parts[1]}, permutation({0, 2, 3, 1}));
  Value* v = scope.op("Transpose", {parts[2]}, permutation({0, 2, 1, 3}));
  Value* scores = scope.op("Div", {scope.op("MatMul", {q, k}), scope.number(std::sqrt(static_cast<float>(size)))});
  for (Value* m : {mask, causal})
    if (m) scores = scope.op("Add", {scores, m});
  Value* shares = scope.op("Softmax", {scores}, make_attributes({{"axis", int64_t{-1}}}));
  shares = apply_one(dropout(options.dropout), scope, {shares});
  Value* mixed = scope.op("Transpose", {scope.op("MatMul", {shares, v})}, permutation({0, 2, 1, 3}));
  mixed = scope.op("Reshape", {mixed, scope.builder().integers({0, 0, features})});
  Scope out = scope.inside("out_proj");
  const double bound = 1 / std::sqrt(static_cast<double>(features));
  Value* weight = out.parameter("weight", {features, features}, Initializer::uniform(-bound, bound));
  return {project(out, mixed, weight, options.bias ? out.parameter("bias", {features}, Initializer::constant(0)) : nullptr)};
}

/// One of a transformer layer's blocks around its norm: norm(x + block(x)), or x + block(norm(x)).
Value* around(Scope& scope, const TransformerOptions& o, int64_t features, const std::string& norm, Value* x,
              const std::function<Value*(Value*)>& block) {
  const Layer normalise = layer_norm({features}, o.epsilon);
  Value* in = o.norm_first ? apply_one(normalise, scope.inside(norm), {x}) : x;
  Value* sum = scope.op("Add", {x, apply_one(dropout(o.dropout), scope, {block(in)})});
  return o.norm_first ? sum : apply_one(normalise, scope.inside(norm), {sum});
}

Value* feed_forward(Scope& scope, const TransformerOptions& o, int64_t features, Value* x) {
  Value* wide = apply_one(linear(features, o.feed_forward), scope.inside("linear1"), {x});
  wide = apply_one(dropout(o.dropout), scope, {apply_one(activation(o.activation), scope, {wide})});
  return apply_one(linear(o.feed_forward, features), scope.inside("linear2"), {wide});
}

}  // namespace

Layer multi_head_attention(int64_t features, int64_t heads, const AttentionOptions& options) {
  return {.kind = "MultiHeadAttention", .min_inputs = 1, .max_inputs = 4, .build = [=](const Scope& scope, const Values& in) {
            return attention(scope, in, features, heads, options);
          }};
}

Layer transformer_encoder_layer(int64_t features, int64_t heads, const TransformerOptions& o) {
  return {.kind = "TransformerEncoderLayer", .min_inputs = 1, .max_inputs = 2, .build = [=](Scope scope, const Values& in) {
            const Layer attend = multi_head_attention(features, heads, {.dropout = o.dropout, .causal = o.causal});
            Value* x = around(scope, o, features, "norm1", in[0], [&](Value* at) {
              Values from(in);
              from[0] = at;
              return apply_one(attend, scope.inside("self_attn"), from);
            });
            return Values{around(scope, o, features, "norm2", x, [&](Value* at) { return feed_forward(scope, o, features, at); })};
          }};
}

Layer transformer_decoder_layer(int64_t features, int64_t heads, const TransformerOptions& o) {
  return {.kind = "TransformerDecoderLayer", .min_inputs = 2, .max_inputs = 3, .build = [=](Scope scope, const Values& in) {
            const Layer self = multi_head_attention(features, heads, {.dropout = o.dropout, .causal = o.causal});
            const Layer cross = multi_head_attention(features, heads, {.dropout = o.dropout});
            Value* x = around(scope, o, features, "norm1", in[0], [&](Value* at) {
              Values from{at};
              if (in.size() == 3) from.push_back(in[2]);
              return apply_one(self, scope.inside("self_attn"), from);
            });
            x = around(scope, o, features, "norm2", x, [&](Value* at) {
              return apply_one(cross, scope.inside("multihead_attn"), {at, in[1], in[1]});
            });
            return Values{around(scope, o, features, "norm3", x, [&](Value* at) { return feed_forward(scope, o, features, at); })};
          }};
}

}  // namespace svengine::layers
