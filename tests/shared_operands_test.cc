// One value as two operands of a node that may write its result over the first of them: what the other has to say must have been read by then.
#include <catch2/catch.hpp>

#include "engine/graph/text.h"
#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "runtime/session.h"
#include "tests/support/compare.h"
#include "tests/support/must.h"
#include "tests/support/random_tensor.h"

namespace shared_operands_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

Result<std::vector<Tensor>> run(Graph graph, const std::vector<Tensor>& inputs) {
  SessionOptions options;
  options.topology = parse_topology("1x1").value();
  options.optimize = false;
  REQUIRE(choose_kernels(options).ok());
  SV_ASSIGN(const auto session, Session::create(std::move(graph), options));
  return session->run(inputs);
}

/// The sample with one value in both slots, which a Cast makes and nothing else reads, or the caller gets, too, so that its memory stays.
Result<std::vector<Tensor>> run_shared(const OpDef& op, const Sample& sample, size_t a, size_t b, bool kept) {
  Graph graph;
  std::vector<Tensor> inputs;
  std::vector<Value*> slots;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const SampleInput& in = sample.inputs[i];
    if (in.is_absent()) {
      slots.push_back(nullptr);
      continue;
    }
    if (in.value.defined() && i != a && i != b) {
      slots.push_back(in.value.count() ? graph.add_constant("c", in.value) : nullptr);
      continue;
    }
    if (i == b) {
      slots.push_back(slots[a]);
      continue;
    }
    const DType given = i != a ? in.dtype : in.dtype == DType::f32 ? DType::f64 : DType::f32;
    inputs.push_back(random_tensor_of(given, in.dims, i + 1, in.low, in.high));
    slots.push_back(graph.add_input("x", {given, Shape::of(in.dims)}));
    if (i != a) continue;
    Node* cast = graph.add_node(*all_ops().find("", "Cast"), "cast", {slots.back()}, 1, make_attributes({{"to", static_cast<int64_t>(in.dtype)}}));
    SV_TRY(infer_types(*cast));
    slots.back() = cast->output();
  }
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  Value* shared = slots[a];
  Node* node = graph.add_node(op, "node", std::move(slots), static_cast<size_t>(sample.outputs), std::move(attributes));
  SV_TRY(infer_types(*node));
  Value* yes = graph.add_constant("yes", Tensor::scalar(true));  // what is an output itself has a place of its own
  for (Value* v : node->outputs()) {
    Node* copy = graph.add_node(*all_ops().find("", "Where"), "copy", {yes, v, v}, 1);
    SV_TRY(infer_types(*copy));
    graph.add_output(copy->output());
  }
  if (kept) graph.add_output(shared);
  return run(std::move(graph), inputs);
}

/// Whether there is such a node.
bool check_pair(const OpDef& op, const Sample& sample, size_t a, size_t b) {
  const Result<std::vector<Tensor>> kept = run_shared(op, sample, a, b, true), taken = run_shared(op, sample, a, b, false);
  if (!kept.ok() || !taken.ok()) return false;
  for (size_t i = 0; i < taken->size(); ++i) {
    const Status same = all_close((*taken)[i], (*kept)[i], 0, 0);
    INFO(op.name << ", inputs " << a << " and " << b << ", output " << i << ": " << (same.ok() ? "" : same.error().message()));
    CHECK(same.ok());
  }
  return true;
}

}  // namespace

TEST_CASE("operators that may overwrite an operand may be given it twice") {
  size_t pairs = 0;
  for (const OpDef& op : all_ops().all()) {
    if (!op.traits.may_overwrite) continue;
    for (const Sample& sample : samples_of(op))
      for (size_t b = 1; b < sample.inputs.size(); ++b)
        if (sample.inputs[b].dtype == sample.inputs[0].dtype && kDenseTypes.has(sample.inputs[0].dtype)) pairs += check_pair(op, sample, 0, b);
  }
  CHECK(pairs > 30);
}

TEST_CASE("what is scattered may be what it is scattered into") {
  // The Neg makes the data, and the scattering node is the last to read it.
  const auto scattered = [](const std::string& node) {
    const Graph graph = must(parse_graph("graph \"g\"\ninput %w: float32[4, 2]\nconst %rows: int64[4, 1] = {1, 2, 3, 0}\n"
                                         "const %places: int64[4, 2] = {1, 1, 2, 2, 3, 3, 0, 0}\nconst %from: int64[4] = {1, 0, 1, 0}\n"
                                         "%x: float32[4, 2] = Neg(%w)\n%s: float32[4, 2] = " + node + "\n%y: float32[4, 2] = Abs(%s)\noutput %y\n",
                                         all_ops()));
    const Tensor y = must(run(graph.clone(), {Tensor::of<float>({4, 2}, {-1, -2, -3, -4, -5, -6, -7, -8})}))[0];
    return std::vector<float>(y.data<float>().begin(), y.data<float>().end());
  };
  const std::vector<float> turned{7, 8, 1, 2, 3, 4, 5, 6};
  CHECK(scattered("ScatterND(%x, %rows, %x)") == turned);
  CHECK(scattered("ScatterElements(%x, %places, %x) {axis = 0}") == turned);
  CHECK(scattered("TensorScatter(%x, %x, %from) {axis = 1, mode = \"circular\"}") == std::vector<float>{2, 1, 3, 4, 6, 5, 7, 8});
}
}  // namespace shared_operands_test
