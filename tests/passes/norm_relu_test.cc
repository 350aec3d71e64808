// Batch norms in training take the Relu behind them, and their gradients the Relu's: what is fused, what is not, and that neither
// changes a bit of any result.
#include <cstring>

#include "engine/graph/autodiff.h"
#include "engine/graph/passes/match.h"
#include "tests/passes/pass_test_util.h"
#include "tests/support/tested_kernels.h"

namespace norm_relu_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

constexpr int64_t kChannels = 18;
const Dims kImage = {3, kChannels, 5, 6};

/// A network with its inputs' values.
struct Network {
  Graph graph;
  Builder b{graph, all_ops()};
  std::vector<Tensor> tensors;

  Value* input(Dims dims, double low = -2, double high = 2) {
    tensors.push_back(random_tensor(dims, tensors.size() + 1, low, high));
    return b.input("in", DType::f32, Shape::of(dims));
  }
  Value* conv(Value* x) {
    return b.add("Conv", {x, input({kChannels, kChannels, 3, 3}, -0.2, 0.2)},
                 make_attributes({{"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
  }
  Node* norm_node(Value* x, bool training = true) {
    std::vector<Value*> inputs = {x};
    for (int i = 0; i < 4; ++i) inputs.push_back(input({kChannels}, i == 3 ? 0.5 : -2));
    Attributes attributes = make_attributes({{"training_mode", int64_t{training}}});
    Node* node = b.node("", "BatchNormalization", inputs, training ? 3 : 1, std::move(attributes));
    if (training)
      for (size_t i = 1; i < 3; ++i) b.output(node->output(i));
    return node;
  }
  Value* norm(Value* x, bool training = true) { return norm_node(x, training)->output(); }
  Value* relu(Value* x) { return b.add("Relu", {x}); }
  Value* sum(Value* x, Value* y) { return b.add("Add", {x, y}); }
  /// Two convolutions, and a shortcut with a third or without.
  Value* block(Value* x, bool projected) {
    Value* body = norm(conv(relu(norm(conv(x)))));
    return relu(sum(body, projected ? norm(conv(x)) : x));
  }

  void fuse() {
    REQUIRE(b.status().ok());
    require_ok(fuse_norm_relu(graph, context()));
    require_ok(verify(graph));
  }
  /// The gradients of sum(r y), r random, by all inputs but running statistics, which have none.
  void differentiate(Value* y) {
    Value* weighted = b.add("Mul", {y, input(*y->type.shape.concrete())});
    Value* loss = b.add("ReduceSum", {weighted}, make_attributes({{"keepdims", int64_t{0}}}));
    std::vector<Value*> wanted;
    for (Value* v : graph.inputs()) {
      const auto is_statistic = [&](const Node* user) {
        return std::string_view(user->op().name).starts_with("BatchNorm") && (user->input(3) == v || user->input(4) == v);
      };
      if (std::none_of(v->users().begin(), v->users().end(), is_statistic)) wanted.push_back(v);
    }
    const GradientSeed seed{loss, nullptr};
    auto gradients = add_gradients(graph, all_ops(), std::span(&seed, 1), wanted);
    if (!gradients.ok()) FAIL(gradients.error().message());
    for (Value* g : *gradients) b.output(g);
  }
};

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].byte_size() != b[i].byte_size() || std::memcmp(a[i].raw(), b[i].raw(), a[i].byte_size()) != 0) return false;
  return true;
}

using Make = std::function<Value*(Network&)>;

/// The operators after the pass, which must not change names or a bit of the outputs.
std::string fused(const Make& make) {
  Network before, after;
  before.b.output(make(before), "y");
  after.b.output(make(after), "y");
  after.fuse();
  CHECK(output_names(after.graph) == output_names(before.graph));
  CHECK(same_bits(evaluated(after.graph, after.tensors), evaluated(before.graph, before.tensors)));
  return ops_of(after.graph);
}

std::vector<Tensor> trained(const Make& make, bool fuse, const kernels::KernelTable* set, const char* topology,
                            Recompute recompute) {
  Network n;
  Value* y = make(n);
  n.b.output(y, "y");
  if (fuse) n.fuse();
  n.differentiate(n.graph.outputs().back());
  SessionOptions options;
  options.kernels = set;
  options.topology = parse_topology(topology).value();
  options.recompute = recompute;
  auto session = Session::create(std::move(n.graph), options);
  if (!session.ok()) FAIL(session.error().message());
  auto outputs = (*session)->run(n.tensors);
  if (!outputs.ok()) FAIL(outputs.error().message());
  return std::move(outputs).value();
}

Value* residual_network(Network& n) {
  Value* y = n.block(n.input(kImage), true);
  return n.block(n.block(y, false), true);
}

/// Rank 2 and 3 are never blocked.
Value* plain_network(Network& n) {
  Value* x = n.input({7, kChannels, 9});
  return n.relu(n.sum(n.norm(n.relu(n.norm(x))), x));
}

int count(const Graph& graph, std::string_view op) {
  int found = 0;
  for (const auto& node : graph.nodes()) found += op == node->op().name;
  return found;
}

}  // namespace

TEST_CASE("a training norm takes the Relu behind it") {
  CHECK(fused([](Network& n) { return n.relu(n.norm(n.input(kImage))); }) == "BatchNormRelu");
  CHECK(fused([](Network& n) { return n.relu(n.norm(n.input(kImage), false)); }) == "BatchNormalization Relu");
  CHECK(fused([](Network& n) {
          Value* y = n.norm(n.input(kImage));
          return n.sum(n.relu(y), y);
        }) == "BatchNormalization Relu Add");
  CHECK(fused([](Network& n) {
          Value* y = n.norm(n.input(kImage));
          n.b.output(y);
          return n.relu(y);
        }) == "BatchNormalization Relu");
}

TEST_CASE("with the residual between them, also one that is made later") {
  CHECK(fused([](Network& n) {
          Value* x = n.input(kImage);
          Value* y = n.norm(x);
          return n.relu(n.sum(y, n.b.add("Sigmoid", {x})));
        }) == "Sigmoid BatchNormRelu");
  CHECK(fused([](Network& n) { return n.block(n.input(kImage), true); }) ==
        "Conv BatchNormRelu Conv BatchNormalization Conv BatchNormRelu");
  CHECK(fused([](Network& n) {
          Value* y = n.norm(n.input(kImage));
          return n.relu(n.sum(y, n.input({kChannels, 1, 1})));  // broadcast
        }) == "BatchNormalization Add Relu");
  CHECK(fused([](Network& n) {
          Value* y = n.norm(n.input(kImage));
          return n.relu(n.sum(y, y));
        }) == "BatchNormalization Add Relu");
  CHECK(fused([](Network& n) {
          Value* x = n.input(kImage);
          Value* sum = n.sum(n.norm(x), x);
          return n.sum(n.relu(sum), sum);
        }) == "BatchNormalization Add Relu Add");
}

TEST_CASE("a norm whose statistics are read stays where it is") {
  CHECK(fused([](Network& n) {
          Node* norm = n.norm_node(n.input(kImage));
          n.b.output(n.b.add("Neg", {norm->output(1)}));
          return n.relu(norm->output());
        }) == "BatchNormalization Neg Relu");
}

TEST_CASE("backward no node is left of the Relu, and none of the sums of gradients in front of norms") {
  Network n;
  n.b.output(residual_network(n), "y");
  n.fuse();
  n.differentiate(n.graph.outputs().back());
  CHECK(count(n.graph, "ActivationGrad") == 0);
  CHECK(count(n.graph, "Relu") == 0);
  const int sums = count(n.graph, "Add");
  run_pass(n.graph, "norm_grad");
  CHECK(count(n.graph, "Add") == sums - 2);  // the first and second block's results; the input's stays
  int of_two = 0;
  for (const auto& node : n.graph.nodes()) of_two += is_op(node.get(), "BatchNormGrad") && node->input(7);
  CHECK(of_two == 2);
}

TEST_CASE("a sum of gradients that something else reads stays") {
  Network n;
  n.b.output(n.block(n.block(n.input(kImage), true), false), "z");
  n.fuse();
  // The gradient of the first block's result is asked for, too.
  Value* loss = n.b.add("ReduceSum", {n.graph.outputs().back()}, make_attributes({{"keepdims", int64_t{0}}}));
  const auto ends_block = [](const auto& node) { return is_op(node.get(), "BatchNormRelu") && node->input(5); };
  const auto end = std::find_if(n.graph.nodes().begin(), n.graph.nodes().end(), ends_block);
  REQUIRE(end != n.graph.nodes().end());
  Value* wanted[] = {n.graph.inputs()[0], (*end)->output()};
  const GradientSeed seed{loss, nullptr};
  auto gradients = add_gradients(n.graph, all_ops(), std::span(&seed, 1), wanted);
  REQUIRE(gradients.ok());
  for (Value* g : *gradients) n.b.output(g);
  const int sums = count(n.graph, "Add");
  run_pass(n.graph, "norm_grad");
  CHECK(count(n.graph, "Add") == sums);
}

TEST_CASE("fused and not, blocked and plain, on any number of threads and recomputed: the same bits") {
  for (const Make& make : {Make(residual_network), Make(plain_network)})
    for (const kernels::KernelTable* set : kernels::tested_kernel_sets()) {
      INFO(set->name);
      const std::vector<Tensor> wanted = trained(make, false, set, "1x1", Recompute::none);
      CHECK(same_bits(trained(make, true, set, "1x1", Recompute::none), wanted));
      CHECK(same_bits(trained(make, true, set, "1x3", Recompute::cheap), wanted));
      CHECK(same_bits(trained(make, true, set, "1x2", Recompute::segments), wanted));
    }
}
}  // namespace norm_relu_test
