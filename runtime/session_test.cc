#include "runtime/session.h"

#include <catch2/catch.hpp>

#include "engine/graph/builder.h"
#include "engine/kernels/kernel_table.h"
#include "engine/ops/registry.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"

namespace session_test {
using namespace svengine;
using svengine::tests::random_tensor;

namespace {

Attributes pads(int64_t p) { return make_attributes({{"pads", std::vector<int64_t>{p, p, p, p}}}); }

/// Convolutions with a residual, pooling, a product, softmax: every parallel kernel family in a small network.
Graph small_network() {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("image", DType::f32, Shape{Dim("N"), 3, 16, 16});
  Value* stem = b.add("Relu", {b.add("Conv", {x, b.constant(random_tensor({24, 3, 3, 3}, 1))}, pads(1))});
  Value* conv = b.add("Conv", {stem, b.constant(random_tensor({24, 24, 3, 3}, 2)), b.constant(random_tensor({24}, 3))}, pads(1));
  Value* sum = b.add("Relu", {b.add("Add", {conv, stem})});
  Value* pool = b.add("GlobalAveragePool", {sum});
  Value* flat = b.add("Flatten", {pool});
  Value* logits = b.add("Gemm", {flat, b.constant(random_tensor({10, 24}, 4)), b.constant(random_tensor({10}, 5))},
                        make_attributes({{"transB", int64_t{1}}}));
  b.output(b.add("Softmax", {logits}), "probabilities");
  b.output(b.add("ReduceMean", {sum, b.integers({2, 3})}), "means");
  REQUIRE(b.status().ok());
  return graph;
}

std::vector<Tensor> run_with(const std::string& topology, const kernels::KernelTable* set, const Tensor& image) {
  SessionOptions options;
  options.topology = parse_topology(topology).value();
  options.kernels = set;
  auto session = Session::create(small_network(), options);
  REQUIRE(session.ok());
  auto outputs = (*session)->run({image});
  if (!outputs.ok()) FAIL(outputs.error().message());
  return std::move(outputs).value();
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dims() == b.dims() && std::memcmp(a.raw(), b.raw(), a.byte_size()) == 0;
}

}  // namespace

TEST_CASE("inputs may lie anywhere, as in the middle of a mapped file") {
  const Tensor image = random_tensor({3, 3, 16, 16}, 9);
  const auto storage = std::make_shared<std::vector<std::byte>>(image.byte_size() + 1);
  std::memcpy(storage->data() + 1, image.raw(), image.byte_size());
  const Tensor crooked = Tensor::wrap(DType::f32, image.dims(), storage->data() + 1, storage);
  REQUIRE(!crooked.is_aligned());
  const std::vector<Tensor> straight = run_with("1x2", nullptr, image), other = run_with("1x2", nullptr, crooked);
  for (size_t i = 0; i < straight.size(); ++i) CHECK(same_bits(straight[i], other[i]));
}

TEST_CASE("results are bitwise equal for any number of threads") {
  const Tensor image = random_tensor({3, 3, 16, 16}, 9);
  for (const kernels::KernelTable* set : kernels::all_kernel_sets()) {
    const std::vector<Tensor> one = run_with("1x1", set, image);
    for (const char* topology : {"1x2", "1x3", "1x12", "4x12"}) {
      const std::vector<Tensor> many = run_with(topology, set, image);
      for (size_t i = 0; i < one.size(); ++i) CHECK(same_bits(one[i], many[i]));
    }
  }
}

TEST_CASE("Winograd is chosen unless it is forbidden, and its results do not depend on the threads either") {
  for (const kernels::KernelTable* set : kernels::available_kernel_sets())
    for (int64_t channels : {64, 160}) {  // weights transformed beforehand, and on the way
      Graph graph;
      Builder b(graph, all_ops());
      Value* x = b.input("x", DType::f32, Shape{1, channels, 17, 15});
      b.output(b.add("Conv", {x, b.constant(random_tensor({channels, channels, 3, 3}, 1))}, pads(1)), "y");
      const Tensor input = random_tensor({1, channels, 17, 15}, 2);
      std::vector<Tensor> results;
      for (const char* topology : {"1x1", "1x3", "4x12", "exact"}) {
        SessionOptions options;
        options.exact_convolution = topology == std::string("exact");
        options.topology = parse_topology(options.exact_convolution ? "1x2" : topology).value();
        options.kernels = set;
        auto session = Session::create(graph.clone(), options);
        REQUIRE(session.ok());
        auto outputs = (*session)->run({input});
        REQUIRE(outputs.ok());
        results.push_back((*outputs)[0]);
        const bool found = to_string(*(*session)->plans()[0]).find("conv_winograd_3x3") != std::string::npos;
        CHECK(found == !options.exact_convolution);
      }
      CHECK(same_bits(results[0], results[1]));
      CHECK(same_bits(results[0], results[2]));
      CHECK(!same_bits(results[0], results[3]));
      const Status close = svengine::tests::all_close(results[0], results[3], 1e-3, 1e-3);
      INFO((close.ok() ? "" : close.error().message()));
      CHECK(close.ok());
    }
}

TEST_CASE("every batch size gets a plan of its own and gives the same rows") {
  auto session = Session::create(small_network());
  REQUIRE(session.ok());
  const Tensor three = random_tensor({3, 3, 16, 16}, 9);
  const Tensor first = Tensor::wrap(DType::f32, {1, 3, 16, 16}, three.raw(), three.owner());
  const auto all = (*session)->run({three}), one = (*session)->run({first});
  REQUIRE((all.ok() && one.ok()));
  CHECK((*session)->plans().size() == 2);
  // The order of a sum depends on the shape, so another batch size may round differently.
  const Tensor row = Tensor::wrap(DType::f32, {1, 10}, (*all)[0].raw(), (*all)[0].owner());
  const Status same = svengine::tests::all_close((*one)[0], row, 1e-5, 1e-7);
  INFO((same.ok() ? "" : same.error().message()));
  CHECK(same.ok());
}

/// Every concatenation repeats the earlier parts, as in DenseNet; then one with the same part twice, the input and a constant,
/// whose result is overwritten by Relu while a part is still needed.
Graph dense_network() {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("image", DType::f32, Shape{Dim("N"), 3, 6, 6});
  const auto conv = [&](Value* v, int64_t in, uint64_t seed) { return b.add("Conv", {v, b.constant(random_tensor({16, in, 3, 3}, seed))}, pads(1)); };
  const auto join = [&](std::vector<Value*> parts) { return b.add("Concat", std::move(parts), make_attributes({{"axis", int64_t{1}}})); };
  Value *p0 = conv(x, 3, 1), *p1 = b.add("Relu", {conv(p0, 16, 2)});
  Value* p2 = conv(b.add("Relu", {join({p0, p1})}), 32, 3);
  Value* p3 = conv(join({p0, p1, p2}), 48, 4);
  Value* all = join({p0, p1, p2, p3});
  Value* twice = b.add("Relu", {join({p3, p3, x})});
  b.output(b.add("GlobalAveragePool", {all}), "pooled");
  b.output(b.add("Mul", {twice, b.constant(random_tensor({1, 1, 6, 6}, 5))}), "twice");
  b.output(b.add("Sigmoid", {p1}), "part");
  REQUIRE(b.status().ok());
  return graph;
}

TEST_CASE("joined parts are written in their places when a batch of one lets them lie in a row") {
  auto session = Session::create(dense_network());
  REQUIRE(session.ok());
  const Tensor two = random_tensor({2, 3, 6, 6}, 9);
  const Tensor first = Tensor::wrap(DType::f32, {1, 3, 6, 6}, two.raw(), two.owner());
  const auto both = (*session)->run({two}), one = (*session)->run({first});
  REQUIRE((both.ok() && one.ok()));
  const auto copies = [&](const std::vector<Tensor>& inputs) {
    REQUIRE((*session)->run(inputs).ok());
    const std::string text = to_string(*(*session)->plans()[0]);
    size_t count = 0;
    for (size_t at = text.find(" concat "); at != std::string::npos; at = text.find(" concat ", at + 1)) ++count;
    return count;
  };
  CHECK(copies({two}) == 4);
  CHECK(copies({first}) == 2);  // the one with a part twice and the network's input, and the other one with that part
  for (size_t i = 0; i < one->size(); ++i) {
    Dims dims = (*one)[i].dims();
    const Tensor row = Tensor::wrap(DType::f32, dims, (*both)[i].raw(), (*both)[i].owner());
    const Status same = svengine::tests::all_close((*one)[i], row, 1e-5, 1e-6);
    INFO(i << ": " << (same.ok() ? "" : same.error().message()));
    CHECK(same.ok());
  }
}

TEST_CASE("inputs that do not fit are refused by name") {
  auto session = Session::create(small_network());
  REQUIRE(session.ok());
  const auto message = [&](std::vector<Tensor> inputs) {
    const auto result = (*session)->run(inputs);
    REQUIRE_FALSE(result.ok());
    return result.error().message();
  };
  CHECK(message({}).find("got 0 inputs") != std::string::npos);
  CHECK(message({Tensor::of<int64_t>({1}, {1})}).find("'image' needs float32[Nx3x16x16]") != std::string::npos);
  CHECK(message({random_tensor({3, 16, 16}, 1)}).find("rank 3") != std::string::npos);
  CHECK(message({random_tensor({1, 4, 16, 16}, 1)}).find("dimension 1 is 4, not 3") != std::string::npos);
}

TEST_CASE("what a plan takes is known before and after it is made") {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape{2, 600});  // no other shape: the graph is given back with the first plan
  b.output(b.add("Relu", {b.add("MatMul", {b.add("Exp", {x}), b.constant(random_tensor({600, 600}, 1))})}), "y");
  REQUIRE(b.status().ok());
  auto session = Session::create(std::move(graph));
  REQUIRE(session.ok());
  const auto bytes = [&](const std::vector<Dims>& dims, Recompute recompute = Recompute::none) {
    return (*session)->planned_bytes(dims, recompute);
  };
  const auto before = bytes({{2, 600}});
  REQUIRE(before.ok());
  CHECK(*before >= 2 * 600 * 4);
  CHECK(bytes({{2, 600}}, Recompute::segments).ok());
  for (int run = 0; run < 2; ++run) {
    for (const std::vector<Dims>& wrong : {std::vector<Dims>{}, {{2, 601}}, {{2}}, {{2, 600}, {2, 600}}, {{-2, 600}}})
      CHECK_FALSE(bytes(wrong).ok());
    REQUIRE((*session)->run({random_tensor({2, 600}, 3)}).ok());
    REQUIRE(bytes({{2, 600}}).ok());
    CHECK(*bytes({{2, 600}}) == *before);
    CHECK((*session)->plans().front()->arena_bytes == *before);
  }
  const auto other = bytes({{2, 600}}, Recompute::segments);
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message().find("before the first run") != std::string::npos);
}

TEST_CASE("a shape that depends on an input's value ends a segment") {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape{2, 6});
  Value* shape = b.input("shape", DType::i64, Shape{2});
  Value* doubled = b.add("Add", {x, x});
  b.output(b.add("Relu", {b.add("Reshape", {doubled, shape})}), "y");
  REQUIRE(b.status().ok());
  auto session = Session::create(std::move(graph));
  REQUIRE(session.ok());
  const Tensor data = random_tensor({2, 6}, 3);
  for (const Dims& wanted : {Dims{3, 4}, Dims{12, 1}, Dims{4, 3}, Dims{3, 4}}) {
    const auto y = (*session)->run({data, Tensor::of<int64_t>({2}, std::span<const int64_t>(wanted))});
    if (!y.ok()) FAIL(y.error().message());
    CHECK((*y)[0].dims() == wanted);
    CHECK((*y)[0].data<float>()[5] == std::max(0.0f, 2 * data.data<float>()[5]));
  }
  const auto wrong = (*session)->run({data, Tensor::of<int64_t>({2}, {5, 5})});
  CHECK_FALSE(wrong.ok());
}

TEST_CASE("a node in several steps reads an input again that its output could have overwritten") {
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::u64}) {
    Graph graph;
    Builder b(graph, all_ops());
    const Attributes to = make_attributes({{"to", static_cast<int64_t>(type)}});
    Value* x = b.add("Cast", {b.add("Abs", {b.input("x", DType::f32, {1})})}, to);
    Value* five = b.add("Cast", {b.constant(Tensor::scalar(5.0f))}, to);
    b.output(b.add("Cast", {b.add("Clip", {x, five, x})}, make_attributes({{"to", static_cast<int64_t>(DType::f32)}})), "y");
    REQUIRE(b.status().ok());
    auto session = Session::create(std::move(graph), {});
    REQUIRE(session.ok());
    const auto y = (*session)->run({Tensor::of<float>({1}, {-3})});
    REQUIRE(y.ok());
    INFO(name_of(type));
    CHECK((*y)[0].data<float>()[0] == 3);  // min(max(3, 5), 3)
  }
}

TEST_CASE("inputs that lowering reads are waited for, even where the output's shape is known without them") {
  const Tensor none = Tensor::of<int64_t>({0}, {});
  for (const char* op : {"ReduceSum", "ReduceMax", "Pad", "Slice", "Tile"}) {
    Graph graph;
    Builder b(graph, all_ops());
    std::vector<Value*> inputs{b.input("x", DType::f32, Shape(std::vector<Dim>{})), b.input("list", DType::i64, {0})};
    if (op == std::string_view("Slice")) inputs.push_back(b.input("ends", DType::i64, {0}));
    b.output(b.add(op, inputs), "y");
    REQUIRE(b.status().ok());
    auto session = Session::create(std::move(graph), {});
    REQUIRE(session.ok());
    std::vector<Tensor> given{Tensor::scalar(-4.0f), none};
    if (inputs.size() == 3) given.push_back(none);
    const auto y = (*session)->run(given);
    INFO(op << ": " << (y.ok() ? "" : y.error().message()));
    REQUIRE(y.ok());
    CHECK((*y)[0].data<float>()[0] == -4);
  }
}
}  // namespace session_test
