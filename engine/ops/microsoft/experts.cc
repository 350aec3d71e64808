// com.microsoft's MoE and QMoE: each token goes through the k experts, of as many as there are, that its router prefers, and gets the sum
// of what they give, weighted by the router's softmax.
//
//     expert e:  fc2[e] act(fc1[e] x + b1[e]) + b2[e]      with fc3: fc2[e] (act(fc1[e] x + ..) (fc3[e] x + ..)) + b2[e]
//
// Made of batched products: of all experts where there are many tokens, weighted with 0 where a token does not go, and of copies of the
// chosen experts' weights where there are few. QMoE's weights of 2, 4 or 8 bits are made floats first.
#include "engine/ops/microsoft/experts_common.h"

#include <algorithm>

namespace svengine::ops {
namespace {

struct ExpertInputs {
  size_t weights[3], biases[3];
};
constexpr ExpertInputs kPlainExperts{{2, 4, 6}, {3, 5, 7}}, kQuantizedExperts{{2, 5, 8}, {4, 7, 10}};
constexpr size_t kRouterWeights = 14;  // of QMoE

bool is_quantized(const Node& node) { return node.op().name == std::string_view("QMoE"); }
const ExpertInputs& inputs_of(const Node& node) { return is_quantized(node) ? kQuantizedExperts : kPlainExperts; }

bool is_gated(const Attributes& a) { return a.get_string("activation_type", "relu") == "swiglu"; }
/// Gate and value come from one product, one after the other or in turn.
bool is_fused_gate(const Attributes& a) { return is_gated(a) && a.get_int("swiglu_fusion", 0) != 0; }

Status check_expert_attributes(const Node& node) {
  const Attributes& a = node.attributes;
  const std::string activation = a.get_string("activation_type", "relu");
  constexpr std::string_view kKnown[] = {"relu", "gelu", "silu", "swiglu", "identity"};
  if (std::find(std::begin(kKnown), std::end(kKnown), activation) == std::end(kKnown))
    return error("activation_type is '{}', must be relu, gelu, silu, swiglu or identity", activation);
  if (a.get_int("k", 1) < 1) return error("k is {}, needs 1 or more", a.get_int("k", 1));
  if (a.get_int("swiglu_fusion", 0) < 0 || a.get_int("swiglu_fusion", 0) > 2)
    return error("swiglu_fusion is {}, must be 0 (fc1 and fc3), 1 (in turn) or 2 (one after the other)", a.get_int("swiglu_fusion", 0));
  for (const char* name : {"use_sparse_mixer", "swiglu_limit_after_activation"})
    if (a.get_int(name, 0) != 0) return unimplemented("{} is not supported", name);
  const bool has_third = node.input(inputs_of(node).weights[2]) != nullptr;
  if (is_gated(a) && has_third == is_fused_gate(a))
    return error("swiglu needs fc3, or one fused with fc1 (swiglu_fusion 1 or 2), and not both");
  return is_quantized(node) ? check_expert_bits(node) : Status{};
}

Status infer_experts(InferContext& c) {
  SV_TRY(check_expert_attributes(c.node()));
  const ExpertInputs& in = inputs_of(c.node());
  SV_TRY(require_dtype(c, 0, kSingleTypes));
  SV_TRY(require_dtype(c, 1, {c.dtype(0)}));
  SV_TRY(require_rank(c, 1, 2));
  for (size_t i = 0; i < 3; ++i) {
    SV_TRY(require_dtype(c, in.weights[i], {is_quantized(c.node()) ? DType::u8 : c.dtype(0)}));
    SV_TRY(require_rank(c, in.weights[i], 3));
    SV_TRY(require_dtype(c, in.biases[i], {c.dtype(0)}));
    SV_TRY(require_rank(c, in.biases[i], 2));
    if (!c.has_input(in.biases[i]) || !c.has_input(in.weights[i])) continue;
    const Shape &bias = c.shape(in.biases[i]), &weights = c.shape(in.weights[i]);
    for (size_t d = 0; d < 2 && bias.has_rank() && weights.has_rank(); ++d)
      if (known_different(bias[d], weights[d]))
        return error("{} {} does not fit {} {}", c.described(in.biases[i]), to_string(bias), c.described(in.weights[i]), to_string(weights));
  }
  const Shape& x = c.shape(0);
  if (x.has_rank() && x.rank() != 2 && x.rank() != 3) return error("input {} must be of rank 2 or 3", to_string(x));
  const Shape &router = c.shape(1), &first = c.shape(in.weights[0]), &second = c.shape(in.weights[1]);
  if (router.has_rank() && router[1].is_static() && router[1].value() < c.attributes().get_int("k", 1))
    return error("k is {}, but router_probs {} are of {} experts", c.attributes().get_int("k", 1), to_string(router), router[1].value());
  if (x.has_rank() && router.has_rank() && router[0].is_static()) {
    Dim tokens(1);
    for (size_t i = 0; i + 1 < x.dims().size(); ++i) tokens = multiply(tokens, x[i]);
    if (known_different(tokens, router[0]))
      return error("router_probs {} need one row for each of the {} tokens of input {}", to_string(router), tokens.value(), to_string(x));
  }
  if (is_quantized(c.node()) && c.has_input(kRouterWeights)) {
    SV_TRY(require_dtype(c, kRouterWeights, {c.dtype(0)}));
    SV_TRY(require_rank(c, kRouterWeights, 2));
    const Shape& given = c.shape(kRouterWeights);
    for (size_t d = 0; d < 2 && given.has_rank() && router.has_rank(); ++d)
      if (known_different(given[d], router[d]))
        return error("router_weights {} and router_probs {} differ", to_string(given), to_string(router));
  }
  for (const Shape* weights : {&first, &second})
    if (weights->has_rank() && router.has_rank() && known_different((*weights)[0], router[1]))
      return error("weights {} are not of the {} experts of router_probs", to_string(*weights), router[1].value());
  if (x.has_rank() && second.has_rank() && known_different(second[1], x.back()))
    return error("fc2_experts_weights {} must be [experts, hidden, inner], with input {}", to_string(second), to_string(x));
  if (!is_quantized(c.node()) && x.has_rank() && first.has_rank() && known_different(first[2], x.back()))
    return error("fc1_experts_weights {} must be [experts, inner, hidden], with input {}", to_string(first), to_string(x));
  c.set(0, c.type(0));
  return {};
}

/// Of all experts, or of those that were chosen: [n, outs, ins], and [n, outs] or null.
struct ExpertWeights {
  Value *weights[3] = {}, *biases[3] = {};
};

/// [n, m, outs] of x [1 or n, m, ins].
Value* expert_product(ExpandContext& c, Value* x, const ExpertWeights& e, size_t which) {
  Value* y = c.op("MatMul", {x, c.transpose(e.weights[which], {0, 2, 1})});
  return e.biases[which] ? c.op("Add", {y, c.unsqueeze(e.biases[which], {1})}) : y;
}

Value* swish(ExpandContext& c, Value* v, double alpha) {
  Value* scaled = alpha == 1 ? v : c.op("Mul", {v, c.number(alpha, v->type.dtype)});
  return c.op("Mul", {v, c.op("Sigmoid", {scaled})});
}

/// gate sigmoid(alpha gate) (value + beta), both limited before.
Value* gated(ExpandContext& c, Value* gate, Value* value) {
  const Attributes& a = c.attributes();
  if (!gate || !value) return nullptr;
  const DType type = gate->type.dtype;
  if (a.has("swiglu_limit")) {
    const auto limit = static_cast<double>(a.get_float("swiglu_limit", 0));
    gate = c.op("Min", {gate, c.number(limit, type)});
    value = c.op("Clip", {value, c.number(-limit, type), c.number(limit, type)});
  }
  Value* sum = c.op("Add", {value, c.number(static_cast<double>(a.get_float("activation_beta", 0)), type)});
  return c.op("Mul", {swish(c, gate, static_cast<double>(a.get_float("activation_alpha", 1))), sum});
}

Value* activated(ExpandContext& c, Value* h) {
  const std::string name = c.attributes().get_string("activation_type", "relu");
  if (name == "relu") return c.op("Relu", {h});
  if (name == "gelu") return c.op("Gelu", {h}, make_attributes({{"approximate", std::string("tanh")}}));
  return name == "silu" ? swish(c, h, 1) : h;
}

/// act(fc1 x), with its gate.
Value* inner_values(ExpandContext& c, Value* x, const ExpertWeights& e) {
  Value* h = expert_product(c, x, e, 0);
  if (!h) return nullptr;
  if (!is_gated(c.attributes())) {
    h = activated(c, h);
    return e.weights[2] ? c.op("Mul", {h, expert_product(c, x, e, 2)}) : h;
  }
  if (e.weights[2]) return gated(c, h, expert_product(c, x, e, 2));
  const int64_t width = e.weights[0]->type.shape[1].value() / 2;
  if (c.attributes().get_int("swiglu_fusion", 0) == 2) return gated(c, c.slice(h, 2, 0, width), c.slice(h, 2, width, 2 * width));
  Value* pairs = c.op("Reshape", {h, c.ints({0, 0, width, 2})});
  const auto part = [&](int64_t at) { return c.op("Squeeze", {c.slice(pairs, 3, at, at + 1), c.ints({3})}); };
  return gated(c, part(0), part(1));
}

Value* through_experts(ExpandContext& c, Value* x, const ExpertWeights& e) { return expert_product(c, inner_values(c, x, e), e, 1); }

/// The k experts of each token and their weights: [tokens, k] both.
struct Routes {
  Value *experts = nullptr, *weights = nullptr;
};

Routes routes_of(ExpandContext& c) {
  Value* probabilities = c.op("Softmax", {c.input(1)});
  const Node* top = c.builder().node("", "TopK", {probabilities, c.ints({c.attributes().get_int("k", 1)})}, 2);
  if (!top) return {};
  Routes r{top->output(1), top->output(0)};
  if (is_quantized(c.node()) && c.has_input(kRouterWeights))
    r.weights = c.op("GatherElements", {c.input(kRouterWeights), r.experts}, make_attributes({{"axis", int64_t{1}}}));
  if (c.attributes().get_int("normalize_routing_weights", 0) != 0)
    r.weights = c.op("Div", {r.weights, c.op("ReduceSum", {r.weights, c.ints({1})})});
  return r;
}

/// Every token through every expert.
Value* through_all(ExpandContext& c, Value* tokens, const Routes& routes, const ExpertWeights& e) {
  const DType type = c.dtype(0);
  Value* zeros = c.op("Expand", {c.number(0, type), c.op("Shape", {c.input(1)})});
  Value* shares = c.op("ScatterElements", {zeros, routes.experts, routes.weights}, make_attributes({{"axis", int64_t{1}}}));
  Value* y = through_experts(c, c.unsqueeze(tokens, {0}), e);
  Value* weighted = c.op("Mul", {y, c.unsqueeze(c.transpose(shares, {1, 0}), {2})});
  return c.op("ReduceSum", {weighted, c.ints({0})}, make_attributes({{"keepdims", int64_t{0}}}));
}

/// Every token through copies of its own experts.
Value* through_chosen(ExpandContext& c, Value* tokens, const Routes& routes, const ExpertWeights& e, int64_t count) {
  const int64_t k = c.attributes().get_int("k", 1), hidden = tokens->type.shape[1].value();
  Value* experts = c.reshape(routes.experts, {count * k});
  ExpertWeights chosen;
  for (size_t i = 0; i < 3; ++i) {
    if (e.weights[i]) chosen.weights[i] = c.op("Gather", {e.weights[i], experts});
    if (e.biases[i]) chosen.biases[i] = c.op("Gather", {e.biases[i], experts});
  }
  Value* repeated = c.op("Expand", {c.unsqueeze(tokens, {1}), c.ints({count, k, hidden})});
  Value* y = through_experts(c, c.reshape(repeated, {count * k, 1, hidden}), chosen);
  Value* weighted = c.op("Mul", {c.reshape(y, {count, k, hidden}), c.unsqueeze(routes.weights, {2})});
  return c.op("ReduceSum", {weighted, c.ints({1})}, make_attributes({{"keepdims", int64_t{0}}}));
}

Status expand_experts(ExpandContext& c) {
  const ExpertInputs& in = inputs_of(c.node());
  if (!c.shape(0).has_rank() || !c.dim(0, -1) || !c.dim(1, 1)) return {};
  ExpertWeights e;
  for (size_t i = 0; i < 3; ++i) {
    if (!c.has_input(in.weights[i])) continue;
    if (!c.shape(in.weights[i]).is_static()) return {};
    e.biases[i] = c.input(in.biases[i]);
    e.weights[i] = c.input(in.weights[i]);
    if (!is_quantized(c.node())) continue;
    SV_ASSIGN(e.weights[i], float_expert_weights(c, i));
    if (!e.weights[i]) return {};
  }
  const int64_t hidden = *c.dim(0, -1);
  Value* tokens = c.shape(0).rank() == 2 ? c.input(0) : c.op("Reshape", {c.input(0), c.ints({-1, hidden})});
  const Routes routes = routes_of(c);
  if (!tokens || !routes.weights) return {};
  const std::optional<int64_t> count = c.dim(1, 0);
  const bool few = count && 2 * *count * c.attributes().get_int("k", 1) <= *c.dim(1, 1);
  Value* y = few ? through_chosen(c, tokens, routes, e, *count) : through_all(c, tokens, routes, e);
  c.set(0, c.shape(0).rank() == 2 ? y : c.reshape_like(y, c.input(0)));
  return {};
}

OpDef experts_op(const char* name, OpInputs inputs) {
  return {
      .name = name,
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = inputs,
      .attributes = {{"k", AttributeKind::kInt, false, 1},
                     {"activation_type", AttributeKind::kString, false, "relu"},
                     {"normalize_routing_weights", AttributeKind::kInt, false, 0},
                     {"use_sparse_mixer", AttributeKind::kInt, false, 0},
                     {"activation_alpha", AttributeKind::kFloat, false, 1.0f},
                     {"activation_beta", AttributeKind::kFloat, false, 0.0f},
                     {"swiglu_fusion", AttributeKind::kInt, false, 0},
                     {"swiglu_limit", AttributeKind::kFloat},
                     {"swiglu_limit_after_activation", AttributeKind::kInt, false, 0}},
      .expand = expand_experts,
      .infer = infer_experts,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
  };
}

}  // namespace

OpDef define_moe() {
  OpDef op = experts_op("MoE",
                        "input, router_probs, fc1_experts_weights, fc1_experts_bias?, fc2_experts_weights, fc2_experts_bias?, fc3_experts_weights?, "
                        "fc3_experts_bias?");
  op.samples = "(float32[5, 6], float32[5, 4], float32[4, 7, 6], float32[4, 7], float32[4, 6, 7], float32[4, 6]) {k = 2, "
               R"(activation_type = "gelu"})"
               "(float32[1, 2, 6], float32[2, 9], float32[9, 8, 6], float32[9, 8], float32[9, 6, 4], float32[9, 6]) {k = 2, "
               R"(activation_type = "swiglu", swiglu_fusion = 1, normalize_routing_weights = 1, swiglu_limit = 1.5, activation_alpha = 1.7, )"
               "activation_beta = 1.0}"
               "(float32[2, 3, 5], float32[6, 3], float32[3, 4, 5], float32[3, 4], float32[3, 5, 4], float32[3, 5], float32[3, 4, 5], "
               R"(float32[3, 4]) {k = 2, activation_type = "silu"})"
               "(float32[1, 1], float32[1, 1], float32[1, 1, 1], float32[1, 1], float32[1, 1, 1])";
  return op;
}

OpDef define_q_moe() {
  OpDef op = experts_op("QMoE",
                        "input, router_probs, fc1_experts_weights, fc1_scales?, fc1_experts_bias?, fc2_experts_weights, fc2_scales?, "
                        "fc2_experts_bias?, fc3_experts_weights?, fc3_scales?, fc3_experts_bias?, fc1_zero_points?, fc2_zero_points?, "
                        "fc3_zero_points?, router_weights?, fc1_global_scale?, fc2_global_scale?, fc1_act_scale?, fc2_act_scale?, "
                        "fc1_act_block_scale?, fc2_act_block_scale?");
  for (const char* name : {"fc1_expert_weight_bits", "fc2_expert_weight_bits", "fc3_expert_weight_bits", "block_size"})
    op.attributes.push_back({name, AttributeKind::kInt});
  op.attributes.push_back({"expert_weight_bits", AttributeKind::kInt, false, 4});
  op.attributes.push_back({"weights_prepacked", AttributeKind::kInt, false, -1});
  op.attributes.push_back({"accuracy_level", AttributeKind::kInt, false, 0});
  op.attributes.push_back({"quant_type", AttributeKind::kString, false, "int"});
  op.samples = "(float32[3, 8], float32[3, 4], uint8[4, 6, 4] 0 to 256, float32[4, 6] 0.01 to 0.1, float32[4, 6], uint8[4, 8, 3] 0 to 256, "
               R"(float32[4, 8] 0.01 to 0.1) {k = 2, activation_type = "silu"})"
               "(float32[1, 1, 4], float32[1, 2], uint8[2, 4, 4] 0 to 256, float32[2, 4, 2] 0.01 to 0.1, float32[2, 4], "
               R"(uint8[2, 4, 2] 0 to 256, float32[2, 4, 1] 0.01 to 0.1, float32[2, 4]) {activation_type = "swiglu", swiglu_fusion = 2, )"
               "expert_weight_bits = 8, block_size = 2}";
  return op;
}

}  // namespace svengine::ops
