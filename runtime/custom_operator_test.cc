// Operators that programs register: types and shapes, runs on any number of threads, gradients, and what cannot be one.
#include "engine/ops/custom_operator.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "runtime/derivative_graphs.h"
#include "runtime/session.h"
#include "tests/support/random_tensor.h"

namespace custom_operator_test {
using namespace svengine;
using Catch::Matchers::Contains;
using svengine::tests::random_tensor;

namespace {

constexpr const char* kDomain = "test.operators";

int64_t elements(const svengine_call* call) { return svengine_elements(&call->inputs[0]); }

/// y = slope * x * |x|
const char* swell(const svengine_call* call, int64_t begin, int64_t end) {
  const auto* x = static_cast<const float*>(call->inputs[0].data);
  auto* y = static_cast<float*>(call->outputs[0].data);
  const float slope = call->attributes[0].present ? static_cast<float>(call->attributes[0].number) : 1;
  for (int64_t i = begin; i < end; ++i) y[i] = slope * x[i] * std::abs(x[i]);
  return nullptr;
}

const char* swell_grad(const svengine_call* call, int64_t begin, int64_t end) {
  const auto *x = static_cast<const float*>(call->inputs[0].data), *dy = static_cast<const float*>(call->inputs[2].data);
  auto* dx = static_cast<float*>(call->outputs[0].data);
  const float slope = call->attributes[0].present ? static_cast<float>(call->attributes[0].number) : 1;
  for (int64_t i = begin; i < end; ++i) dx[i] = 2 * slope * std::abs(x[i]) * dy[i];
  return nullptr;
}

/// The sum of all inputs that are there.
const char* total(const svengine_call* call, int64_t begin, int64_t end) {
  auto* y = static_cast<float*>(call->outputs[0].data);
  std::fill(y + begin, y + end, 0.0f);
  for (int32_t k = 0; k < call->input_count; ++k) {
    const auto* x = static_cast<const float*>(call->inputs[k].data);
    for (int64_t i = begin; call->inputs[k].type != SVENGINE_UNKNOWN && i < end; ++i) y[i] += x[i];
  }
  return nullptr;
}

/// Its gradients: dy for all that are there. Inputs: those of Total, then y and dy.
const char* total_grad_shape(const svengine_call* call, svengine_shape* out) {
  for (int32_t k = 0; k < call->output_count; ++k) {
    const svengine_operand& x = call->inputs[k];
    out[k] = {x.type == SVENGINE_UNKNOWN ? 1 : x.rank, {}};
    if (x.type != SVENGINE_UNKNOWN) std::copy_n(x.shape, x.rank, out[k].sizes);
  }
  return nullptr;
}

const char* total_grad(const svengine_call* call, int64_t begin, int64_t end) {
  const auto* dy = static_cast<const float*>(call->inputs[call->input_count - 1].data);
  for (int32_t k = 0; k < call->output_count; ++k)
    if (call->inputs[k].type != SVENGINE_UNKNOWN) std::copy(dy + begin, dy + end, static_cast<float*>(call->outputs[k].data) + begin);
  return nullptr;
}

/// Rows of x, repeated: [n, m] -> [repeats of attribute, n, m], and their sums in int64 [n], with scratch memory.
const char* repeat_shape(const svengine_call* call, svengine_shape* out) {
  if (call->inputs[0].rank != 2) return "x needs rank 2";
  out[0] = {3, {call->attributes[0].integer, call->inputs[0].shape[0], call->inputs[0].shape[1]}};
  if (call->output_count > 1) out[1] = {1, {call->inputs[0].shape[0]}};
  return nullptr;
}

int64_t row_bytes(const svengine_call* call) { return call->inputs[0].shape[1] * 4; }
int64_t rows(const svengine_call* call) { return call->inputs[0].shape[0]; }

const char* repeat(const svengine_call* call, int64_t begin, int64_t end) {
  const int64_t n = call->inputs[0].shape[0], m = call->inputs[0].shape[1], repeats = call->outputs[0].shape[0];
  auto* row = static_cast<float*>(call->scratch);
  for (int64_t r = begin; r < end; ++r) {
    double sum = 0;
    for (int64_t i = 0; i < m; ++i) sum += row[i] = static_cast<const float*>(call->inputs[0].data)[r * m + i];
    for (int64_t k = 0; k < repeats; ++k) std::copy(row, row + m, static_cast<float*>(call->outputs[0].data) + (k * n + r) * m);
    if (call->output_count > 1) static_cast<int64_t*>(call->outputs[1].data)[r] = static_cast<int64_t>(sum);
  }
  return nullptr;
}

const char* refuses(const svengine_call*, int64_t, int64_t) { return "the field has no gradient here"; }
const char* throws(const svengine_call*, int64_t, int64_t) { throw std::runtime_error("lost"); }
const char* invents_sizes(const svengine_call*, svengine_shape* out) {
  out[0] = {1, {-5}};
  return nullptr;
}
int64_t minus_one(const svengine_call*) { return -1; }

constexpr svengine_attribute_rule kSlope[] = {{"slope", SVENGINE_FLOAT, 0}}, kRepeats[] = {{"repeats", SVENGINE_INT, 1}};
constexpr uint32_t kFloats[] = {SVENGINE_TYPE_SET(SVENGINE_FLOAT32)};
constexpr int32_t kLikeFirst[] = {SVENGINE_TYPE_OF_INPUT(0)}, kRepeatTypes[] = {SVENGINE_TYPE_OF_INPUT(0), SVENGINE_INT64};

svengine_operator unary(const char* name, const char* (*compute)(const svengine_call*, int64_t, int64_t)) {
  svengine_operator o{};
  o.size = sizeof o;
  o.domain = kDomain;
  o.name = name;
  o.min_inputs = o.max_inputs = o.min_outputs = o.max_outputs = 1;
  o.compute = compute;
  return o;
}

void register_all() {
  static const bool once = [] {
    std::vector<svengine_operator> all = {unary("Swell", swell), unary("SwellGrad", swell_grad), unary("Repeat", repeat), unary("Refuses", refuses),
                                          unary("Throws", throws), unary("InventsSizes", swell), unary("NoTasks", swell), unary("Orphan", swell),
                                          unary("Total", total), unary("TotalGrad", total_grad)};
    for (size_t i : {0, 1}) {
      all[i].tasks = elements;
      all[i].attributes = kSlope;
      all[i].attribute_count = 1;
      all[i].input_types = kFloats;
      all[i].input_types_count = 1;
    }
    all[0].gradient = "SwellGrad";
    all[1].min_inputs = all[1].max_inputs = 3;
    all[2].max_outputs = 2;
    all[2].attributes = kRepeats;
    all[2].attribute_count = 1;
    all[2].output_types = kRepeatTypes;
    all[2].output_types_count = 2;
    all[2].shape = repeat_shape;
    all[2].tasks = rows;
    all[2].scratch_bytes = row_bytes;
    all[5].shape = invents_sizes;
    all[6].tasks = minus_one;
    all[7].gradient = "NobodyHasIt";
    for (size_t i : {8, 9}) all[i].max_inputs = -1, all[i].tasks = elements;
    all[8].gradient = "TotalGrad";
    all[9].max_outputs = 8;
    all[9].output_types = kLikeFirst;
    all[9].output_types_count = 1;
    all[9].shape = total_grad_shape;
    const Status status = register_custom_operators(all.data(), all.size(), sizeof(svengine_operator));
    if (!status.ok()) FAIL(status.error().message());
    return true;
  }();
  REQUIRE(once);
}

std::string problem_of(const Status& status) { return status.ok() ? "" : status.error().message(); }

/// What is wrong with a definition that a good one becomes by `change`.
template <class Change>
std::string refusal(const Change& change) {
  svengine_operator o = unary("Changed", swell);
  change(o);
  return problem_of(register_custom_operators(&o, 1, sizeof o));
}

std::vector<Tensor> run(Graph graph, const std::string& topology, const std::vector<Tensor>& inputs) {
  SessionOptions options;
  options.topology = parse_topology(topology).value();
  auto session = Session::create(std::move(graph), options);
  if (!session.ok()) FAIL(session.error().message());
  auto outputs = (*session)->run(inputs);
  if (!outputs.ok()) FAIL(outputs.error().message());
  return std::move(outputs).value();
}

/// A network of one node, whose input x is as given.
Graph network_of(const char* op, const Shape& shape, size_t outputs = 1, Attributes attributes = {}) {
  register_all();
  Graph graph;
  Builder b(graph, all_ops());
  const Node* node = b.node(kDomain, op, {b.input("x", DType::f32, shape)}, outputs, std::move(attributes), "the node");
  REQUIRE(b.status().ok());
  for (size_t i = 0; i < outputs; ++i) b.output(node->output(i), fmt::format("y{}", i));
  return graph;
}

std::string run_problem(const char* op) {
  auto session = Session::create(network_of(op, Shape{4}), {});
  if (!session.ok()) return session.error().message();
  const auto outputs = (*session)->run({random_tensor({4}, 1)});
  return outputs.ok() ? "" : outputs.error().message();
}

}  // namespace

TEST_CASE("a registered operator computes, on any number of threads and with sizes that are known late") {
  const Tensor x = random_tensor({7, 33}, 1);
  for (const char* topology : {"1x1", "1x3", "2x2"}) {
    const std::vector<Tensor> y = run(network_of("Swell", Shape{Dim("n"), 33}, 1, make_attributes({{"slope", 0.5f}})), topology, {x});
    REQUIRE(y[0].dims() == x.dims());
    for (int64_t i = 0; i < x.count(); ++i) CHECK(y[0].data<float>()[i] == 0.5f * x.data<float>()[i] * std::abs(x.data<float>()[i]));
  }
}

TEST_CASE("inputs behind the first ones may be absent, of any number of them too") {
  register_all();
  const std::vector<Tensor> given = {random_tensor({9}, 1), random_tensor({9}, 2)};
  const auto of = [&](std::vector<int> places) {
    Graph graph;
    Builder b(graph, all_ops());
    std::vector<Value*> x = {b.input("x0", DType::f32, Shape{9}), b.input("x1", DType::f32, Shape{9})}, inputs;
    for (const int place : places) inputs.push_back(place < 0 ? nullptr : x[static_cast<size_t>(place)]);
    const Node* node = b.node(kDomain, "Total", std::move(inputs), 1);
    if (!b.status().ok()) return b.status().error().message();
    b.output(node->output(), "y");
    const Tensor y = run(std::move(graph), "1x2", given)[0];
    float want = 0;
    for (const int place : places) want += place < 0 ? 0 : given[static_cast<size_t>(place)].data<float>()[5];
    return fmt::format("{}", std::abs(y.data<float>()[5] - want) < 1e-6f);
  };
  for (const std::vector<int>& places : {std::vector<int>{0}, {1, 0}, {0, -1, 1}, {1, -1, -1, 0, 0, 1, 0}}) CHECK(of(places) == "true");
  CHECK_THAT(of({-1, 0}), Contains("input 0 is required but absent"));
  CHECK_THAT(of({}), Contains("has 0 inputs, needs at least 1"));
}

TEST_CASE("its shape function gets sizes that are not known yet, and hands them on") {
  const Graph graph = network_of("Repeat", Shape{Dim("n"), Dim()}, 2, make_attributes({{"repeats", int64_t{3}}}));
  CHECK(to_string(graph.outputs()[0]->type.shape) == "3xnx?");
  CHECK(to_string(graph.outputs()[1]->type) == "int64[n]");
  CHECK(!network_of("Repeat", Shape(), 2, make_attributes({{"repeats", int64_t{3}}})).outputs()[0]->type.shape.has_rank());
  const std::vector<Tensor> y = run(graph.clone(), "1x2", {random_tensor({5, 9}, 1, 3, 4)});
  CHECK(y[0].dims() == Dims{3, 5, 9});
  CHECK(std::memcmp(y[0].raw(), y[0].raw() + 2 * 45 * 4, 45 * 4) == 0);
  CHECK(y[1].data<int64_t>()[4] > 26);
  CHECK(run(graph.clone(), "1x2", {random_tensor({0, 9}, 1)})[0].dims() == Dims{3, 0, 9});
}

TEST_CASE("gradients go through the operator that it names") {
  const Graph graph = network_of("Swell", Shape{4}, 1, make_attributes({{"slope", 0.25f}}));
  auto vjp = vjp_graph(graph);
  REQUIRE(vjp.ok());
  const Tensor x = random_tensor({4}, 1), dy = random_tensor({4}, 2);
  const std::vector<Tensor> out = run(std::move(vjp).value(), "1x1", {x, dy});
  for (size_t i = 0; i < 4; ++i) CHECK(out[1].data<float>()[i] == 0.5f * std::abs(x.data<float>()[i]) * dy.data<float>()[i]);
  CHECK_THAT(vjp_graph(network_of("Refuses", Shape{4})).error().message(), Contains("'the node'") && Contains("Refuses"));
  CHECK_THAT(vjp_graph(network_of("Orphan", Shape{4})).error().message(), Contains("'NobodyHasIt' of 'test.operators', which nobody has registered"));
}

TEST_CASE("gradients go to the inputs that are there") {
  register_all();
  Graph graph;
  Builder b(graph, all_ops());
  Value *x = b.input("x", DType::f32, Shape{9}), *z = b.input("z", DType::f32, Shape{9});
  b.output(b.node(kDomain, "Total", {x, nullptr, z, x}, 1)->output(), "y");
  auto vjp = vjp_graph(graph);
  REQUIRE(vjp.ok());
  const Tensor dy = random_tensor({9}, 3);
  const std::vector<Tensor> out = run(std::move(vjp).value(), "1x2", {random_tensor({9}, 1), random_tensor({9}, 2), dy});
  REQUIRE(out.size() == 3);
  for (size_t i = 0; i < 9; ++i) {
    CHECK(out[1].data<float>()[i] == 2 * dy.data<float>()[i]);
    CHECK(out[2].data<float>()[i] == dy.data<float>()[i]);
  }
}

TEST_CASE("what its functions refuse, throw or invent is an error of the node") {
  CHECK_THAT(run_problem("Refuses"), Contains("the node") && Contains("the field has no gradient here"));
  CHECK_THAT(run_problem("Throws"), Contains("an exception left the function"));
  CHECK_THAT(run_problem("NoTasks"), Contains("`tasks` of the registered operator says -1"));
  register_all();
  const auto refused = [](const char* op, DType type, const Shape& shape, Attributes attributes = {}) {
    Graph graph;
    Builder b(graph, all_ops());
    (void)b.node(kDomain, op, {b.input("x", type, shape)}, 1, std::move(attributes));
    return problem_of(b.status());
  };
  CHECK_THAT(refused("InventsSizes", DType::f32, Shape{4}), Contains("gives a size of -5"));
  CHECK_THAT(refused("Repeat", DType::f32, Shape{4}, make_attributes({{"repeats", int64_t{3}}})),
             Contains("its shape function says: x needs rank 2"));
  CHECK_THAT(refused("Repeat", DType::f32, Shape{4, 4}), Contains("attribute 'repeats' is missing"));
  CHECK_THAT(refused("Repeat", DType::f32, Shape{4, 4}, make_attributes({{"repeats", int64_t{-3}}})), Contains("gives a size of -3"));
  CHECK_THAT(refused("Swell", DType::f64, Shape{4}), Contains("is of type float64, needs float32"));
  CHECK_THAT(refused("Swell", DType::f32, Shape{4}, make_attributes({{"slop", 1.0f}})), Contains("attribute 'slop' is not one"));
}

TEST_CASE("what cannot be an operator is refused") {
  using O = svengine_operator;
  CHECK_THAT(refusal([](O& o) { o.size = 8; }), Contains("says a size of 8 bytes"));
  CHECK_THAT(refusal([](O& o) { o.domain = nullptr; }), Contains("names no domain"));
  CHECK_THAT(refusal([](O& o) { o.name = ""; }), Contains("has no name"));
  CHECK_THAT(refusal([](O& o) { o.domain = "ai.onnx"; }), Contains("the engine's own"));
  CHECK_THAT(refusal([](O& o) { o.domain = "com.microsoft", o.name = "Gelu"; }), Contains("known already"));
  CHECK_THAT(refusal([](O& o) { o.compute = nullptr; }), Contains("no function `compute`"));
  CHECK_THAT(refusal([](O& o) { o.max_inputs = 0; }), Contains("takes 1 to 0 inputs"));
  CHECK_THAT(refusal([](O& o) { o.min_outputs = o.max_outputs = 0; }), Contains("needs one at least"));
  CHECK_THAT(refusal([](O& o) { o.max_outputs = 64; }), Contains("more than 64"));
  CHECK_THAT(refusal([](O& o) { o.max_outputs = 2; }), Contains("need rules of their own"));
  CHECK_THAT(refusal([](O& o) { o.attribute_count = 1; }), Contains("has 1 attributes"));
  CHECK_THAT(refusal([](O& o) { o.until = -1; }), Contains("opsets"));
  CHECK_THAT(refusal([](O& o) {
               static constexpr uint32_t kStrings[] = {1u << 8};
               o.input_types = kStrings, o.input_types_count = 1;
             }),
             Contains("types that are none"));
  CHECK_THAT(refusal([](O& o) {
               static constexpr int32_t kBeyond[] = {SVENGINE_TYPE_OF_INPUT(1)};
               o.output_types = kBeyond, o.output_types_count = 1;
             }),
             Contains("neither a type nor one of the inputs"));
  CHECK_THAT(refusal([](O& o) {
               static constexpr svengine_attribute_rule kTwice[] = {{"a", SVENGINE_INT, 0}, {"a", SVENGINE_INT, 0}};
               o.attributes = kTwice, o.attribute_count = 2;
             }),
             Contains("'a' is there twice"));
  // All or none.
  const svengine_operator pair[] = {unary("First", swell), unary("First", swell)};
  CHECK_THAT(problem_of(register_custom_operators(pair, 2, sizeof *pair)), Contains("operator 1: 'First' of 'test.operators' is known already"));
  CHECK(find_custom_operator(kDomain, "First") == nullptr);
}
}  // namespace custom_operator_test
