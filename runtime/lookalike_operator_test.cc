// Operators of programs may be called as ONNX's and the engine's own are. Whatever passes do with those, they must not do with these: every name
// there is, in the places where passes look for patterns.
#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <set>
#include <string>

#include "engine/graph/builder.h"
#include "engine/ops/custom_operator.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/support/random_tensor.h"

namespace lookalike_operator_test {
using namespace svengine;
using svengine::tests::random_tensor;

namespace {

constexpr const char* kDomain = "test.lookalikes";

/// y = x + 0.75, whatever else there is.
const char* shifted(const svengine_call* call, int64_t begin, int64_t end) {
  const auto* x = static_cast<const float*>(call->inputs[0].data);
  auto* y = static_cast<float*>(call->outputs[0].data);
  for (int64_t i = begin; i < end; ++i) y[i] = x[i] + 0.75f;
  return nullptr;
}
int64_t elements(const svengine_call* call) { return svengine_elements(&call->inputs[0]); }

/// The names of all operators that are known, each registered under the test's domain.
const std::deque<std::string>& lookalikes() {
  static const std::deque<std::string> names = [] {
    std::set<std::string> known;
    for (const OpDef& op : all_ops().all()) known.insert(op.name);
    return std::deque<std::string>(known.begin(), known.end());
  }();
  static const bool once = [] {
    for (const std::string& name : names) {
      svengine_operator o{};
      o.size = sizeof o;
      o.domain = kDomain, o.name = name.c_str();
      o.min_inputs = o.min_outputs = o.max_outputs = 1, o.max_inputs = 3;
      o.tasks = elements, o.compute = shifted;
      const Status status = register_custom_operators(&o, 1, sizeof o);
      if (!status.ok()) FAIL(status.error().message());
    }
    return true;
  }();
  REQUIRE(once);
  return names;
}

Value* lookalike(Builder& b, const std::string& name, std::vector<Value*> inputs) { return b.node(kDomain, name, std::move(inputs), 1)->output(); }

/// Behind a convolution, alone and with a constant for every channel, with a residual and an activation behind it.
Graph behind_conv(const std::string& name) {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape({1, 3, 5, 5}));
  Value *w = b.constant(random_tensor({3, 3, 1, 1}, 2)), *channels = b.constant(random_tensor({1, 3, 1, 1}, 3));
  Value* y = lookalike(b, name, {b.add("Conv", {x, w})});
  y = lookalike(b, name, {b.add("Conv", {y, w}), channels});
  b.output(b.add("Relu", {b.add("Add", {lookalike(b, name, {b.add("Conv", {y, w})}), x})}), "y");
  return graph;
}

/// Around products, with what makes a bias, a scale and an activation of ONNX's operators.
Graph around_product(const std::string& name) {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape({4, 6}));
  Value *w = b.constant(random_tensor({6, 6}, 4)), *bias = b.constant(random_tensor({6}, 5));
  Value* y = lookalike(b, name, {b.add("MatMul", {lookalike(b, name, {x}), w}), bias});
  y = b.add("Add", {lookalike(b, name, {b.add("Gemm", {y, w, bias})}), bias});
  b.output(b.add("Tanh", {b.add("Mul", {lookalike(b, name, {y}), y})}), "y");
  return graph;
}

/// Among reductions and shapes, as norms, softmax and attention are written.
Graph among_norms(const std::string& name) {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape({2, 4, 6}));
  Value* axes = b.integers({-1});
  Value* centred = b.add("Sub", {x, b.add("ReduceMean", {lookalike(b, name, {x}), axes})});
  Value* y = b.add("Div", {centred, lookalike(b, name, {b.add("ReduceMean", {b.add("Mul", {centred, centred}), axes})})});
  y = b.add("Softmax", {lookalike(b, name, {b.add("Transpose", {y})})});
  b.output(lookalike(b, name, {b.add("Identity", {lookalike(b, name, {y})})}), "y");
  return graph;
}

std::vector<Tensor> run(Graph graph, bool optimize) {
  SessionOptions options;
  options.topology = parse_topology("1x1").value();
  options.optimize = optimize;
  auto session = Session::create(std::move(graph), options);
  if (!session.ok()) FAIL(session.error().message());
  const Dims dims = *(*session)->inputs()[0].type.shape.concrete();
  auto outputs = (*session)->run({random_tensor(dims, 1)});
  if (!outputs.ok()) FAIL(outputs.error().message());
  return std::move(outputs).value();
}

}  // namespace

TEST_CASE("operators called as ONNX's are not taken for them") {
  for (const std::string& name : lookalikes())
    for (const auto make : {behind_conv, around_product, among_norms}) {
      INFO(name);
      const std::vector<Tensor> optimised = run(make(name), true), plain = run(make(name), false);
      REQUIRE(optimised[0].dims() == plain[0].dims());
      double error = 0;
      for (size_t i = 0; i < plain[0].data<float>().size(); ++i) {
        const double got = optimised[0].data<float>()[i], want = plain[0].data<float>()[i];
        error = std::max(error, std::abs(got - want) / (1 + std::abs(want)));
      }
      CHECK(error < 1e-5);
    }
}
}  // namespace lookalike_operator_test
