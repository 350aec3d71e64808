// What random graphs have found and no other test did: each as the smallest graph that failed.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "engine/graph/text.h"
#include "tests/passes/pass_test_util.h"

namespace found_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

Graph parsed(std::string_view text) {
  Result<Graph> graph = parse_graph(text, all_ops());
  if (!graph.ok()) FAIL(graph.error().message());
  return std::move(graph).value();
}

/// A session computes what the nodes compute one by one.
void check_session(std::string_view text, const std::vector<Tensor>& inputs) {
  check_close(session_run(parsed(text), inputs), evaluated(parsed(text), inputs), "session");
}

}  // namespace

TEST_CASE("a value that decides shapes may come at run time although the shape is known without it") {
  // Of a scalar there is nothing to reduce or pad, and a gradient has the shape of what it is the gradient of.
  const Tensor none = Tensor::allocate(DType::i64, {0}).value();
  check_session(
      "graph \"g\"\ninput %x: float32[]\ninput %axes: int64[n]\n%y: float32[] = ReduceSum(%x, %axes) {keepdims = 1}\noutput %y\n",
      {Tensor::scalar(3.0f), none});
  check_session("graph \"g\"\ninput %x: float32[]\ninput %pads: int64[n]\n%y: float32[] = Pad(%x, %pads)\noutput %y\n",
                {Tensor::scalar(3.0f), none});
  check_session(
      "graph \"g\"\ninput %dy: float32[2, 5]\ninput %pads: int64[4]\ninput %x: float32[2, 3]\n"
      "%y: float32[2, 3] = svengine.PadGrad(%dy, %pads, -, -, %x) {mode = \"edge\"}\noutput %y\n",
      {random_tensor({2, 5}, 1), Tensor::of<int64_t>({4}, {0, 1, 0, 1}), random_tensor({2, 3}, 2)});
}

TEST_CASE("a kernel of unknown size gives an image of unknown size") {
  for (const char* op : {"Conv", "ConvTranspose"}) {
    Graph graph;
    Builder b(graph, all_ops());
    Value* x = b.input("x", DType::f32, Shape{2, 3, 9, 8});
    Value* y = b.add(op, {x, b.input("w", DType::f32, Shape{3, 3, Dim("h"), 3})});
    require_ok(b.status());
    INFO(op);
    CHECK(!y->type.shape[2].is_static());
    b.output(b.add("Add", {y, b.input("z", DType::f32, Shape{2, 3, 7, 1})}));
    require_ok(b.status());
    if (op == std::string_view("Conv")) {
      const Tensor w = random_tensor({3, 3, 3, 3}, 2);
      CHECK(session_run(std::move(graph), {random_tensor({2, 3, 9, 8}, 1), w, random_tensor({2, 3, 7, 1}, 3)})[0].dims() ==
            Dims{2, 3, 7, 6});
    }
  }
}

TEST_CASE("of zeros +0 is the larger one on every kernel set, which a Reciprocal tells") {
  const Tensor x = Tensor::of<float>({2}, {-0.0f, 0.0f});
  for (const kernels::KernelTable* set : kernels::all_kernel_sets()) {
    const auto reciprocal = [&](std::string_view extreme) {
      SessionOptions options;
      options.kernels = set;
      auto session = Session::create(parsed(fmt::format("graph \"g\"\ninput %x: float32[2]\nconst %zero: float32[] = {{0}}\n%e: float32[2] = {}\n"
                                                        "%y: float32[2] = Reciprocal(%e)\noutput %y\n", extreme)),
                                     options);
      if (!session.ok()) FAIL(session.error().message());
      return (*session)->run({x}).value()[0];
    };
    INFO(set->name);
    for (const char* larger : {"Relu(%x)", "Max(%x, %zero)", "Max(%zero, %x)", "Clip(%x, %zero)"}) {
      INFO(larger);
      const Tensor y = reciprocal(larger);
      CHECK(y.data<float>()[0] == HUGE_VALF);
      CHECK(y.data<float>()[1] == HUGE_VALF);
    }
    for (const char* smaller : {"Min(%x, %zero)", "Min(%zero, %x)"}) {
      const Tensor y = reciprocal(smaller);
      CHECK(y.data<float>()[0] == -HUGE_VALF);
      CHECK(y.data<float>()[1] == HUGE_VALF);
    }
  }
}

TEST_CASE("a residual of com.microsoft.FusedConv does not broadcast where only a larger kernel makes the image so small") {
  const auto runs = [](int64_t c, bool optimised) {
    SessionOptions options;
    options.optimize = optimised;
    auto session = Session::create(
        parsed("graph \"g\"\ninput %x: float32[n, c, s, s]\ninput %w: float32[m, c, c, c]\ninput %z: float32[n, m, s, s]\n"
               "const %c: float32[5] = {0.5, -1, 2, 3, -4}\n"
               "%y: float32[n, m, ?, ?] = com.microsoft.FusedConv(%x, %w, %c, %z) {pads = [1, 1, 1, 1], activation = \"Relu\"}\noutput %y\n"),
        options);
    if (!session.ok()) FAIL(session.error().message());
    return (*session)->run({random_tensor({1, c, 2, 2}, 1), random_tensor({5, c, c, c}, 2), random_tensor({1, 5, 2, 2}, 3)}).ok();
  };
  for (const bool optimised : {true, false}) {
    CHECK(runs(3, optimised));
    CHECK(!runs(4, optimised));
  }
}

TEST_CASE("a Resize by sizes may have scales of unknown length, which then are empty") {
  const Tensor sizes = Tensor::of<int64_t>({4}, {1, 2, 7, 5}), none = Tensor::allocate(DType::f32, {0}).value();
  const Tensor image = random_tensor({1, 2, 3, 3}, 1);
  const auto build_with = [&](Dim length) {
    return build([&](Builder& b) {
      Value* scales = b.input("scales", DType::f32, Shape{length});
      b.output(b.add("Resize", {b.input("x", DType::f32, Shape{1, 2, 3, 3}), nullptr, scales, b.constant(sizes)}));
    });
  };
  const std::vector<Tensor> got = session_run(build_with(Dim("n")), {none, image});
  check_close(got, session_run(build_with(Dim(0)), {none, image}), "unknown length");
  CHECK(got[0].dims() == Dims{1, 2, 7, 5});
}

TEST_CASE("a list of inputs has no gaps") {
  for (const char* op : {"Min", "Max", "Sum", "Mean", "Concat"}) {
    Graph graph;
    Builder b(graph, all_ops());
    Value* x = b.input("x", DType::f32, Shape{3});
    b.add(op, {x, nullptr, x}, make_attributes({{"axis", int64_t{0}}}));
    INFO(op);
    REQUIRE(!b.status().ok());
    CHECK(b.status().error().message().find("absent") != std::string::npos);
  }
}

namespace {

/// Recomputation changes no bit, and reads nothing before it is made.
void check_recomputed(std::string_view text, size_t inputs, const Dims& dims) {
  PassContext with = context();
  with.recompute = Recompute::cheap;
  Graph graph = parsed(text);
  run_pass(graph, "recompute", with);
  std::vector<Tensor> tensors;
  for (uint64_t seed = 1; seed <= inputs; ++seed) tensors.push_back(random_tensor(dims, seed));
  const std::vector<Tensor> expected = evaluated(parsed(text), tensors), got = evaluated(graph, tensors);
  for (size_t i = 0; i < expected.size(); ++i) CHECK(std::memcmp(got[i].raw(), expected[i].raw(), got[i].byte_size()) == 0);
}

}  // namespace

TEST_CASE("what is made after the peak, in the place of an earlier value, is not computed again before its inputs are there") {
  check_recomputed(R"(graph "a chain in one place"
input %a: float32[2, 9]
input %b: float32[2, 9]
const %size: int64[3] = {40, 2, 9}
%sum: float32[2, 9] = Add(%a, %b)
%big: float32[40, 2, 9] = Expand(%a, %size)
%kept: float32[40, 2, 9] = HardSigmoid(%big)
%soft: float32[2, 9] = Softplus(%sum)
%tanh: float32[2, 9] = Tanh(%soft)
%product: float32[2, 9] = Mul(%a, %b)
%last: float32[2, 9] = Add(%tanh, %product)
%y: float32[2, 9] = Mul(%b, %last)
output %kept
output %y
)",
                   2, {2, 9});
}

TEST_CASE("what is computed again, and read by what is computed again later, stays") {
  constexpr const char* kText = R"(graph "normalisation and its gradient"
input %x: float32[1, 17, 9, 3]
input %a: float32[1, 17, 9, 3]
input %b: float32[1, 17, 9, 3]
input %c: float32[1, 17, 9, 3]
const %axes: int64[2] = {2, 3}
const %epsilon: float32[] = {1e-05}
%mean: float32[1, 17, 1, 1] = ReduceMean(%x, %axes)
%centred: float32[1, 17, 9, 3] = Sub(%x, %mean)
%square: float32[1, 17, 9, 3] = Mul(%centred, %centred)
%variance: float32[1, 17, 1, 1] = ReduceMean(%square, %axes)
%sum: float32[1, 17, 1, 1] = Add(%variance, %epsilon)
%deviation: float32[1, 17, 1, 1] = Sqrt(%sum)
%inverse: float32[1, 17, 1, 1] = Reciprocal(%deviation)
%norm: float32[1, 17, 9, 3] = Mul(%centred, %inverse)
%product: float32[1, 17, 9, 3] = Mul(%a, %norm)
%share: float32[1, 17, 1, 1] = ReduceMean(%product, %axes)
%part: float32[1, 17, 9, 3] = Mul(%norm, %share)
%rest: float32[1, 17, 9, 3] = Sub(%b, %part)
%scaled: float32[1, 17, 9, 3] = Mul(%inverse, %rest)
%dx: float32[1, 17, 9, 3] = Add(%scaled, %c)
output %dx
)";
  check_recomputed(kText, 4, {1, 17, 9, 3});
}

TEST_CASE("a blocked MaxPool whose indices nobody reads writes none") {
  const std::string_view text =
      "graph \"g\"\ninput %x: float32[3, 32, 12, 6]\ninput %w: float32[9, 32, 1, 1]\n%c: float32[3, 9, 12, 6] = Conv(%x, %w)\n"
      "%y: float32[3, 9, 12, 2], %i: int64[3, 9, 12, 2] = MaxPool(%c) {strides = [1, 2], kernel_shape = [1, 3]}\noutput %y\n";
  const std::vector<Tensor> inputs = {random_tensor({3, 32, 12, 6}, 1), random_tensor({9, 32, 1, 1}, 2)};
  for (const kernels::KernelTable* set : kernels::all_kernel_sets()) {
    SessionOptions options;
    options.kernels = set;
    Result<std::unique_ptr<Session>> session = Session::create(parsed(text), options);
    REQUIRE(session.ok());
    Result<std::vector<Tensor>> outputs = (*session)->run(inputs);
    REQUIRE(outputs.ok());
    check_close(*outputs, evaluated(parsed(text), inputs), set->name);
  }
}

TEST_CASE("shapes that folding makes known are held against what was inferred without them") {
  // %matmul is [?, 3] until the shape of %x is folded, and %y [2, 3] from the beginning.
  const std::string_view text = R"(graph "rows that the file knows nothing of"
input %x: float32[*]
const %first: int64[1] = {0}
const %rest: int64[1] = {-1}
const %w: float32[4, 3] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
const %b: float32[2, 3] = {1, 2, 3, 4, 5, 6}
%shape: int64[?] = Shape(%x)
%rows: int64[1] = Gather(%shape, %first)
%sizes: int64[2] = Concat(%rows, %rest) {axis = 0}
%matrix: float32[?, ?] = Reshape(%x, %sizes)
%matmul: float32[?, 3] = MatMul(%matrix, %w)
%y: float32[2, 3] = Add(%matmul, %b)
output %y
)";
  for (const bool optimize : {true, false}) {
    SessionOptions options;
    options.optimize = optimize;
    const std::unique_ptr<Session> session = Session::create(parsed(text), options).value();
    const auto refused = session->run(std::vector<Tensor>{random_tensor({5, 2, 2}, 1)});
    REQUIRE(!refused.ok());
    CHECK_THAT(refused.error().message(), Catch::Matchers::Contains("5x3 and 2x3 do not broadcast"));
    for (const int64_t rows : {1, 2}) CHECK(session->run(std::vector<Tensor>{random_tensor({rows, 4}, 1)}).ok());
  }
}

TEST_CASE("an index into rows without columns is refused, not left out") {
  const auto session = Session::create(parsed("graph \"g\"\ninput %x: float64[2, ?]\ninput %y: int64[1]\n"
                                              "%z: float64[2, 1] = ai.onnx.ml.ArrayFeatureExtractor(%x, %y)\noutput %z\n"))
                           .value();
  const Tensor none = Tensor::allocate(DType::f64, {2, 0}).value(), first = Tensor::of<int64_t>({1}, {0});
  const auto refused = session->run(std::vector<Tensor>{none, first});
  REQUIRE(!refused.ok());
  CHECK_THAT(refused.error().message(), Catch::Matchers::Contains("outside the last dimension"));
}

TEST_CASE("an index outside is refused where there is nothing to read or write, too") {
  struct Case {
    const char* node;
    Dims x, indices, updates;
    std::vector<int64_t> right;  // none is right where the dimension is 0
  };
  const Case cases[] = {{"Gather(%x, %i) {axis = 1}", {0, 7}, {1}, {}, {6}},
                        {"Gather(%x, %i) {axis = 1}", {7, 0}, {1}, {}, {}},
                        {"ReverseSequence(%x, %i)", {0, 1}, {1}, {}, {0}},
                        {"ai.onnx.ml.ArrayFeatureExtractor(%x, %i)", {0, 7}, {1}, {}, {6}},
                        {"GatherND(%x, %i)", {7, 0}, {1, 1}, {}, {6}},
                        {"GatherND(%x, %i)", {0, 7}, {1, 1}, {}, {}},
                        {"ScatterElements(%x, %i, %u)", {0, 7}, {1, 7}, {1, 7}, {}},
                        {"ScatterND(%x, %i, %u)", {7, 0}, {1, 1}, {1, 0}, {6}}};
  for (const Case& test : cases) {
    const Graph graph = parsed(fmt::format("graph \"g\"\ninput %x: float32[?, ?]\ninput %i: int64[{}]\ninput %u: float32[?, ?]\n"
                                           "%y: float32[*] = {}\noutput %y\n", test.indices.size() == 1 ? "?" : "?, ?", test.node));
    INFO(test.node << to_string(test.x));
    for (const bool optimised : {true, false}) {
      SessionOptions options;
      options.optimize = optimised;
      const auto session = Session::create(graph.clone(), options).value();
      const auto runs = [&](int64_t index) {
        const std::vector<int64_t> indices(static_cast<size_t>(element_count(test.indices)), index);
        const Dims updates = test.updates.empty() ? Dims{1, 1} : test.updates;
        return session->run({random_tensor(test.x, 1), Tensor::of<int64_t>(test.indices, std::span(indices)), random_tensor(updates, 2)}).ok();
      };
      CHECK(!runs(7));
      for (const int64_t index : test.right) CHECK(runs(index));
    }
  }
}

TEST_CASE("a composite node refuses what it must although only a part of it is asked for, which would not") {
  const std::string text = "graph \"g\"\ninput %x: float32[n, h, w, c]\ninput %beta: float32[c]\ninput %skip: float32[n, c]\n"
                           "const %gamma: float32[6] = {1, 2, 3, 4, 5, 6}\n%y: float32[n, h, w, c], %sum: float32[n, h, w, c] = "
                           "com.microsoft.SkipGroupNorm(%x, %gamma, %beta, %skip) {groups = 2, activation = 1}\noutput %sum\n";
  for (const bool optimised : {true, false}) {
    SessionOptions options;
    options.optimize = optimised;
    const auto session = Session::create(parsed(text), options).value();
    const auto runs = [&](int64_t c) {
      return session->run({random_tensor({2, 3, 4, c}, 1), random_tensor({c}, 2), random_tensor({2, c}, 3)}).ok();
    };
    CHECK(runs(6));
    CHECK(!runs(1));
  }
}

TEST_CASE("an Elu of -0 is -0, and takes no alpha, as of a number above 0") {
  for (const kernels::KernelTable* set : kernels::all_kernel_sets()) {
    SessionOptions options;
    options.kernels = set;
    for (const char* node : {"Elu(%x) {alpha = nan}", "Selu(%x) {alpha = nan}", "Celu(%x) {alpha = inf}"}) {
      auto session =
          Session::create(parsed(fmt::format("graph \"g\"\ninput %x: float32[3]\n%y: float32[3] = {}\noutput %y\n", node)), options).value();
      const Tensor y = session->run({Tensor::of<float>({3}, {-0.0f, 0.0f, 2.0f})}).value()[0];
      INFO(set->name << ' ' << node);
      CHECK((y.data<float>()[0] == 0 && std::signbit(y.data<float>()[0])));
      CHECK((y.data<float>()[1] == 0 && !std::signbit(y.data<float>()[1])));
      CHECK(y.data<float>()[2] >= 2);
    }
  }
}

TEST_CASE("a convolution's attributes that do not fit the image are refused before its weights' rank is known") {
  for (const char* op : {"Conv", "ConvTranspose"}) {
    const std::string text = fmt::format(
        "graph \"g\"\ninput %x: float32[1, 4, 5, 5]\ninput %w: float32[*]\nconst %p: int64[8] = {{0, 0, 1, 1, 0, 0, 1, 1}}\n"
        "%padded: float32[1, 4, 7, 7] = Pad(%x, %p)\n%y: float32[*] = {}(%padded, %w) {{pads = [0, 0, 0]}}\noutput %y\n", op);
    Result<Graph> graph = parse_graph(text, all_ops());
    INFO(op);
    REQUIRE(!graph.ok());
    CHECK_THAT(graph.error().message(), Catch::Matchers::Contains("'pads' has 3 values, needs 4"));
  }
}

TEST_CASE("lengths beyond the steps are refused where there are no steps, too") {
  for (const auto& [op, gates] : {std::pair("LSTM", 4), std::pair("GRU", 3), std::pair("RNN", 1)}) {
    const auto session = Session::create(parsed(fmt::format("graph \"g\"\ninput %x: float32[0, 2, 3]\ninput %w: float32[1, {0}, 3]\n"
                                                            "input %r: float32[1, {0}, 5]\ninput %n: int32[2]\n"
                                                            "%y: float32[*] = {1}(%x, %w, %r, -, %n) {{hidden_size = 5}}\noutput %y\n",
                                                            5 * gates, op)),
                                         {}).value();
    const auto runs = [&, gates = gates](int32_t length) {
      return session->run({random_tensor({0, 2, 3}, 1), random_tensor({1, 5 * gates, 3}, 2), random_tensor({1, 5 * gates, 5}, 3),
                           Tensor::of<int32_t>({2}, {0, length})}).ok();
    };
    INFO(op);
    CHECK(runs(0));
    CHECK(!runs(1));
    CHECK(!runs(-1));
  }
}

TEST_CASE("a kernel_shape that the weights do not have is refused wherever there are both") {
  for (const char* node : {"Conv(%x, %w)", "ConvTranspose(%y, %w)", "svengine.ConvGradWeights(%y, %x, %w)", "svengine.ConvGradInput(%y, %w, %x)"}) {
    for (const char* size : {"1", "s"}) {
      const std::string text = fmt::format(
          "graph \"g\"\ninput %x: float32[2, 5, 6, 6]\ninput %y: float32[2, 5, 4, 4]\ninput %w: float32[5, 5, {0}, {0}]\n"
          "%z: float32[*] = {1} {{kernel_shape = [3, 3]}}\noutput %z\n",
          size, node);
      INFO(text);
      Result<Graph> graph = parse_graph(text, all_ops());
      if (*size != 's') {
        CHECK(!graph.ok());
        continue;
      }
      REQUIRE(graph.ok());
      const auto session = Session::create(std::move(graph).value(), {}).value();
      const auto runs = [&](int64_t k) {
        return session->run({random_tensor({2, 5, 6, 6}, 1), random_tensor({2, 5, 4, 4}, 2), random_tensor({5, 5, k, k}, 3)}).ok();
      };
      CHECK(runs(3));
      CHECK(!runs(1));
      CHECK(!runs(4));
    }
  }
}

TEST_CASE("a zero point of unknown length may be one number, as the scale is") {
  check_session("graph \"g\"\ninput %x: float32[?]\ninput %scale: float32[]\ninput %zero: int8[d]\n"
                "%y: int8[?] = QuantizeLinear(%x, %scale, %zero) {axis = -1}\noutput %y\n",
                {random_tensor({3}, 1), Tensor::scalar(0.1f), random_tensor_of(DType::i8, {1}, 2, -9, 9)});
}

TEST_CASE("scales that give no byte back are quantised by as written: 0, negative ones, those that overflow") {
  for (const char* scale : {"0.0", "-0.0", "-0.5", "3e38", "inf", "nan"})
    for (const char* node : {"MaxPool(%r) {kernel_shape = [2]}", "Concat(%r, %r) {axis = 1}", "Transpose(%r) {perm = [0, 2, 1]}", "Relu(%r)",
                             "Clip(%r, %low)", "Conv(%r, %w)", "Add(%r, %r)", "ReduceMean(%r)"}) {
      const std::string text = fmt::format(
          "graph \"g\"\ninput %x: uint8[1, 1, 5]\nconst %s: float32[] = {{{}}}\nconst %z: uint8[] = {{189}}\nconst %low: float32[] = {{-2.0}}\n"
          "const %bytes: int8[1, 1, 1] = {{3}}\nconst %one: float32[] = {{0.5}}\n%w: float32[1, 1, 1] = DequantizeLinear(%bytes, %one)\n"
          "%r: float32[1, 1, 5] = DequantizeLinear(%x, %s, %z)\n%f: float32[*] = {}\n%y: uint8[*] = QuantizeLinear(%f, %s, %z)\noutput %y\n",
          scale, node);
      INFO(text);
      check_session(text, {random_tensor_of(DType::u8, {1, 1, 5}, 1, 0, 255)});
    }
}

TEST_CASE("a scale of unknown length may be one number, for which the axis says nothing") {
  check_session(
      "graph \"g\"\ninput %x: int8[5, 1]\ninput %scale: float32[d]\ninput %zero: int8[1]\n"
      "%y: float32[5, 1] = DequantizeLinear(%x, %scale, %zero) {axis = 4611686018427387904}\noutput %y\n",
      {random_tensor_of(DType::i8, {5, 1}, 1, -9, 9), random_tensor_of(DType::f32, {1}, 2, 0.1, 0.9), random_tensor_of(DType::i8, {1}, 3, -9, 9)});
}

TEST_CASE("a constant without elements is no bias of a product without columns") {
  check_session("graph \"g\"\ninput %x: float32[1, 1, 1]\nconst %w: float32[1, 0] = {}\nconst %c: float32[1, 0, 0] = {}\n"
                "%m: float32[1, 1, 0] = MatMul(%x, %w)\n%y: float32[1, 0, 0] = Add(%m, %c)\noutput %y\n", {random_tensor({1, 1, 1}, 1)});
}
}  // namespace found_test
