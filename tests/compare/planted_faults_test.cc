// Faults planted in real-shaped networks: `compare` has to name the very node.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/base/narrow_float.h"
#include "engine/ops/registry.h"
#include "tests/support/random_tensor.h"
#include "tools/zoo/zoo.h"
#include "validate/compare/compare_models.h"
#include "validate/compare/match_values.h"

namespace planted_faults_test {
using namespace svengine;
using validate::CompareReport;

namespace {

/// Images of at most 32 x 32: emulated, ResNet-18's 224 x 224 took most of this test's time, and 64 x 64 a third.
void shrink_images(Graph& graph) {
  constexpr int64_t kSide = 32;
  Value* image = graph.inputs()[0];
  if (image->type.dtype != DType::f32 || image->type.shape[2].value() <= kSide) return;
  std::vector<Dim> dims = image->type.shape.dims();
  dims[2] = dims[3] = Dim(kSide);
  image->type.shape = Shape(dims);
  for (const auto& node : graph.nodes()) REQUIRE(infer_types(*node).ok());
}

Graph network(const char* name) {
  for (const tool::ZooNetwork& n : tool::zoo_networks())
    if (std::string(n.name) == name) {
      Result<Graph> graph = tool::build_zoo_network(n, 1);
      REQUIRE(graph.ok());
      shrink_images(*graph);
      return std::move(*graph);
    }
  FAIL("no such network");
  return {};
}

Node* find_node(Graph& graph, const std::string& name) {
  for (const auto& node : graph.nodes())
    if (node->name() == name) return node.get();
  FAIL("no node " + name);
  return nullptr;
}

/// Images, or 2 sentences of 12 tokens.
std::vector<Tensor> inputs_of(const Graph& graph) {
  std::vector<Tensor> out;
  for (const Value* v : graph.inputs()) {
    if (v->type.dtype == DType::f32) {
      Dims dims = {2, v->type.shape[1].value(), v->type.shape[2].value(), v->type.shape[3].value()};
      MutableTensor image = *Tensor::allocate(DType::f32, dims);
      for (size_t i = 0; i < static_cast<size_t>(image.count()); ++i)
        image.data<float>()[i] = std::sin(static_cast<float>(i * i % 1009));
      out.push_back(std::move(image));
      continue;
    }
    MutableTensor ids = *Tensor::allocate(DType::i64, {2, 12});
    const int64_t bound = v->name() == "input_ids" ? 30522 : 2;
    for (size_t i = 0; i < 24; ++i) ids.data<int64_t>()[i] = static_cast<int64_t>(i * 7919 + 1) % bound;
    if (v->name() == "attention_mask")
      for (int64_t& x : ids.data<int64_t>()) x = 1;
    out.push_back(std::move(ids));
  }
  return out;
}

CompareReport compare_graphs(const Graph& model, const Graph& reference, const validate::CompareOptions& options = {}) {
  const std::vector<Tensor> inputs = inputs_of(reference);
  SessionOptions how;
  REQUIRE(choose_kernels(how).ok());
  how.topology = detect_topology(1);
  const validate::ValueMatch match = validate::match_values(model, reference);
  validate::NodeByNode other(reference.clone(), inputs, how, &match.names);
  validate::CompareOptions own = options;
  own.tested.topology = how.topology;
  Result<CompareReport> report = validate::compare_with(model, inputs, other, own);
  if (!report.ok()) FAIL(report.error().message());
  return std::move(*report);
}

/// The constant that is input `slot`, changed.
void change_constant(Graph& graph, Node* node, size_t slot, const std::function<void(MutableTensor&)>& change) {
  MutableTensor copy = *node->input(slot)->constant().aligned_copy();
  change(copy);
  graph.set_input(node, slot, graph.add_constant("changed", std::move(copy)));
}

using Plant = std::function<void(Graph&, Node*)>;

void check_fault(const char* net, const std::string& node, const Plant& plant) {
  INFO(net << ", " << node);
  const Graph healthy = network(net);
  Graph faulty = healthy.clone();
  plant(faulty, find_node(faulty, node));
  const CompareReport report = compare_graphs(faulty, healthy);
  CHECK_FALSE(report.passed());
  CHECK(report.guilty == 1);
  REQUIRE(report.first);
  REQUIRE(report.first->node);
  CHECK(report.first->node->name == node);
}

void set_ints(Node* node, const char* name, std::vector<int64_t> values) { node->attributes.set(name, std::move(values)); }

}  // namespace

TEST_CASE("networks have no guilty node beside themselves") {
  for (const char* name : {"resnet-28", "bert-tiny"}) {
    INFO(name);
    const Graph graph = network(name);
    const CompareReport report = compare_graphs(graph, graph);
    CHECK(report.passed());
    CHECK(report.values.size() > 10);
    CHECK(report.without_reference == 0);
    bool fused = false;
    for (const validate::ComparedValue& v : report.values) {
      CHECK(v.has_local);
      fused = fused || v.fused.size() > 2;
    }
    CHECK(fused);
  }
}

TEST_CASE("a wrong epsilon") {
  check_fault("resnet-28", "block2.bn1", [](Graph&, Node* n) { n->attributes.set("epsilon", 1e-3f); });
  check_fault("bert-tiny", "encoder.layer.0.attention.output.LayerNorm",
              [](Graph&, Node* n) { n->attributes.set("epsilon", 1e-5f); });
}

TEST_CASE("a wrong epsilon in ResNet-18") {
  check_fault("resnet18", "layer3.1.bn2", [](Graph&, Node* n) { n->attributes.set("epsilon", 1e-3f); });
}

TEST_CASE("a transposed square weight") {
  check_fault("bert-tiny", "encoder.layer.1.attention.output.dense.matmul", [](Graph& g, Node* n) {
    change_constant(g, n, 1, [](MutableTensor& t) {
      const auto size = static_cast<size_t>(t.dims()[0]);
      for (size_t i = 0; i < size; ++i)
        for (size_t k = 0; k < i; ++k) std::swap(t.data<float>()[i * size + k], t.data<float>()[k * size + i]);
    });
  });
}

TEST_CASE("a lost bias") {
  check_fault("resnet-28", "fc", [](Graph& g, Node* n) { g.resize_inputs(n, 2); });
}

TEST_CASE("an overflow of float16") {
  const Graph healthy = network("resnet-28");
  Graph faulty = healthy.clone();
  Node* user = find_node(faulty, "block3.conv2");
  const auto add = [&](const char* op, const char* name, std::vector<Value*> inputs, Attributes attributes = {}) {
    Node* node = faulty.add_node(*all_ops().find("", op), name, std::move(inputs), 1, std::move(attributes), user);
    REQUIRE(infer_types(*node).ok());
    return node->output();
  };
  const auto to = [](DType type) { return make_attributes({{"to", static_cast<int64_t>(type)}}); };
  Value* scaled = add("Mul", "scale_up", {user->input(0), faulty.add_constant("up", Tensor::scalar(65536.0f))});
  Value* half = add("Cast", "to_half", {scaled}, to(DType::f16));
  Value* back = add("Cast", "to_float", {half}, to(DType::f32));
  faulty.set_input(user, 0, add("Mul", "scale_down", {back, faulty.add_constant("down", Tensor::scalar(1.0f / 65536))}));
  const CompareReport report = compare_graphs(faulty, healthy);
  REQUIRE(report.first);
  REQUIRE(report.first->node);
  CHECK(report.first->node->name == "to_half");
  CHECK(report.first->problem.find("infinities of numbers that are finite") != std::string::npos);
}

TEST_CASE("wrong padding, dilation and groups") {
  check_fault("resnet-28", "block1.conv1", [](Graph&, Node* n) { set_ints(n, "pads", {0, 0, 2, 2}); });
  check_fault("resnet-28", "block4.conv2", [](Graph&, Node* n) {
    set_ints(n, "dilations", {2, 2});
    set_ints(n, "pads", {2, 2, 2, 2});
  });
  check_fault("resnet-28", "block2.conv2", [](Graph& g, Node* n) {
    n->attributes.set("group", int64_t{2});
    const Tensor whole = n->input(1)->constant();  // 32x32x3x3: the first half of the channels of each
    MutableTensor half = *Tensor::allocate(DType::f32, {32, 16, 3, 3});
    for (size_t o = 0; o < 32; ++o)
      for (size_t i = 0; i < 16 * 9; ++i) half.data<float>()[o * 16 * 9 + i] = whole.data<float>()[o * 32 * 9 + i];
    g.set_input(n, 1, g.add_constant("half", std::move(half)));
  });
}

TEST_CASE("a wrong stride is named, though shapes differ from there on") {
  check_fault("resnet-28", "stem", [](Graph&, Node* n) { set_ints(n, "strides", {2, 2}); });
}

TEST_CASE("a softmax along the wrong axis") {
  check_fault("bert-tiny", "encoder.layer.0.attention.self.softmax",
              [](Graph&, Node* n) { n->attributes.set("axis", int64_t{2}); });
}

TEST_CASE("a wrong activation") {
  check_fault("resnet-28", "block3.relu1", [](Graph& g, Node* n) { g.set_op(n, *all_ops().find("", "Softplus")); });
  check_fault("bert-tiny", "pooler.activation", [](Graph& g, Node* n) { g.set_op(n, *all_ops().find("", "Softsign")); });
}

TEST_CASE("a dropped scale") {
  check_fault("bert-tiny", "encoder.layer.1.attention.self.scale",
              [](Graph& g, Node* n) { change_constant(g, n, 1, [](MutableTensor& t) { t.data<float>()[0] = 1; }); });
}

TEST_CASE("a weight that is NaN") {
  check_fault("resnet-28", "block4.conv1", [](Graph& g, Node* n) {
    change_constant(g, n, 1, [](MutableTensor& t) { t.data<float>()[4321] = std::numeric_limits<float>::quiet_NaN(); });
  });
}

TEST_CASE("renamed values are found by their place") {
  const Graph healthy = network("resnet-28");
  Graph renamed = healthy.clone();
  int number = 0;
  for (const auto& node : renamed.nodes()) renamed.rename(node->output(), fmt::format("renamed{}", number++));
  const validate::ValueMatch match = validate::match_values(renamed, healthy);
  CHECK(match.by_place + match.by_name == healthy.nodes().size());
  CHECK(match.unmatched == 0);
  find_node(renamed, "block2.bn1")->attributes.set("epsilon", 1e-3f);
  const CompareReport report = compare_graphs(renamed, healthy);
  REQUIRE(report.first);
  REQUIRE(report.first->node);
  CHECK(report.first->node->name == "block2.bn1");
}

TEST_CASE("random numbers are not compared, and both sides go on with the same") {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("input_ids", DType::f32, {Dim(2), Dim(3), Dim(4), Dim(5)});
  b.output(b.add("Sin", {b.add("RandomNormalLike", {x}, {}, "noise")}, {}, "sine"), "y");
  REQUIRE(Status(b.status()).ok());
  const CompareReport report = compare_graphs(graph, graph);
  CHECK(report.passed());
  REQUIRE(report.values.size() == 2);
  CHECK(report.values[0].random);
  CHECK_FALSE(report.values[1].random);
  CHECK(report.values[1].accumulated.relative() < 1e-5);
}

TEST_CASE("what overflows in the file's type is found, though the engine keeps it wider") {
  const auto build = [](DType type) {
    Graph graph;
    Builder b(graph, all_ops());
    Value* x = b.input("x", type, {Dim(2)});
    Value* big = b.add("Mul", {x, x}, {}, "square");
    b.output(b.add("Sqrt", {big}, {}, "root"), "y");
    REQUIRE(Status(b.status()).ok());
    return graph;
  };
  const Graph half = build(DType::f16), single = build(DType::f32);
  const Tensor x = Tensor::of<float>({2}, {300, 2});
  SessionOptions how;
  REQUIRE(choose_kernels(how).ok());
  how.topology = detect_topology(1);
  validate::NodeByNode reference(single.clone(), {x}, how, nullptr);
  const Result<Tensor> narrow = validate::convert(x, DType::f16, how);
  REQUIRE(narrow.ok());
  const Result<CompareReport> report = validate::compare_with(half, {*narrow}, reference, {how, {}, {}});
  REQUIRE(report.ok());
  REQUIRE(report->first);
  CHECK(report->first->node->name == "square");
  CHECK(report->first->difference.got_infinities == 1);
  CHECK(report->guilty == 1);
}
}  // namespace planted_faults_test
