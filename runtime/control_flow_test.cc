// If, Loop and their like, run: captured values, zero trips, carried shapes, branches that are inlined.
#include <catch2/catch.hpp>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"

namespace control_flow_test {
using namespace svengine;

namespace {

const Shape kScalar{std::vector<Dim>{}};

std::vector<Tensor> values_of(Result<std::vector<Tensor>> result) {
  if (!result.ok()) FAIL(result.error().message());
  return std::move(result).value();
}

std::unique_ptr<Session> session_of(Graph graph, bool optimize = true) {
  SessionOptions options;
  options.optimize = optimize;
  auto session = Session::create(std::move(graph), options);
  if (!session.ok()) FAIL(session.error().message());
  return std::move(session).value();
}

/// then: x @ w, else: x - 1; x and w are captured.
Graph branching(bool known) {
  const auto branch = [](bool yes) {
    auto body = std::make_shared<Graph>();
    Builder b(*body, all_ops());
    Value* x = b.input("x", DType::f32, Shape{Dim("N"), 2});
    Value* w = b.input("w", DType::f32, Shape{2, 2});
    b.output(yes ? b.add("MatMul", {x, w}) : b.add("Sub", {x, b.constant(Tensor::scalar(1.0f))}), "out");
    REQUIRE(b.status().ok());
    return Subgraph(std::move(body));
  };
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape{Dim("N"), 2});
  Value* c = known ? b.constant(Tensor::scalar(true)) : b.input("c", DType::boolean, kScalar);
  Value* w = b.constant(Tensor::of<float>({2, 2}, {0, 1, 1, 0}));
  const Attributes attributes = make_attributes({{"then_branch", branch(true)}, {"else_branch", branch(false)}, {"captured", int64_t{2}}});
  b.output(b.add("If", {c, b.add("Relu", {x}), w}, attributes), "y");
  REQUIRE(b.status().ok());
  return graph;
}

/// Carries a value that grows by x on every trip, scans its sum, and goes on while that is below `limit`, a captured value.
Graph growing(bool counted) {
  auto body = std::make_shared<Graph>();
  Builder b(*body, all_ops());
  b.input("i", DType::i64, kScalar);
  b.input("going", DType::boolean, kScalar);
  Value* carried = b.input("carried", DType::f32, Shape());
  Value* x = b.input("x", DType::f32, Shape{1});
  Value* limit = b.input("limit", DType::f32, kScalar);
  Value* longer = b.add("Concat", {carried, x}, make_attributes({{"axis", int64_t{0}}}));
  Value* sum = b.add("ReduceSum", {longer}, make_attributes({{"keepdims", int64_t{0}}}));
  b.output(b.add("Less", {sum, limit}), "on");
  b.output(longer, "longer");
  b.output(sum, "sum");
  REQUIRE(b.status().ok());
  Graph graph;
  Builder g(graph, all_ops());
  Value* trips = counted ? g.input("trips", DType::i64, kScalar) : nullptr;
  Value* first = g.input("first", DType::f32, Shape{Dim("N")});
  Value* step = g.input("step", DType::f32, Shape{1});
  Value* most = g.input("limit", DType::f32, kScalar);
  Node* loop = g.node("", "Loop", {trips, nullptr, first, step, most}, 2,
                      make_attributes({{"body", Subgraph(std::move(body))}, {"captured", int64_t{2}}}));
  REQUIRE(g.status().ok());
  g.output(loop->output(0), "values");
  g.output(loop->output(1), "sums");
  return graph;
}

}  // namespace

TEST_CASE("a branch is chosen at run time, and each is planned once") {
  for (const bool optimize : {true, false}) {
    auto session = session_of(branching(false), optimize);
    const Tensor x = Tensor::of<float>({1, 2}, {3, 5}), yes = Tensor::scalar(true), no = Tensor::scalar(false);
    for (int run = 0; run < 3; ++run) {
      CHECK(values_of(session->run({x, yes}))[0].data<float>()[0] == 5);
      CHECK(values_of(session->run({x, no}))[0].data<float>()[0] == 2);
    }
    CHECK(session->plans().size() == 3);  // what comes before, and two branches
  }
}

TEST_CASE("a known condition leaves the branch alone") {
  auto session = session_of(branching(true));
  CHECK(values_of(session->run({Tensor::of<float>({1, 2}, {3, 5})}))[0].data<float>()[0] == 5);
  CHECK(session->plans().size() == 1);
  CHECK(session->planned_bytes({{4, 2}}, Recompute::none).value() >= 0);
}

TEST_CASE("what cannot be in a branch is an error when the branch is taken") {
  const auto branch = [](bool right) {
    auto body = std::make_shared<Graph>();
    Builder b(*body, all_ops());
    Value* x = b.input("x", DType::f32, Shape{3});
    b.output(right ? b.add("Neg", {x}) : b.add("Cast", {b.constant(Tensor::of_strings({1}, {"three"}))}, make_attributes({{"to", int64_t{1}}})),
             "out");
    REQUIRE(b.status().ok());
    return Subgraph(std::move(body));
  };
  Graph graph;
  Builder b(graph, all_ops());
  Value* c = b.input("c", DType::boolean, kScalar);
  b.output(b.add("If", {c, b.input("x", DType::f32, Shape{3})},
                 make_attributes({{"then_branch", branch(false)}, {"else_branch", branch(true)}, {"captured", int64_t{1}}})),
           "y");
  REQUIRE(b.status().ok());
  const auto session = session_of(std::move(graph));
  const Tensor x = Tensor::of<float>({3}, {1, 2, 3});
  CHECK(values_of(session->run(std::vector<Tensor>{Tensor::scalar(false), x}))[0].data<float>()[2] == -3);
  const auto taken = session->run(std::vector<Tensor>{Tensor::scalar(true), x});
  REQUIRE(!taken.ok());
  CHECK_THAT(taken.error().message(), Catch::Matchers::Contains("'three'"));
}

TEST_CASE("carried values may change shape, scanned ones are stacked, and there may be no trip at all") {
  auto session = session_of(growing(true));
  const auto run = [&](int64_t trips, float limit) {
    return values_of(session->run({Tensor::scalar(trips), Tensor::of<float>({2}, {1, 2}), Tensor::of<float>({1}, {10}), Tensor::scalar(limit)}));
  };
  const std::vector<Tensor> three = run(3, 1000);
  CHECK(three[0].dims() == Dims{5});
  CHECK(three[1].dims() == Dims{3});
  CHECK(three[1].data<float>()[2] == 33);
  CHECK(run(9, 20)[1].dims() == Dims{2});  // the condition ends it
  const std::vector<Tensor> none = run(0, 1000);
  CHECK(none[0].dims() == Dims{2});
  CHECK(none[0].data<float>()[1] == 2);
  CHECK(none[1].dims() == Dims{0});
}

TEST_CASE("what no trip has given has the shape that the first would have given") {
  auto body = std::make_shared<Graph>();
  Builder b(*body, all_ops());
  b.input("i", DType::i64, kScalar);
  Value* going = b.input("going", DType::boolean, kScalar);
  Value* carried = b.input("carried", DType::f32, Shape());  // a trip may change it
  b.output(going, "on");
  b.output(carried, "next");
  b.output(b.add("Add", {carried, carried}), "twice");
  REQUIRE(b.status().ok());
  Graph graph;
  Builder g(graph, all_ops());
  Node* loop = g.node("", "Loop", {g.input("trips", DType::i64, kScalar), nullptr, g.input("x", DType::f32, Shape{Dim("N"), 3})}, 2,
                      make_attributes({{"body", Subgraph(std::move(body))}}));
  REQUIRE(g.status().ok());
  g.output(loop->output(1), "all");
  auto session = session_of(std::move(graph));
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(values_of(session->run({Tensor::scalar<int64_t>(0), x}))[0].dims() == Dims{0, 2, 3});
  CHECK(values_of(session->run({Tensor::scalar<int64_t>(2), x}))[0].dims() == Dims{2, 2, 3});
}

TEST_CASE("what no slice has given has the shape that the first would have given") {
  auto body = std::make_shared<Graph>();
  Builder b(*body, all_ops());
  Value* slice = b.input("slice", DType::f32, Shape());
  Value* captured = b.input("captured", DType::f32, Shape());
  b.output(captured, "same");
  b.output(b.add("Add", {slice, captured}), "sum");
  REQUIRE(b.status().ok());
  Graph graph;
  Builder g(graph, all_ops());
  Node* scan = g.node("", "Scan", {g.input("x", DType::f32, Shape{Dim("N"), Dim("T")}), g.input("c", DType::f32, Shape{Dim("M"), 1})}, 2,
                      make_attributes({{"body", Subgraph(std::move(body))},
                                       {"num_scan_inputs", int64_t{1}},
                                       {"scan_input_axes", std::vector<int64_t>{1}},
                                       {"scan_output_axes", std::vector<int64_t>{0, -1}},
                                       {"captured", int64_t{1}}}));
  REQUIRE(g.status().ok());
  g.output(scan->output(0), "all");
  g.output(scan->output(1), "sums");
  auto session = session_of(std::move(graph));
  const Tensor c = Tensor::of<float>({2, 1}, {1, 2});
  const std::vector<Tensor> none = values_of(session->run({Tensor::of<float>({3, 0}, {}), c}));
  CHECK(none[0].dims() == Dims{0, 2, 1});
  CHECK(none[1].dims() == Dims{2, 3, 0});
  const std::vector<Tensor> one = values_of(session->run({Tensor::of<float>({3, 1}, {1, 2, 3}), c}));
  CHECK(one[0].dims() == Dims{1, 2, 1});
  CHECK(one[1].dims() == Dims{2, 3, 1});
}

TEST_CASE("a Scan whose body makes another shape of a state is refused") {
  auto body = std::make_shared<Graph>();
  Builder b(*body, all_ops());
  Value* state = b.input("state", DType::f32, Shape{2});
  b.input("slice", DType::f32, Shape{3});
  b.output(b.add("Concat", {state, state}, make_attributes({{"axis", int64_t{0}}})), "longer");
  REQUIRE(b.status().ok());
  Graph graph;
  Builder g(graph, all_ops());
  g.node("", "Scan", {g.input("s", DType::f32, Shape{2}), g.input("x", DType::f32, Shape{5, 3})}, 1,
         make_attributes({{"body", Subgraph(std::move(body))}, {"num_scan_inputs", int64_t{1}}}));
  REQUIRE_FALSE(g.status().ok());
  CHECK_THAT(g.status().error().message(), Catch::Matchers::Contains("state 0 is float32[2], and the body makes float32[4] of it"));
}

TEST_CASE("a loop without a trip count ends by its condition") {
  auto session = session_of(growing(false));
  const std::vector<Tensor> y =
      values_of(session->run({Tensor::of<float>({1}, {0}), Tensor::of<float>({1}, {1}), Tensor::scalar(4.0f)}));
  CHECK(y[1].dims() == Dims{4});
  CHECK(y[0].dims() == Dims{5});
}
}  // namespace control_flow_test
