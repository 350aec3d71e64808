// The pass `expand`: composite operators become what they are made of, at load or when shapes are concrete.
#include "engine/graph/expand.h"
#include "engine/graph/text.h"
#include "engine/ops/samples.h"
#include "tests/passes/pass_test_util.h"
#include "tests/support/must.h"

namespace expand_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

Node* attention(Builder& b, const Shape& q, const Shape& k, Attributes attributes, size_t outputs = 1) {
  return b.node("", "Attention", {b.input("q", DType::f32, q), b.input("k", DType::f32, k), b.input("v", DType::f32, k)}, outputs,
                std::move(attributes));
}

}  // namespace

TEST_CASE("a composite operator is expanded, and fused again") {
  Graph graph = build([](Builder& b) { b.output(attention(b, {2, 3, 4, 8}, {2, 3, 6, 8}, {})->output(), "y"); });
  run_pass(graph, "expand");
  CHECK(ops_of(graph) == "Transpose MatMul Mul Softmax MatMul");
  CHECK(output_names(graph) == std::vector<std::string>{"y"});
  run_pass(graph, "attention");
  CHECK(ops_of(graph) == "Attention");
  CHECK(graph.nodes().front()->op().domain == std::string(kInternalDomain));
}

TEST_CASE("a composite operator whose sizes are not known waits for them") {
  const Dim unknown;
  Graph graph = build([&](Builder& b) {
    const Shape any{unknown, unknown, unknown, unknown};
    b.output(attention(b, any, any, {})->output(), "y");
  });
  run_pass(graph, "expand");
  CHECK(ops_of(graph) == "Attention");
  Result<Graph> concrete = specialize(graph, {{1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 4}}, {}, context());
  REQUIRE(concrete.ok());
  run_pass(*concrete, "expand");
  CHECK(ops_of(*concrete).find("Attention") == std::string::npos);
}

TEST_CASE("an output that is an input keeps its name when its node goes") {
  Graph graph = build([](Builder& b) {
    Node* node = attention(b, {1, 2, 3, 4}, {1, 2, 5, 4}, {}, 3);
    for (size_t i = 0; i < 3; ++i) b.output(node->output(i), fmt::format("y{}", i));
  });
  run_pass(graph, "expand");
  CHECK(output_names(graph) == std::vector<std::string>{"y0", "y1", "y2"});
  for (const Value* v : graph.outputs()) CHECK(!v->is_input());
}

namespace {

/// Operators after `expand`, of a SkipLayerNormalization of such inputs.
std::string expanded_skip_norm(const Shape& x, const Shape& skip, const Shape& gamma) {
  Graph graph = build([&](Builder& b) {
    const Node* node = b.node("com.microsoft", "SkipLayerNormalization",
                              {b.input("x", DType::f32, x), b.input("skip", DType::f32, skip), b.input("gamma", DType::f32, gamma)}, 1);
    if (node) b.output(node->output(), "y");
  });
  run_pass(graph, "expand");
  return ops_of(graph);
}

}  // namespace

TEST_CASE("a composite operator waits where its parts would take shapes that it refuses") {
  const Dim batch("batch"), length("length"), unknown;
  CHECK(expanded_skip_norm({batch, length, 64}, {batch, length, 64}, {64}) == "Add LayerNormalization");
  CHECK(expanded_skip_norm({batch, length, 64}, {batch, length, 64}, {Dim("k")}) == "SkipLayerNormalization");  // [1] would broadcast
  CHECK(expanded_skip_norm({batch, length, 64}, {batch, Dim("other"), 64}, {64}) == "SkipLayerNormalization");
  CHECK(expanded_skip_norm({unknown, unknown, 64}, {unknown, unknown, 64}, {64}) == "SkipLayerNormalization");
}

namespace {

enum class Arrival { as_inputs, late, late_constants };

/// A sample's inputs that tests choose the values of.
std::vector<Tensor> chosen_values(const Sample& sample) {
  std::vector<Tensor> values;
  uint64_t seed = 1;
  for (const SampleInput& in : sample.inputs) {
    if (in.value.defined() || in.is_absent()) values.push_back(in.value);
    else values.push_back(random_tensor_of(in.dtype, in.dims, seed++, in.low, in.high));
  }
  return values;
}

/// The sample's node on its inputs, or behind a Reshape of each to what another input says: until then not even their ranks are known. What is
/// reshaped may be a constant, so that all that the node reads is known when the shapes are.
Graph graph_of(const OpDef& op, const Sample& sample, const std::vector<Tensor>& values, Arrival arrival) {
  return build([&](Builder& b) {
    std::vector<Value*> inputs;
    for (size_t i = 0; i < sample.inputs.size(); ++i) {
      const SampleInput& in = sample.inputs[i];
      const bool is_late = arrival != Arrival::as_inputs && !is_handle(in.dtype);
      if (in.is_absent()) {
        inputs.push_back(nullptr);
        continue;
      }
      if (in.value.defined() || (is_late && arrival == Arrival::late_constants)) inputs.push_back(b.constant(values[i]));
      else inputs.push_back(b.input(fmt::format("x{}", i), in.dtype, Shape::of(in.dims)));
      if (in.value.defined() || !is_late) continue;
      Value* shape = b.input(fmt::format("s{}", i), DType::i64, Shape{Dim()});
      inputs.back() = b.add("Reshape", {inputs.back(), shape}, make_attributes({{"allowzero", int64_t{1}}}));
    }
    Attributes attributes;
    for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
    Node* node = b.node(op.domain, op.name, std::move(inputs), static_cast<size_t>(sample.outputs), std::move(attributes));
    for (size_t i = 0; node && i < node->outputs().size(); ++i) b.output(node->output(i), fmt::format("y{}", i));
  });
}

/// As a file may that says of outputs what is wrong, where inference does not know better.
void declare_wrongly(Graph& graph) {
  constexpr int64_t kWrong = 97;
  for (Value* v : graph.outputs()) {
    if (is_handle(v->type.dtype)) continue;
    if (!v->type.shape.has_rank()) v->type.shape = Shape{Dim(kWrong)};
    for (size_t d = 0; d < v->type.shape.dims().size(); ++d)
      if (!v->type.shape[d].is_static()) v->type.shape.set(d, Dim(kWrong));
  }
}

enum class Declarations { none, wrong };

Result<std::vector<Tensor>> run_sample(const OpDef& op, const Sample& sample, Arrival arrival, Declarations declarations = Declarations::none) {
  const std::vector<Tensor> values = chosen_values(sample);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < values.size(); ++i) {
    const SampleInput& in = sample.inputs[i];
    if (in.value.defined() || in.is_absent()) continue;
    const bool is_late = arrival != Arrival::as_inputs && !is_handle(in.dtype);
    if (!is_late || arrival != Arrival::late_constants) inputs.push_back(values[i]);
    if (is_late) inputs.push_back(Tensor::of<int64_t>({static_cast<int64_t>(in.dims.size())}, std::span<const int64_t>(in.dims)));
  }
  Graph graph = graph_of(op, sample, values, arrival);
  if (declarations == Declarations::wrong) declare_wrongly(graph);
  SV_ASSIGN(const auto session, Session::create(std::move(graph), {}));
  return session->run(inputs);
}

void check_late(const OpDef& op, const Sample& sample, Arrival arrival, const Result<std::vector<Tensor>>& plain,
                Declarations declarations = Declarations::none) {
  const Result<std::vector<Tensor>> late = run_sample(op, sample, arrival, declarations);
  const char* what = declarations == Declarations::wrong ? "declared wrongly" : arrival == Arrival::late ? "inputs" : "constants";
  INFO(what << (late.ok() ? "" : ": " + late.error().message()));
  CHECK(late.ok() == plain.ok());
  if (!late.ok() || !plain.ok()) return;
  for (size_t k = 0; k < plain->size(); ++k)
    if (!is_handle((*plain)[k].type())) CHECK(all_close((*late)[k], (*plain)[k], 10 * op.tolerance.rtol, 10 * op.tolerance.atol).ok());
}

}  // namespace

TEST_CASE("every operator of a file runs behind values whose ranks are known late, constants among them, and whatever is declared of its outputs") {
  for (const OpDef& op : all_ops().all()) {
    if (std::string_view(op.domain) == kInternalDomain) continue;
#ifdef SVENGINE_EMULATED
    if (!op.expand) continue;  // what decides shapes is the same C++ everywhere
#endif
    for (size_t i = 0; i < samples_of(op).size(); ++i) {
      const Sample& sample = samples_of(op)[i];
      INFO(op.domain << " " << op.name << ", sample " << i);
      const Result<std::vector<Tensor>> plain = run_sample(op, sample, Arrival::as_inputs);
      check_late(op, sample, Arrival::late, plain);
      check_late(op, sample, Arrival::late_constants, plain);
      check_late(op, sample, Arrival::as_inputs, plain, Declarations::wrong);
      check_late(op, sample, Arrival::late, plain, Declarations::wrong);
    }
  }
}

TEST_CASE("what a composite operator is made of takes its samples, whether their constants are known or not") {
  for (const OpDef& op : all_ops().all()) {
    if (!op.expand) continue;
    for (size_t i = 0; i < samples_of(op).size(); ++i)
      for (const bool known : {true, false}) {
        Sample sample = samples_of(op)[i];
        for (SampleInput& in : sample.inputs)
          if (!known && in.value.defined()) in.dtype = in.value.type(), in.dims = in.value.dims(), in.value = {};
        const Graph graph = graph_of(op, sample, chosen_values(sample), Arrival::as_inputs);
        const Status status = check_expansion(*graph.nodes().front(), all_ops());
        INFO(op.domain << " " << op.name << ", sample " << i << (status.ok() ? "" : ": " + status.error().message()));
        CHECK((status.ok() || (!known && status.error().code() == ErrorCode::needs_constant)));
      }
  }
}

TEST_CASE("what a composite operator is made of may have no elements") {
  for (const Dims& dims : {Dims{2, 3, 0}, Dims{2, 0, 4}, Dims{0, 3, 4}}) {
    Graph graph = build([&](Builder& b) {
      Value* x = b.input("x", DType::f32, Shape::of(dims));
      b.output(
          b.node(kMicrosoftDomain, "BiasSoftmax", {x, x}, 1, make_attributes({{"axis", int64_t{1}}, {"is_inner_broadcast", int64_t{1}}}))->output(),
          "y");
    });
    const Result<std::vector<Tensor>> results = Session::create(std::move(graph), {}).value()->run({random_tensor(dims, 1)});
    REQUIRE(results.ok());
    CHECK((*results)[0].dims() == dims);
  }
}

TEST_CASE("a composite operator refuses inputs that do not fit together, whichever of its outputs is read") {
  // 44000019386 of random graphs with other shapes: the mask of a BiasDropout does not depend on the residual.
  const auto graph_with = [](const char* read) {
    return must(parse_graph(fmt::format("graph \"g\"\ninput %x: float32[a, b, c]\ninput %bias: float32[c]\ninput %residual: float32[d, e, f]\n"
                                        "%y: float32[a, b, c], %mask: bool[a, b, c] = com.microsoft.BiasDropout(%x, %bias, %residual)\noutput {}\n",
                                        read),
                            all_ops()));
  };
  for (const char* read : {"%y", "%mask"}) {
    INFO(read);
    const std::unique_ptr<Session> session = Session::create(graph_with(read), {}).value();
    const Tensor bias = random_tensor({8}, 1), residual = random_tensor({2, 3, 8}, 2);
    CHECK(session->run({random_tensor({2, 3, 8}, 3), bias, residual}).ok());
    const Result<std::vector<Tensor>> odd = session->run({random_tensor({2, 1, 8}, 3), bias, residual});
    REQUIRE(!odd.ok());
    CHECK(odd.error().message().find("need one shape") != std::string::npos);
  }
}
}  // namespace expand_test
