// Passes that take nodes away: identities, fold, common, dead.
#include "engine/graph/text.h"
#include "tests/passes/pass_test_util.h"

namespace simplify_test {
using namespace svengine;
using namespace svengine::tests;

TEST_CASE("identities go, and outputs keep their names") {
  const Graph after = check_pass(
      [](Builder& b) {
        Value* x = b.input("x", DType::f32, {2, 3});
        Value* kept = b.add("Identity", {x});
        Value* same = b.add("Reshape", {b.add("Dropout", {b.add("Relu", {kept})}), b.integers({2, 3})});
        Value* padded = b.add("Pad", {same, b.integers({0, 0, 0, 0})});
        Value* cast = b.add("Cast", {padded}, make_attributes({{"to", int64_t{1}}}));
        b.output(b.add("Transpose", {cast}, make_attributes({{"perm", std::vector<int64_t>{0, 1}}})), "y");
      },
      "identities", {random_tensor({2, 3}, 1)});
  CHECK(ops_of(after) == "Relu");
  CHECK(node_of(after, "Relu").output()->name() == "y");
}

TEST_CASE("an output that is an input, or another output, keeps its Identity") {
  const Graph after = check_pass(
      [](Builder& b) {
        Value* x = b.input("x", DType::f32, {2, 3});
        b.output(b.add("Identity", {x}), "copy");
        Value* y = b.add("Relu", {x});
        b.output(y, "y");
        b.output(b.add("Identity", {y}), "again");
      },
      "identities", {random_tensor({2, 3}, 1)});
  CHECK(ops_of(after) == "Identity Relu Identity");
}

TEST_CASE("what is no identity stays") {
  const auto dropout = [](bool training, bool mask, float ratio = 0.5f) {
    return [=](Builder& b) {
      Value* x = b.input("x", DType::f32, {2, 30});
      Value* mode = b.constant(Tensor::scalar<bool>(training));
      Node* node = b.node("", "Dropout", {x, scalar(b, ratio), mode}, 2);
      REQUIRE(node);
      b.output(b.add("Relu", {node->output(0)}), "y");
      if (mask) b.output(node->output(1), "mask");
    };
  };
  const std::vector<Tensor> x = {random_tensor({2, 30}, 1)};
  CHECK(ops_of(check_pass(dropout(true, false), "identities", x)) == "Dropout Relu");
  CHECK(ops_of(check_pass(dropout(true, true), "identities", x)) == "Dropout Relu");
  CHECK(ops_of(check_pass(dropout(false, true), "identities", x)) == "Dropout Relu");
  CHECK(ops_of(check_pass(dropout(false, false), "identities", x)) == "Relu");
  CHECK(ops_of(check_pass(dropout(true, false, 0), "identities", x)) == "Relu");
  const auto others = [](Builder& b) {
    Value* turned = b.add("Transpose", {b.input("x", DType::f32, {4, 4})});  // no perm: reversed
    b.output(b.add("Cast", {b.add("Cast", {turned}, make_attributes({{"to", int64_t{6}}}))}, make_attributes({{"to", int64_t{1}}})), "y");
  };
  CHECK(ops_of(check_pass(others, "identities", {random_tensor({4, 4}, 1, -5, 5)})) == "Transpose Cast Cast");
  const auto pad = [](Builder& b) { b.output(b.add("Pad", {b.input("x", DType::f32, {2, 2}), b.integers({0, 0, 0, 1})}), "y"); };
  CHECK(ops_of(check_pass(pad, "identities", {random_tensor({2, 2}, 1)})) == "Pad");
}

TEST_CASE("shape arithmetic folds to one constant") {
  const auto describe = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {2, 3, 4});
    Value* shape = b.add("Shape", {x});
    Value* rows = b.add("Gather", {shape, b.integers({0})});
    Value* rest = b.add("ReduceProd", {b.add("Shape", {x}, make_attributes({{"start", int64_t{-2}}})), b.integers({0})});
    b.output(b.add("Reshape", {b.add("Relu", {x}), b.add("Concat", {rows, rest}, make_attributes({{"axis", int64_t{0}}}))}), "y");
  };
  Graph after = check_pass(describe, "fold", {random_tensor({2, 3, 4}, 1)});
  CHECK(ops_of(after) == "Relu Reshape");
  CHECK(node_of(after, "Reshape").input(1)->constant().as_int64s() == std::vector<int64_t>{2, 12});
  // What folding left over is swept by the pass for dead things.
  run_pass(after, "dead");
  size_t constants = 0;
  after.for_each_value([&](Value& v) { constants += v.is_constant(); });
  CHECK(constants == 1);
}

TEST_CASE("folding keeps the name of an output that became constant") {
  const Graph after = check_pass([](Builder& b) { b.output(b.add("Size", {b.input("x", DType::f32, {2, 3, 4})}), "count"); }, "fold",
                                 {random_tensor({2, 3, 4}, 1)});
  CHECK(after.nodes().empty());
  CHECK(after.outputs()[0]->constant().as_int64s() == std::vector<int64_t>{24});
}

TEST_CASE("folding refuses to make a large constant from a small one") {
  const auto describe = [](Builder& b) { b.output(b.add("ConstantOfShape", {b.integers({1 << 14, 1 << 14})}), "gigabyte"); };
  Graph large = build(describe);
  run_pass(large, "fold");
  CHECK(ops_of(large) == "ConstantOfShape");
  PassContext tight = context();
  tight.fold_limit_bytes = 64;
  const auto small = [](int64_t n, int64_t m) {
    return [=](Builder& b) {
      Value* c = b.constant(random_tensor({n}, 1));
      b.output(b.add("Tile", {c, b.integers({m})}), "y");
    };
  };
  Graph at_limit = build(small(8, 2)), above = build(small(8, 4)), no_growth = build(small(40, 1));
  run_pass(at_limit, "fold", tight);
  run_pass(above, "fold", tight);
  run_pass(no_growth, "fold", tight);  // above the limit, but its input was as large
  CHECK(ops_of(at_limit).empty());
  CHECK(ops_of(above) == "Tile");
  CHECK(ops_of(no_growth).empty());
}

TEST_CASE("folding looks at values that were not known when types were inferred") {
  const auto describe = [](Builder& b) {
    Value* index = b.add("Add", {b.constant(Tensor::scalar<int64_t>(4)), b.constant(Tensor::scalar<int64_t>(3))});
    b.output(b.add("Gather", {b.constant(random_tensor({2}, 1)), index}), "y");
  };
  Graph graph = build(describe);
  const Status status = fold_constants(graph, context());
  REQUIRE(!status.ok());
  CHECK(status.error().message().find("index 7 is outside [-2, 1]") != std::string::npos);
}

TEST_CASE("equal nodes become one, and outputs keep theirs") {
  const auto describe = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {2, 6});
    Value* a = b.add("Add", {x, scalar(b, 2.0f)});
    Value* c = b.add("Add", {x, scalar(b, 2.0f)});  // equal by its constant's value
    Value* d = b.add("Add", {x, scalar(b, 3.0f)});
    Value* e = b.add("LeakyRelu", {a}, make_attributes({{"alpha", 0.1f}}));
    Value* f = b.add("LeakyRelu", {c}, make_attributes({{"alpha", 0.2f}}));
    Value* g = b.add("LeakyRelu", {c}, make_attributes({{"alpha", 0.1f}}));
    b.output(b.add("Concat", {d, e, f, g}, make_attributes({{"axis", int64_t{1}}})), "y");
    b.output(b.add("Exp", {a}), "p");
    b.output(b.add("Exp", {c}), "q");
  };
  const Graph after = check_pass(describe, "common", {random_tensor({2, 6}, 1)});
  CHECK(ops_of(after) == "Add Add LeakyRelu LeakyRelu Concat Exp Exp");
  const Node& concat = node_of(after, "Concat");
  CHECK(concat.input(1) == concat.input(3));
  CHECK(concat.input(1) != concat.input(2));
}

TEST_CASE("constants of the same bytes but other types or shapes are not one") {
  const auto describe = [](Builder& b) {
    Value* x = b.input("x", DType::f32, {2, 2});
    Value* row = b.constant(Tensor::of<float>({2}, {0, 0}));
    Value* column = b.constant(Tensor::of<float>({2, 1}, {0, 0}));
    b.output(b.add("Add", {b.add("Add", {x, row}), column}), "y");
    b.output(b.add("Reshape", {x, b.integers({4})}), "z");
    b.output(b.add("Gather", {x, b.constant(Tensor::of<int64_t>({}, {0}))}), "w");
  };
  const Graph after = check_pass(describe, "common", {random_tensor({2, 2}, 1)});
  CHECK(ops_of(after) == "Add Add Reshape Gather");
}

TEST_CASE("dead chains and their constants go, nodes with one living output stay") {
  Graph graph = build([](Builder& b) {
    Value* x = b.input("x", DType::f32, {2, 6});
    b.add("Exp", {b.add("Mul", {x, scalar(b, 2.0f)})});
    Node* top = b.node("", "TopK", {x, b.integers({2})}, 2);
    REQUIRE(top);
    b.output(top->output(1), "indices");
  });
  run_pass(graph, "dead");
  CHECK(ops_of(graph) == "TopK");
  CHECK(graph.value_count() == 4);  // x, k, both outputs
}

TEST_CASE("the text form after the passes of loading") {
  Graph graph = build([](Builder& b) {
    Value* x = b.input("x", DType::f32, {2, 3});
    Value* one = b.add("Div", {scalar(b, 3.0f), scalar(b, 3.0f)});
    b.output(b.add("Identity", {b.add("Add", {b.add("Dropout", {x}), one}, {}, "add")}), "y");
  });
  graph.name = "small";
  require_ok(run_pipeline(graph, context(), Stage::load));
  require_ok(verify(graph));
  const Value* one = node_of(graph, "Add").input(1);
  CHECK(print_graph(graph) == fmt::format("graph \"small\"\ninput %x: float32[2, 3]\nconst %{0}: float32[] = {{1.0}}\n"
                                          "%y: float32[2, 3] = Add(%x, %{0}) @\"add\"\noutput %y\n",
                                          one->name()));
}

TEST_CASE("one vector of indices, broadcast over the rest, moves slices") {
  const auto scatter = [](int64_t axis, const char* reduction) {
    return [=](Builder& b) {
      Value* rows = b.add("Expand", {b.constant(Tensor::of<int64_t>({2, 1, 1}, {3, -4})), b.integers({2, 3, 5})});
      b.output(b.add("ScatterElements", {b.input("x", DType::f32, {4, 3, 5}), rows, b.input("u", DType::f32, {2, 3, 5})},
                     make_attributes({{"axis", axis}, {"reduction", std::string(reduction)}})),
               "y");
    };
  };
  const std::vector<Tensor> x = {random_tensor({4, 3, 5}, 1), random_tensor({2, 3, 5}, 2)};
  CHECK(ops_of(check_pass(scatter(0, "none"), "broadcast_indices", x)) == "Reshape ScatterND");
  CHECK(ops_of(check_pass(scatter(-3, "add"), "broadcast_indices", x)) == "Reshape ScatterND");
  const auto gather = [](int64_t columns) {
    return [=](Builder& b) {
      Value* along = b.add("Expand", {b.constant(Tensor::of<int64_t>({3, 1}, {2, 0, -1})), b.integers({4, 3, columns})});
      b.output(b.add("GatherElements", {b.input("x", DType::f32, {4, 3, 5}), along}, make_attributes({{"axis", int64_t{1}}})), "y");
    };
  };
  CHECK(ops_of(check_pass(gather(5), "broadcast_indices", {x[0]})) == "Reshape Gather");
  CHECK(ops_of(check_pass(gather(2), "broadcast_indices", {x[0]})) == "Expand GatherElements");  // not all of a slice
  const auto several = [](Builder& b) {
    const Tensor each_its_own = Tensor::of<int64_t>({3, 5}, {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0});
    Value* each = b.add("Expand", {b.constant(each_its_own), b.integers({2, 3, 5})});
    b.output(b.add("GatherElements", {b.input("x", DType::f32, {4, 3, 5}), each}, make_attributes({{"axis", int64_t{0}}})), "y");
  };
  CHECK(ops_of(check_pass(several, "broadcast_indices", {x[0]})) == "Expand GatherElements");
}

namespace {

Attribute branch(const Describe& describe) {
  auto graph = std::make_shared<Graph>();
  Builder b(*graph, context().ops);
  describe(b);
  return Subgraph(std::move(graph));
}

}  // namespace

TEST_CASE("an If whose condition is known becomes its branch, where what it captures is as the branch declares it") {
  const auto network = [](Shape x) {
    return [=](Builder& b) {
      Attributes attributes;
      for (const char* name : {"then_branch", "else_branch"})
        attributes.set(name, branch([](Builder& inner) { inner.output(inner.add("Exp", {inner.input("x", DType::f32, {2})}), "e"); }));
      attributes.set("captured", int64_t{1});
      Value *yes = b.constant(Tensor::of<bool>({}, {true})), *v = b.input("x", DType::f32, x);
      for (int i = 0; i < 2; ++i) v = b.node("", "If", {yes, v}, 1, attributes)->output();  // the second captures what the first gives
      b.output(v, "y");
    };
  };
  const auto kept = [&](Shape x) {
    Graph graph = build(network(x));
    run_pass(graph, "branches");
    return ops_of(graph);
  };
  CHECK(kept({2}) == "Exp Exp");
  CHECK(kept({Dim()}) == "If Exp");  // whose result is as declared
  const std::vector<Tensor> y = session_run(build(network({2})), {Tensor::of<float>({2}, {0, 1})});
  CHECK(to_doubles(y[0])[0] == Approx(std::exp(1)));
  const auto session = Session::create(build(network({Dim()})), {});
  REQUIRE(session.ok());
  CHECK_FALSE((*session)->run({Tensor::of<float>({3}, {0, 1, 2})}).ok());
}

TEST_CASE("what was in a branch goes through the passes that came before it was known") {
  const auto in_branch = [](DType type, Shape shape, const std::function<Value*(Builder&, Value*)>& compute) {
    return [=](Builder& b) {
      Attributes attributes = make_attributes({{"captured", int64_t{1}}});
      for (const char* name : {"then_branch", "else_branch"})
        attributes.set(name, branch([&](Builder& inner) { inner.output(compute(inner, inner.input("x", type, shape)), "e"); }));
      Value* yes = b.constant(Tensor::of<bool>({}, {true}));
      b.output(b.node("", "If", {yes, b.input("x", type, shape)}, 1, std::move(attributes))->output(), "y");
    };
  };
  const auto kept = [&](const Describe& describe) {
    Graph graph = build(describe);
    run_pass(graph, "branches");
    return ops_of(graph);
  };
  // No kernel computes float16.
  CHECK(kept(in_branch(DType::f16, {3}, [](Builder& b, Value* x) { return b.add("ThresholdedRelu", {x}); })) == "Cast ThresholdedRelu Cast");
  // Weights of 8 bits stay that, which folding would make float32.
  const auto product = in_branch(DType::u8, {2, 4}, [](Builder& b, Value* x) {
    const auto zero = [&](DType type) { return b.constant(random_tensor_of(type, {}, 1, 0, 0)); };
    const auto real = [&](Value* v) { return b.add("DequantizeLinear", {v, scalar(b, 0.5f), zero(v->type.dtype)}); };
    Value* y = b.add("MatMul", {real(x), real(b.constant(random_tensor_of(DType::i8, {4, 1}, 1, -9, 9)))});
    return b.add("QuantizeLinear", {y, scalar(b, 0.25f), zero(DType::u8)});
  });
  CHECK(kept(product) == "QLinearMatMul");
}

TEST_CASE("an If that only chooses between values that are there becomes a Where") {
  const auto network = [&](Shape condition, Shape other, bool computes) {
    return [=](Builder& b) {
      Attributes attributes;
      attributes.set("then_branch", branch([](Builder& inner) {
                       inner.input("x", DType::f32, {2});
                       inner.output(inner.constant(Tensor::of<float>({2}, {5, 6})), "five");
                     }));
      attributes.set("else_branch", branch([&](Builder& inner) {
                       Value* x = inner.input("x", DType::f32, other);
                       inner.output(computes ? inner.add("Exp", {x}) : x, "same");
                     }));
      attributes.set("captured", int64_t{1});
      Value *c = b.input("c", DType::boolean, condition), *x = b.input("x", DType::f32, other);
      Node* node = b.node("", "If", {c, x}, 1, std::move(attributes));
      b.output(b.add("Neg", {node->output()}), "y");
    };
  };
  const auto kept = [&](const Describe& describe) {
    Graph graph = build(describe);
    run_pass(graph, "branches");
    return ops_of(graph);
  };
  CHECK(kept(network(Shape{1}, {2}, false)) == "Where Neg");
  for (const bool yes : {true, false}) {
    const std::vector<Tensor> inputs{Tensor::of<bool>({1}, {yes}), Tensor::of<float>({2}, {1, 2})};
    const std::vector<Tensor> y = session_run(build(network(Shape{1}, {2}, false)), inputs);
    CHECK(to_doubles(y[0]) == (yes ? std::vector<double>{-5, -6} : std::vector<double>{-1, -2}));
  }
  CHECK(kept(network(Shape{1}, {2}, true)) == "If Neg");
  CHECK(kept(network(Shape{1}, {1}, false)) == "If Neg");      // shapes differ
  CHECK(kept(network(Shape{1, 1}, {2}, false)) == "If Neg");   // would be of rank 2
  CHECK(kept(network(Shape{Dim()}, {2}, false)) == "If Neg");  // may have no element
}
}  // namespace simplify_test
