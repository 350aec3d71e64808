// Graphs as models, and read again. tests/differential does the same with random ones: `differential --converted`.
#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/graph/text.h"
#include "engine/ops/registry.h"
#include "importers/onnx/export.h"
#include "importers/onnx/import.h"
#include "importers/onnx/old_forms.h"
#include "runtime/session.h"
#include "tests/support/must.h"
#include "tests/support/temporary_directory.h"
#include "validate/check/check.h"
#include "validate/convert/older_forms.h"
#include "validate/convert/simplify.h"

namespace round_trip_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

Graph parsed(const std::string& text) { return must(parse_graph(text, all_ops())); }

/// Written and read again; `check` finds nothing wrong with it.
Graph read_again(const Graph& graph) {
  const TemporaryDirectory folder(TemporaryDirectory::Place::memory);
  const std::string path = folder.path() + "/model.onnx";
  const Status written = export_onnx(graph, {.opset = kNewestOpset}, path);
  if (!written.ok()) FAIL(written.error().message());
  const validate::CheckReport report = must(validate::check_model(path));
  for (const validate::Finding& finding : report.findings.list()) CHECK(finding.message == "");
  Model model = must(import_onnx(path));
  CHECK(model.warnings == std::vector<std::string>());
  return std::move(model.graph);
}

std::vector<float> result(const Graph& graph, const std::vector<Tensor>& inputs, size_t output = 0) {
  SessionOptions options;
  options.topology = detect_topology(1);
  REQUIRE(choose_kernels(options).ok());
  const auto session = must(Session::create(graph.clone(), options));
  const Tensor out = must(session->run(inputs))[output];
  return {out.data<float>().begin(), out.data<float>().end()};
}

}  // namespace

TEST_CASE("bodies in bodies of one name have values of names that none around them has") {
  // Both Loops are called so, and what the inner one captures has the name in the outer body that its own input has.
  const Graph graph = parsed(R"(graph "nested"
input %x: float32[2]
const %n: int64[] = {3}
%z: float32[2] = Loop(%n, -, %x, %n) {captured = 1, body = graph "body" {
  input %i: int64[]
  input %on: bool[]
  input %h: float32[2]
  input %n: int64[]
  %x0: float32[2] = Neg(%h)
  %y: float32[2] = Loop(%n, -, %h, %x0) {captured = 1, body = graph "body" {
    input %i: int64[]
    input %on: bool[]
    input %h: float32[2]
    input %x0: float32[2]
    %x1: float32[2] = Sub(%h, %x0)
    output %on
    output %x1
  }} @"Loop"
  output %on
  output %y
}} @"Loop"
output %z
)");
  const std::vector<Tensor> inputs{Tensor::of<float>({2}, {1, -2})};
  const Graph again = read_again(graph), third = read_again(again);
  CHECK(result(again, inputs) == std::vector<float>{64, -128});
  CHECK(result(third, inputs) == std::vector<float>{64, -128});
  const auto longest = [](const Graph& g) {  // names do not grow each time
    size_t most = 0;
    (*g.nodes().back()->attributes.get<Subgraph>("body"))->for_each_value([&](const Value& v) { most = std::max(most, v.name().size()); });
    return most;
  };
  CHECK(longest(third) == longest(again));
}

TEST_CASE("what a body gives and nobody reads is an output of its node") {
  const Graph graph = parsed(R"(graph "unread"
input %x: float32[2]
const %n: int64[] = {2}
%y: float32[2] = Loop(%n, -, %x) {body = graph "body" {
  input %i: int64[]
  input %on: bool[]
  input %h: float32[2]
  %next: float32[2] = Add(%h, %h)
  output %on
  output %next
  output %h
}}
output %y
)");
  CHECK(graph.nodes().back()->outputs().size() == 1);
  CHECK(result(read_again(graph), {Tensor::of<float>({2}, {1, -2})}) == std::vector<float>{4, -8});
}

TEST_CASE("a condition that is a vector of one element is a scalar as the body takes it") {
  Graph graph = parsed(R"(graph "condition"
input %go: bool[1]
input %x: float32[2]
const %n: int64[] = {2}
%y: float32[2], %all: bool[?] = Loop(%n, %go, %x) {body = graph "body" {
  input %i: int64[]
  input %on: bool[]
  input %h: float32[2]
  %next: float32[2] = Add(%h, %h)
  output %on
  output %next
  output %on
}}
output %y
)");
  REQUIRE(onnx::replace_old_forms(graph, all_ops()).ok());
  CHECK(graph.nodes().back()->input(1)->type.shape == Shape::of(Dims{}));
  CHECK(result(read_again(graph), {Tensor::of<bool>({1}, {true}), Tensor::of<float>({2}, {1, -2})}) == std::vector<float>{4, -8});
}

TEST_CASE("of branches that give more than their If has, and not as much as one another, the If's outputs are written") {
  const Graph graph = parsed(R"(graph "branches"
input %on: bool[]
input %x: float32[2]
%y: float32[2] = If(%on, %x) {captured = 1, then_branch = graph "then" {
  input %x: float32[2]
  %s: float32[2] = Neg(%x)
  output %s
}, else_branch = graph "else" {
  input %x: float32[2]
  %s: float32[2] = Abs(%x)
  %t: float32[2] = Exp(%x)
  output %s
  output %t
}}
output %y
)");
  const Graph again = read_again(graph);
  CHECK(result(again, {Tensor::scalar(true), Tensor::of<float>({2}, {1, -2})}) == std::vector<float>{-1, 2});
  CHECK(result(again, {Tensor::scalar(false), Tensor::of<float>({2}, {1, -2})}) == std::vector<float>{1, 2});
}

TEST_CASE("a value that is two outputs has two names") {
  const Graph again = read_again(parsed("graph \"twice\"\ninput %x: float32[2]\n%y: float32[2] = Neg(%x)\noutput %y\noutput %y\n"));
  REQUIRE(again.outputs().size() == 2);
  CHECK(again.outputs()[0]->name() == "y");
  CHECK(again.outputs()[1]->name() != "y");
  CHECK(result(again, {Tensor::of<float>({2}, {1, -2})}, 1) == std::vector<float>{-1, 2});
}

TEST_CASE("how many values a body captures is no attribute, whatever the domain") {
  const Graph graph = parsed(R"(graph "flex"
input %q: float32[1, 1, 1, 2]
input %bias: float32[1]
%y: float32[1, 1, 1, 2] = ai.onnx.preview.FlexAttention(%q, %q, %q, %bias) {captured = 1, score_mod = graph "body" {
  input %s: float32[1, 1, 1, 1]
  input %bias: float32[1]
  %t: float32[1, 1, 1, 1] = Add(%s, %bias)
  output %t
}}
output %y
)");
  CHECK(result(read_again(graph), {Tensor::of<float>({1, 1, 1, 2}, {3, 4}), Tensor::of<float>({1}, {5})}) == std::vector<float>{3, 4});
}

TEST_CASE("simplifying a quantised model with a decided branch leaves nodes that ONNX has") {
  Graph graph = parsed(R"(graph "quantised"
input %x: uint8[4]
const %yes: bool[] = {1}
const %scale: float32[] = {0.25}
const %zero: uint8[] = {128}
%real: float32[4] = DequantizeLinear(%x, %scale, %zero)
%y: float32[4] = If(%yes, %real) {captured = 1, then_branch = graph "then" {
  input %r: float32[4]
  %s: float32[4] = Relu(%r)
  output %s
}, else_branch = graph "else" {
  input %r: float32[4]
  output %r
}}
%z: uint8[4] = QuantizeLinear(%y, %scale, %zero)
%w: float32[4] = DequantizeLinear(%z, %scale, %zero)
output %w
)");
  SessionOptions options;
  REQUIRE(choose_kernels(options).ok());
  must(validate::simplify(graph, pass_context(*options.kernels)));
  CHECK(graph.nodes().size() == 4);
  CHECK(result(read_again(graph), {Tensor::of<uint8_t>({4}, {0, 127, 129, 255})}) == std::vector<float>{0, 0, 0.25F, 31.75F});
}

TEST_CASE("what bodies declare and sequences hold is not made wider for an older opset") {
  Graph graph = parsed(R"(graph "narrow"
input %x: bfloat16[2]
input %h: float32[2]
const %n: int64[] = {2}
%y: float32[2] = Loop(%n, -, %h, %x) {captured = 1, body = graph "body" {
  input %i: int64[]
  input %on: bool[]
  input %h: float32[2]
  input %x: bfloat16[2]
  %wide: float32[2] = Cast(%x) {to = 1}
  %next: float32[2] = Add(%h, %wide)
  output %on
  output %next
}}
%all: sequence(bfloat16[2])[] = SequenceConstruct(%x, %x)
%more: sequence(bfloat16[2])[] = SequenceInsert(%all, %x)
%count: int64[] = SequenceLength(%more)
output %y
output %count
)");
  SessionOptions options;
  REQUIRE(choose_kernels(options).ok());
  const Status status = validate::widen_young_types(graph, 13, all_ops());
  if (!status.ok()) FAIL(status.error().message());
  REQUIRE(infer_all(graph).ok());
  CHECK(graph.nodes().size() == 4);
}

}  // namespace round_trip_test
