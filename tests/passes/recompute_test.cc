// What a late user reads is computed again; and steps of optimisers stand behind the last reader of what they change.
#include <cstring>

#include "engine/graph/passes/live_memory.h"
#include "engine/graph/text.h"
#include "tests/passes/pass_test_util.h"

namespace recompute_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

PassContext with(Recompute level) {
  PassContext out = context();
  out.recompute = level;
  return out;
}

Graph parsed(std::string_view text) {
  Result<Graph> graph = parse_graph(text, all_ops());
  if (!graph.ok()) FAIL(graph.error().message());
  return std::move(graph).value();
}

/// The text after pass `recompute`.
std::string after(std::string_view text, Recompute level = Recompute::cheap) {
  Graph graph = parsed(text);
  run_pass(graph, "recompute", with(level));
  return print_graph(graph);
}

/// The same bits with and without, and a smaller arena.
void check_session(const Graph& graph, const std::vector<Tensor>& inputs, Recompute level) {
  std::vector<Tensor> results[2];
  int64_t bytes[2];
  for (int again = 0; again < 2; ++again) {
    SessionOptions options;
    options.topology = parse_topology(again ? "1x3" : "1x1").value();
    options.recompute = again ? level : Recompute::none;
    auto session = Session::create(graph.clone(), options);
    if (!session.ok()) FAIL(session.error().message());
    auto outputs = (*session)->run(inputs);
    if (!outputs.ok()) FAIL(outputs.error().message());
    results[again] = std::move(outputs).value();
    bytes[again] = (*session)->plans()[0]->arena_bytes;
  }
  for (size_t i = 0; i < results[0].size(); ++i)
    CHECK(std::memcmp(results[0][i].raw(), results[1][i].raw(), results[0][i].byte_size()) == 0);
  CHECK(bytes[1] < bytes[0]);
}

// Two layers and something like their backward pass, which reads a layer's result before what it is made from.
constexpr const char* kLayers = R"(graph "layers"
input %x: float32[4, 64]
input %w: float32[64, 64]
%y1: float32[4, 64] = MatMul(%x, %w) @"one"
%r1: float32[4, 64] = Relu(%y1)
%y2: float32[4, 64] = MatMul(%r1, %w) @"two"
%r2: float32[4, 64] = Relu(%y2)
%y3: float32[4, 64] = MatMul(%r2, %w) @"three"
%g2: float32[4, 64] = Mul(%y3, %r2) @"g2"
%h2: float32[4, 64] = Mul(%g2, %y2) @"h2"
%g1: float32[4, 64] = Mul(%h2, %r1) @"g1"
%h1: float32[4, 64] = Mul(%g1, %y1) @"h1"
output %h1
)";

/// Residual blocks, and something like their backward pass.
std::string blocks(int count) {
  std::string out = "graph \"blocks\"\ninput %x: float32[4, 64]\ninput %w: float32[64, 64]\n";
  const auto add = [&](const std::string& name, const std::string& what) {
    out += fmt::format("%{}: float32[4, 64] = {} @\"{}\"\n", name, what, name);
  };
  add("x0", "Relu(%x)");
  for (int k = 1; k <= count; ++k) {
    add(fmt::format("u{}", k), fmt::format("MatMul(%x{}, %w)", k - 1));
    add(fmt::format("r{}", k), fmt::format("Sigmoid(%u{})", k));
    add(fmt::format("v{}", k), fmt::format("MatMul(%r{}, %w)", k));
    add(fmt::format("x{}", k), fmt::format("Add(%v{}, %x{})", k, k - 1));
  }
  add("last", fmt::format("MatMul(%x{}, %w)", count));
  std::string gradient = "last";
  for (int k = count; k >= 1; --k) {
    add(fmt::format("a{}", k), fmt::format("Mul(%{}, %v{})", gradient, k));
    add(fmt::format("b{}", k), fmt::format("Mul(%a{}, %r{})", k, k));
    add(fmt::format("c{}", k), fmt::format("Mul(%b{}, %u{})", k, k));
    gradient = fmt::format("g{}", k);
    add(gradient, fmt::format("MatMul(%c{}, %w)", k));
  }
  return out + "output %g1\n";
}

constexpr const char* kNorm = R"(graph "norm"
input %x: float32[2, 8, 5, 5]
input %scale: float32[8]
input %bias: float32[8]
input %mean: float32[8]
input %variance: float32[8]
%c: float32[2, 8, 5, 5] = AveragePool(%x) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]}
%y: float32[2, 8, 5, 5], %m: float32[8], %v: float32[8], %bm: float32[8], %bv: float32[8] = )"
                               R"(BatchNormalization(%c, %scale, %bias, %mean, %variance) {training_mode = 1}
%r: float32[2, 8, 5, 5] = Relu(%y)
%p: float32[2, 8, 5, 5] = AveragePool(%r) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} @"pool"
%q: float32[2, 8, 5, 5] = AveragePool(%p) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} @"pool"
%g: float32[2, 8, 5, 5] = Mul(%q, %r) @"late"
%h: float32[2, 8, 5, 5] = Mul(%g, %c) @"later"
output %h
output %m
output %v
)";

std::vector<Tensor> norm_inputs() {
  return {random_tensor({2, 8, 5, 5}, 1), random_tensor({8}, 2), random_tensor({8}, 3), random_tensor({8}, 4),
          random_tensor({8}, 5, 1, 2)};
}

}  // namespace

TEST_CASE("memory of a graph: views and what is computed in place share it") {
  const Graph graph = parsed(R"(graph "memory"
input %x: float32[4, 64]
const %shape: int64[2] = {64, 4}
%a: float32[4, 64] = Sigmoid(%x)
%b: float32[64, 4] = Reshape(%a, %shape)
%c: float32[64, 4] = Relu(%b)
%d: float32[64, 4] = Mul(%c, %c)
%e: float32[64, 4] = Add(%d, %c)
output %e
)");
  const LiveMemory memory(graph);
  const std::vector<Node*>& nodes = memory.nodes();
  const auto storage = [&](size_t node) { return memory.storage_of(nodes[node]->output()); };
  CHECK(storage(0) == storage(1));
  CHECK(storage(1) == storage(2));   // nobody reads a or b any more
  CHECK(storage(2) != storage(3));   // c is read again
  CHECK(storage(4) == -1);           // where the caller wants it
  CHECK(memory.overwritten_at(nodes[0]->output()) == 2);
  CHECK(memory.overwritten_at(nodes[2]->output()) == 5);
  CHECK(memory.live() == std::vector<int64_t>{1024, 1024, 1024, 2048, 2048});
  CHECK(memory.peak_at() == 3);
}

TEST_CASE("an activation is computed again in front of its late use") {
  // Only r1 is idle where most is live; r2 is read there.
  std::string expected = kLayers;
  const std::string late = "%g1: float32[4, 64] = Mul(%h2, %r1)";
  const std::string again =
      "%Relu.again: float32[4, 64] = Relu(%y1) @\"Relu.again\"\n%g1: float32[4, 64] = Mul(%h2, %Relu.again)";
  expected.replace(expected.find(late), late.size(), again);
  CHECK(after(kLayers) == expected);
  CHECK(after(kLayers, Recompute::none) == kLayers);
  check_session(parsed(kLayers), {random_tensor({4, 64}, 1), random_tensor({64, 64}, 2)}, Recompute::cheap);
}

TEST_CASE("a training norm is computed again from the batch's mean and variance") {
  Graph graph = parsed(kNorm);
  run_pass(graph, "recompute", with(Recompute::cheap));
  CHECK(ops_of(graph) == "AveragePool BatchNormalization Relu AveragePool AveragePool BatchNormalization Relu Mul Mul");
  const Node& late = node_of(graph, "Mul");
  const Node& norm = *late.input(1)->producer()->input(0)->producer();
  CHECK(norm.attributes.get_int("training_mode") == 0);
  CHECK(norm.outputs().size() == 1);
  CHECK(norm.input(3)->name() == "bm");
  CHECK(norm.input(4)->name() == "bv");
  check_session(parsed(kNorm), norm_inputs(), Recompute::cheap);
}

TEST_CASE("what its sources do not outlive, or what may be overwritten, is kept") {
  std::string text = kLayers;
  const auto replace = [&](std::string_view what, std::string_view by) { text.replace(text.find(what), what.size(), by); };
  SECTION("the source is not read later") {
    replace("Mul(%g1, %y1)", "Mul(%g1, %g1)");
    CHECK(after(text) == text);
  }
  SECTION("the source is an input that is stepped in between") {
    replace("Relu(%y1)", "Relu(%x)");
    replace("%g1: float32[4, 64] =", "%new: float32[4, 64] = Sub(%x, %h2) @\"step\"\n%g1: float32[4, 64] =");
    text += "output %new\n";
    CHECK(after(text) == text);
  }
}

TEST_CASE("what the number of its outputs decides is kept: a copy has one") {
  for (const char* attributes : {"{axis = 0}", "{axis = 0, num_outputs = 2}"}) {
    std::string text = kLayers;
    const std::string late = "%r1: float32[4, 64] = Relu(%y1)";
    text.replace(text.find(late), late.size(),
                 "%both: float32[8, 64] = Concat(%y1, %x) {axis = 0}\n%r1: float32[4, 64], %rest: float32[4, 64] = Split(%both) ");
    text.insert(text.find("\n%y2"), attributes);
    text += "%end: float32[8, 64] = Relu(%both)\noutput %end\n";
    CHECK(after(text) == print_graph(parsed(text)));
  }
}

TEST_CASE("whole blocks are computed again from what lies between them") {
  const Graph graph = parsed(blocks(3));
  Graph done = graph.clone();
  run_pass(done, "recompute", with(Recompute::segments));
  std::string names;
  for (const auto& node : done.nodes()) names += node->name() + " ";
  // x1 and x2 are kept. Of the last block, whose gradients come first, r3 is quickly made of u3, and so is x0 of the input.
  CHECK(names ==
        "x0 u1 r1 v1 x1 u2 r2 v2 x2 u3 r3 v3 x3 last a3 r3.again b3 c3 g3 u2.again r2.again v2.again a2 b2 c2 g2 "
        "x0.again u1.again r1.again v1.again a1 b1 c1 g1 ");
  CHECK(LiveMemory(done).peak() < LiveMemory(graph).peak());
  check_session(graph, {random_tensor({4, 64}, 1), random_tensor({64, 64}, 2, -0.1, 0.1)}, Recompute::segments);
}

TEST_CASE("steps stand behind the last reader of what they change") {
  Graph graph = parsed(R"(graph "steps"
input %x: float32[4, 4]
input %rate: float32[]
input %step: int64[]
input %w1: float32[4, 4]
input %w2: float32[4, 4]
%a: float32[4, 4] = MatMul(%x, %w1) @"a"
%g2: float32[4, 4] = MatMul(%a, %x) @"g2"
%b: float32[4, 4] = MatMul(%a, %w2) @"b"
%g1: float32[4, 4] = MatMul(%b, %x) @"g1"
%c: float32[4, 4] = MatMul(%b, %g1) @"c"
%n1: float32[4, 4] = svengine.Sgd(%rate, %step, %w1, %g1) {norm_coefficient = 0.0} @"step1"
%n2: float32[4, 4] = svengine.Sgd(%rate, %step, %w2, %g2) {norm_coefficient = 0.0} @"step2"
output %c
output %n1
output %n2
)");
  run_pass(graph, "updates");
  std::string names;
  for (const auto& node : graph.nodes()) names += node->name() + " ";
  CHECK(names == "a g2 b step2 g1 c step1 ");  // step 2 may write w2 once b is there, step 1 waits for c, which reads g1
}
}  // namespace recompute_test
