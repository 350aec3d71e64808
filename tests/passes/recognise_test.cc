// Passes that recognise arithmetic as one operator: layer_norm, gelu, attention.
#include <cmath>

#include "tests/passes/pass_test_util.h"

namespace recognise_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

Attributes perm(std::vector<int64_t> order) { return make_attributes({{"perm", std::move(order)}}); }

Value* normed(Builder& b, Value* x, bool pow, bool bias, int64_t axis = -1, int64_t keep = 1) {
  const auto mean = [&](Value* v) { return b.add("ReduceMean", {v, b.integers({axis})}, make_attributes({{"keepdims", keep}})); };
  Value* d = b.add("Sub", {x, mean(x)});
  Value* squared = pow ? b.add("Pow", {d, scalar(b, 2.0f)}) : b.add("Mul", {d, d});
  Value* root = b.add("Sqrt", {b.add("Add", {mean(squared), scalar(b, 1e-3f)})});
  Value* y = b.add("Mul", {b.add("Div", {d, root}), b.constant(random_tensor({24}, 5))});
  return bias ? b.add("Add", {b.constant(random_tensor({24}, 6)), y}) : y;
}

}  // namespace

TEST_CASE("layer normalisation is recognised") {
  const std::vector<Tensor> x = {random_tensor({3, 24}, 1)};
  for (bool pow : {true, false})
    for (bool bias : {true, false}) {
      const Graph after = check_pass([&](Builder& b) { b.output(normed(b, b.input("x", DType::f32, {3, 24}), pow, bias), "y"); }, "layer_norm", x);
      CHECK(ops_of(after) == "LayerNormalization");
      const Node& norm = node_of(after, "LayerNormalization");
      CHECK(norm.inputs().size() == (bias ? 3 : 2));
      CHECK(norm.attributes.get_float("epsilon") == 1e-3f);
    }
}

TEST_CASE("what is not quite layer normalisation is left alone") {
  const auto other_axis = [](Builder& b) { b.output(normed(b, b.input("x", DType::f32, {24, 24}), true, true, 0), "y"); };
  CHECK(ops_of(check_pass(other_axis, "layer_norm", {random_tensor({24, 24}, 1)})).find("LayerNormalization") == std::string::npos);
  for (const int64_t keep : {0, -1}) {  // only 1 keeps the dimension
    const auto dropped = [&](Builder& b) { b.output(normed(b, b.input("x", DType::f32, {24, 24}), true, true, -1, keep), "y"); };
    CHECK(ops_of(check_pass(dropped, "layer_norm", {random_tensor({24, 24}, 1)})).find("LayerNormalization") == std::string::npos);
  }
  const auto seen_inside = [](Builder& b) {
    normed(b, b.input("x", DType::f32, {3, 24}), true, true);
    b.output(node_of(b.graph(), "Div").output(), "inside");
    b.output(b.graph().nodes().back()->output(), "y");
  };
  CHECK(ops_of(check_pass(seen_inside, "layer_norm", {random_tensor({3, 24}, 1)})).find("LayerNormalization") == std::string::npos);
}

TEST_CASE("a dead layer normalisation beside a living one is no trouble") {
  const Graph after = check_pass(
      [](Builder& b) {
        Value* x = b.input("x", DType::f32, {3, 24});
        b.output(normed(b, x, true, true), "y");
        normed(b, x, false, true);
      },
      "layer_norm", {random_tensor({3, 24}, 1)});
  CHECK(ops_of(after) == "LayerNormalization");
}

TEST_CASE("GELU is recognised in all orders of multiplication") {
  const std::vector<Tensor> x = {random_tensor({3, 24}, 1, -4, 4)};
  for (int order = 0; order < 3; ++order)
    for (bool div : {true, false}) {
      const auto describe = [&](Builder& b) {
        Value* v = b.add("Neg", {b.input("x", DType::f32, {3, 24})});
        Value* scaled = div ? b.add("Div", {v, scalar(b, std::sqrt(2.0f))}) : b.add("Mul", {scalar(b, std::sqrt(0.5f)), v});
        Value* erf = b.add("Add", {b.add("Erf", {scaled}), scalar(b, 1.0f)});
        if (order == 0) b.output(b.add("Mul", {b.add("Mul", {v, erf}), scalar(b, 0.5f)}), "y");
        if (order == 1) b.output(b.add("Mul", {v, b.add("Mul", {erf, scalar(b, 0.5f)})}), "y");
        if (order == 2) b.output(b.add("Mul", {b.add("Mul", {scalar(b, 0.5f), v}), erf}), "y");
      };
      INFO("order " << order << ", div " << div);
      CHECK(ops_of(check_pass(describe, "gelu", x)) == "Neg Gelu");
    }
}

namespace {

constexpr float kGeluSlope = 0.7978845608f, kGeluCube = 0.044715f;

/// What GELU's approximation takes Tanh of, as exporters and authors write it.
Value* gelu_polynomial(Builder& b, Value* x, int form, float slope = kGeluSlope, float cube = kGeluCube) {
  const auto mul = [&b](Value* l, Value* r) { return b.add("Mul", {l, r}); };
  if (form == 3)  // sqrt(2 / pi) x (1 + 0.044715 x x)
    return mul(mul(x, scalar(b, slope)), b.add("Add", {mul(mul(x, scalar(b, cube)), x), scalar(b, 1.0f)}));
  Value* cubed = form == 0 ? b.add("Pow", {x, scalar(b, 3.0f)}) : form == 1 ? mul(x, mul(x, x)) : mul(mul(x, x), x);
  return mul(b.add("Add", {x, mul(cubed, scalar(b, cube))}), scalar(b, slope));
}

Describe gelu_by_tanh(int form, int order, float slope = kGeluSlope, float cube = kGeluCube) {
  return [=](Builder& b) {
    Value* x = b.add("Add", {b.input("x", DType::f32, {3, 24}), b.constant(random_tensor({24}, 7))});
    Value* gate = b.add("Add", {b.add("Tanh", {gelu_polynomial(b, x, form, slope, cube)}), scalar(b, 1.0f)});
    if (order == 0) b.output(b.add("Mul", {b.add("Mul", {x, gate}), scalar(b, 0.5f)}), "y");
    if (order == 1) b.output(b.add("Mul", {x, b.add("Mul", {gate, scalar(b, 0.5f)})}), "y");
    if (order == 2) b.output(b.add("Mul", {b.add("Mul", {scalar(b, 0.5f), x}), gate}), "y");
  };
}

}  // namespace

TEST_CASE("GELU by Tanh is recognised however its polynomial is written") {
  const std::vector<Tensor> x = {random_tensor({3, 24}, 1, -4, 4)};
  for (int form = 0; form < 4; ++form)
    for (int order = 0; order < 3; ++order) {
      INFO("form " << form << ", order " << order);
      const Graph after = check_pass(gelu_by_tanh(form, order), "gelu", x);
      CHECK(ops_of(after) == "Add Gelu");
      CHECK(node_of(after, "Gelu").attributes.get_string("approximate") == "tanh");
    }
}

TEST_CASE("Tanh of another polynomial is no GELU") {
  const std::vector<Tensor> x = {random_tensor({3, 24}, 1, -4, 4)};
  const std::string whole = "Add Pow Mul Add Mul Tanh Add Mul Mul";
  CHECK(ops_of(check_pass(gelu_by_tanh(0, 0, 0.7979f), "gelu", x)) == whole);
  CHECK(ops_of(check_pass(gelu_by_tanh(0, 0, kGeluSlope, 0.0447f), "gelu", x)) == whole);
  const auto of_another = [](Builder& b) {
    Value *v = b.input("x", DType::f32, {3, 24}), *w = b.add("Neg", {v});
    Value* gate = b.add("Add", {b.add("Tanh", {gelu_polynomial(b, w, 0)}), scalar(b, 1.0f)});
    b.output(b.add("Mul", {b.add("Mul", {v, gate}), scalar(b, 0.5f)}), "y");
  };
  CHECK(ops_of(check_pass(of_another, "gelu", x)) == "Neg Pow Mul Add Mul Tanh Add Mul Mul");
}

TEST_CASE("SiLU and hard swish are recognised") {
  const std::vector<Tensor> x = {random_tensor({3, 24}, 1, -5, 5)};
  const auto silu = [](Builder& b) {
    Value* v = b.input("x", DType::f32, {3, 24});
    b.output(b.add("Mul", {b.add("Sigmoid", {v}), v}), "y");
  };
  CHECK(ops_of(check_pass(silu, "gelu", x)) == "Silu");
  const auto gate = [](Builder& b, Value* v) {
    return b.add("Clip", {b.add("Add", {v, scalar(b, 3.0f)}), scalar(b, 0.0f), scalar(b, 6.0f)});
  };
  const auto by_clip = [&](Builder& b) {
    Value* v = b.input("x", DType::f32, {3, 24});
    b.output(b.add("Div", {b.add("Mul", {v, gate(b, v)}), scalar(b, 6.0f)}), "y");
  };
  CHECK(ops_of(check_pass(by_clip, "gelu", x)) == "HardSwish");
  const auto gate_first = [&](Builder& b) {
    Value* v = b.input("x", DType::f32, {3, 24});
    b.output(b.add("Mul", {v, b.add("Div", {gate(b, v), scalar(b, 6.0f)})}), "y");
  };
  CHECK(ops_of(check_pass(gate_first, "gelu", x)) == "HardSwish");
  const auto by_hard_sigmoid = [](float alpha) {
    return [alpha](Builder& b) {
      Value* v = b.input("x", DType::f32, {3, 24});
      b.output(b.add("Mul", {v, b.add("HardSigmoid", {v}, make_attributes({{"alpha", alpha}, {"beta", 0.5f}}))}), "y");
    };
  };
  CHECK(ops_of(check_pass(by_hard_sigmoid(1.0f / 6), "gelu", x)) == "HardSwish");
  CHECK(ops_of(check_pass(by_hard_sigmoid(0.2f), "gelu", x)) == "HardSigmoid Mul");
}

TEST_CASE("products that only look like GELU or SiLU stay") {
  const auto describe = [](Builder& b) {
    Value *v = b.input("x", DType::f32, {3, 24}), *w = b.input("w", DType::f32, {3, 24});
    Value* erf = b.add("Add", {b.add("Erf", {b.add("Div", {w, scalar(b, std::sqrt(2.0f))})}), scalar(b, 1.0f)});
    b.output(b.add("Mul", {b.add("Mul", {v, erf}), scalar(b, 0.5f)}), "y");  // another factor than Erf's argument
    b.output(b.add("Mul", {v, b.add("Sigmoid", {w})}), "z");
  };
  CHECK(ops_of(check_pass(describe, "gelu", {random_tensor({3, 24}, 1), random_tensor({3, 24}, 2)})) == "Div Erf Add Mul Mul Sigmoid Mul");
}

namespace {

/// One head layer: q, k and v are [2, 5, 3, 8] before their Transpose.
struct AttentionForm {
  bool mask = false, mask_first = false, scale_on_q = false, scores_are_output = false;
};

Describe attention(AttentionForm form) {
  return [form](Builder& b) {
    Value *q = b.input("q", DType::f32, {2, 5, 3, 8}), *k = b.input("k", DType::f32, {2, 7, 3, 8}), *v = b.input("v", DType::f32, {2, 7, 3, 8});
    q = b.add("Transpose", {q}, perm({0, 2, 1, 3}));
    k = b.add("Transpose", {k}, perm({0, 2, 3, 1}));
    if (form.scale_on_q) {
      q = b.add("Mul", {q, scalar(b, 0.5f)});
      k = b.add("Mul", {k, scalar(b, 0.7f)});
    }
    Value* scores = b.add("MatMul", {q, k});
    if (form.scores_are_output) b.output(scores, "scores");
    if (!form.scale_on_q) scores = b.add("Div", {scores, scalar(b, std::sqrt(8.0f))});
    if (form.mask) {  // as BERT makes it: (1 - mask) * -10000, the last key of the second sequence being padding
      Value* keep = b.input("mask", DType::f32, {2, 1, 1, 7});
      Value* penalty = b.add("Mul", {b.add("Sub", {scalar(b, 1.0f), keep}), scalar(b, -10000.0f)});
      scores = form.mask_first ? b.add("Add", {penalty, scores}) : b.add("Add", {scores, penalty});
    }
    Value* weights = b.add("Softmax", {scores}, make_attributes({{"axis", int64_t{-1}}}));
    Value* out = b.add("MatMul", {weights, b.add("Transpose", {v}, perm({0, 2, 1, 3}))});
    b.output(b.add("Transpose", {out}, perm({0, 2, 1, 3})), "y");
  };
}

std::vector<Tensor> qkv(bool mask) {
  std::vector<Tensor> all = {random_tensor({2, 5, 3, 8}, 1), random_tensor({2, 7, 3, 8}, 2), random_tensor({2, 7, 3, 8}, 3)};
  if (mask) all.push_back(Tensor::of<float>({2, 1, 1, 7}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0}));
  return all;
}

}  // namespace

TEST_CASE("BERT's attention is recognised, with its mask and its transpositions") {
  for (bool mask_first : {false, true}) {
    const Graph after = check_pass(attention({.mask = true, .mask_first = mask_first}), "attention", qkv(true));
    INFO("mask first " << mask_first);
    CHECK(ops_of(after) == "Sub Mul Attention");
    const Node& node = node_of(after, "Attention");
    CHECK(node.inputs().size() == 4);
    CHECK(node.attributes.get_float("scale") == Approx(1 / std::sqrt(8.0)));
    for (const char* layout : {"q_layout", "k_layout", "v_layout", "out_layout"}) CHECK(node.attributes.get_string(layout) == "bshd");
  }
}

TEST_CASE("scales on q and k move to the scores") {
  const Graph after = check_pass(attention({.scale_on_q = true}), "attention", qkv(false));
  CHECK(ops_of(after) == "Attention");
  CHECK(node_of(after, "Attention").attributes.get_float("scale") == Approx(0.35));
}

TEST_CASE("attention is not recognised when its scores are seen outside") {
  const Graph after = check_pass(attention({.scores_are_output = true}), "attention", qkv(false));
  CHECK(ops_of(after).find("Attention") == std::string::npos);
}

TEST_CASE("q, k and v may be graph inputs, k transposed already") {
  const auto describe = [](Builder& b) {
    Value *q = b.input("q", DType::f32, {2, 3, 5, 8}), *k = b.input("k", DType::f32, {2, 3, 8, 7}), *v = b.input("v", DType::f32, {2, 3, 7, 8});
    b.output(b.add("MatMul", {b.add("Softmax", {b.add("MatMul", {q, k})}), v}), "y");
  };
  const Graph after =
      check_pass(describe, "attention", {random_tensor({2, 3, 5, 8}, 1), random_tensor({2, 3, 8, 7}, 2), random_tensor({2, 3, 7, 8}, 3)});
  CHECK(ops_of(after) == "Attention");
  CHECK(node_of(after, "Attention").attributes.get_string("k_layout") == "bhds");
  CHECK(node_of(after, "Attention").attributes.get_string("out_layout") == "bhsd");
}

TEST_CASE("attention whose keys broadcast over heads stays as it is") {
  const auto describe = [](Builder& b) {
    Value *q = b.input("q", DType::f32, {2, 3, 5, 8}), *k = b.input("k", DType::f32, {2, 1, 8, 7}), *v = b.input("v", DType::f32, {2, 1, 7, 8});
    b.output(b.add("MatMul", {b.add("Softmax", {b.add("MatMul", {q, k})}), v}), "y");
  };
  const Graph after =
      check_pass(describe, "attention", {random_tensor({2, 3, 5, 8}, 1), random_tensor({2, 1, 8, 7}, 2), random_tensor({2, 1, 7, 8}, 3)});
  CHECK(ops_of(after) == "MatMul Softmax MatMul");
}

TEST_CASE("scalars of a higher rank, which add dimensions, are not folded into attention") {
  // q is [2, 5, 8] until [1, 1, 1, 1] makes it [1, 2, 5, 8]; and scores that [1, 1, 1, 1, 1] makes rank 5.
  const auto on_q = [](Builder& b) {
    Value *q = b.input("q", DType::f32, {2, 5, 8}), *k = b.input("k", DType::f32, {1, 2, 8, 7}), *v = b.input("v", DType::f32, {1, 2, 7, 8});
    q = b.add("Mul", {q, b.constant(Tensor::of<float>({1, 1, 1, 1}, {0.5f}))});
    b.output(b.add("MatMul", {b.add("Softmax", {b.add("MatMul", {q, k})}), v}), "y");
  };
  const Graph after = check_pass(on_q, "attention", {random_tensor({2, 5, 8}, 1), random_tensor({1, 2, 8, 7}, 2), random_tensor({1, 2, 7, 8}, 3)});
  CHECK(node_of(after, "Attention").attributes.get_float("scale") == 1.0f);
  for (int rank : {4, 5}) {
    const auto on_scores = [rank](Builder& b) {
      Value *q = b.input("q", DType::f32, {1, 2, 5, 8}), *k = b.input("k", DType::f32, {1, 2, 8, 7}), *v = b.input("v", DType::f32, {1, 2, 7, 8});
      Value* scale = b.constant(Tensor::of<float>(Dims(static_cast<size_t>(rank), 1), {2.5f}));
      Value* scores = b.add("Div", {b.add("MatMul", {q, k}), scale});
      b.output(b.add("MatMul", {b.add("Softmax", {scores}), v}), "y");
    };
    INFO("rank " << rank);
    const std::vector<Tensor> inputs = {random_tensor({1, 2, 5, 8}, 1), random_tensor({1, 2, 8, 7}, 2), random_tensor({1, 2, 7, 8}, 3)};
    CHECK(ops_of(check_pass(on_scores, "attention", inputs)) == (rank == 4 ? "Attention" : "MatMul Div Softmax MatMul"));
  }
}

TEST_CASE("attention whose mask enlarges the batch stays as it is") {
  const auto describe = [](Builder& b) {
    Value *q = b.input("q", DType::f32, {1, 2, 5, 8}), *k = b.input("k", DType::f32, {1, 2, 8, 7}), *v = b.input("v", DType::f32, {1, 2, 7, 8});
    Value* scores = b.add("Add", {b.add("MatMul", {q, k}), b.input("mask", DType::f32, {3, 1, 1, 7})});
    b.output(b.add("MatMul", {b.add("Softmax", {scores}), v}), "y");
  };
  const Graph after = check_pass(describe, "attention", {random_tensor({1, 2, 5, 8}, 1), random_tensor({1, 2, 8, 7}, 2),
                                                         random_tensor({1, 2, 7, 8}, 3), random_tensor({3, 1, 1, 7}, 4)});
  CHECK(ops_of(after) == "MatMul Add Softmax MatMul");
}

TEST_CASE("GELU and layer normalisation made of scalars that add dimensions stay as they are") {
  const auto one = [](Builder& b, float value) { return b.constant(Tensor::of<float>({1, 1, 1}, {value})); };
  const auto gelu = [&](Builder& b) {
    Value* x = b.input("x", DType::f32, {3, 24});
    Value* erf = b.add("Add", {b.add("Erf", {b.add("Div", {x, scalar(b, std::sqrt(2.0f))})}), scalar(b, 1.0f)});
    b.output(b.add("Mul", {b.add("Mul", {x, erf}), one(b, 0.5f)}), "y");
  };
  CHECK(ops_of(check_pass(gelu, "gelu", {random_tensor({3, 24}, 1)})) == "Div Erf Add Mul Mul");
  const auto norm = [&](Builder& b) {
    Value *x = b.input("x", DType::f32, {3, 24}), *axis = b.integers({1});
    Value* d = b.add("Sub", {x, b.add("ReduceMean", {x, axis})});
    Value* variance = b.add("ReduceMean", {b.add("Mul", {d, d}), axis});
    Value* y = b.add("Div", {d, b.add("Sqrt", {b.add("Add", {variance, one(b, 1e-3f)})})});
    b.output(b.add("Mul", {y, b.constant(random_tensor({24}, 5))}), "y");
  };
  CHECK(ops_of(check_pass(norm, "layer_norm", {random_tensor({3, 24}, 1)})).find("LayerNormalization") == std::string::npos);
}
}  // namespace recognise_test
