// Whatever the exporter writes in an opset is in that opset's schemas: operators, numbers of inputs and outputs, attributes. Nodes that
// are younger are to be refused, or written as they were.
#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "importers/onnx/export.h"
#include "importers/onnx/onnx_file.h"
#include "validate/check/check.h"
#include "validate/convert/convert_test_util.h"

namespace written_forms_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

constexpr std::string_view kRules[] = {"attribute-unknown", "attribute-type",      "attribute-missing", "operator-unknown", "operator-foreign",
                                       "input-count",       "operator-deprecated", "output-count",      "input-missing",    "output-missing"};

/// ONNX Runtime's, in ONNX's domain.
bool is_foreign(const OpDef& op) { return *op.domain || op.name == std::string_view("SimplifiedLayerNormalization"); }

/// What is not of the opset's schemas, a line each.
std::string foreign_to(const Graph& graph, int opset) {
  const auto file = export_model(graph, {.opset = opset});
  if (!file.ok()) return {};  // refused
  const validate::CheckReport report = must(validate::check_model(*file, {.weights = false}));
  std::string out;
  for (const validate::Finding& finding : report.findings.list())
    if (std::find(std::begin(kRules), std::end(kRules), finding.rule->name) != std::end(kRules))
      out += fmt::format("{}: {} ({})\n", finding.where, finding.message, finding.rule->name);
  return out;
}

/// The attribute as the operator declares it, with a value that says something.
Attribute example_of(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kFloat:
      return 0.5f;
    case AttributeKind::kString:
      return std::string("word");
    case AttributeKind::kInts:
      return std::vector<int64_t>{1};
    case AttributeKind::kFloats:
      return std::vector<float>{1};
    case AttributeKind::kStrings:
      return std::vector<std::string>{"word"};
    default:
      return int64_t{1};
  }
}

}  // namespace

TEST_CASE("samples are written in every opset's forms, or refused") {
  for (const OpDef& op : all_ops().all()) {
    if (is_foreign(op)) continue;
    for (const Sample& sample : samples_of(op)) {
      const Graph graph = graph_of(op, sample);
      for (int opset = 13; opset <= kNewestOpset; ++opset) {
        INFO(op.name << " in opset " << opset);
        CHECK(foreign_to(graph, opset) == "");
      }
    }
  }
}

TEST_CASE("samples of ai.onnx.ml are written in a version that has their operators") {
  int operators = 0;
  for (const OpDef& op : all_ops().all()) {
    if (op.domain != std::string_view(kMlDomain)) continue;
    ++operators;
    for (const Sample& sample : samples_of(op)) {
      INFO(op.name);
      CHECK(foreign_to(graph_of(op, sample), kNewestOpset) == "");
    }
  }
  CHECK(operators >= 18);
}

TEST_CASE("samples of com.microsoft are written as ONNX Runtime takes them") {
  int operators = 0;
  for (const OpDef& op : all_ops().all()) {
    if (op.domain != std::string_view(kMicrosoftDomain)) continue;
    ++operators;
    for (const Sample& sample : samples_of(op)) {
      INFO(op.name);
      CHECK(foreign_to(graph_of(op, sample), kNewestOpset) == "");
    }
  }
  CHECK(operators >= 60);
}

TEST_CASE("an absent input of Optional is none") {
  Graph graph;
  const OpDef* op = all_ops().find("", "Optional");
  Node* node = graph.add_node(*op, "n", {nullptr}, 1, make_attributes({{"type", Tensor::of<float>({0}, {})}}));
  graph.add_output(node->output());
  REQUIRE(infer_types(*node).ok());
  const auto file = export_model(graph, {.opset = kNewestOpset});
  REQUIRE(file.ok());
  CHECK(file->model().graph().node(0).input_size() == 0);
}

TEST_CASE("attributes that an opset has not are refused there, or left out where they say nothing") {
  for (const OpDef& op : all_ops().all()) {
    if (is_foreign(op) || op.samples.empty()) continue;
    for (const AttributeDef& attribute : op.attributes) {
      if (attribute.kind == AttributeKind::kGraph || attribute.kind == AttributeKind::kTensor) continue;
      Graph graph = graph_of(op, samples_of(op)[0]);
      Attributes& attributes = graph.nodes().back()->attributes;
      if (!attributes.has(attribute.name)) attributes.set(attribute.name, example_of(attribute.kind));
      for (int opset : {13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 27}) {
        INFO(op.name << " with " << attribute.name << " in opset " << opset);
        CHECK(foreign_to(graph, opset) == "");
      }
    }
  }
}
}  // namespace written_forms_test
