#include "runtime/batch_parallel.h"

#include <catch2/catch.hpp>

#include <cstring>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/support/random_tensor.h"

namespace batch_parallel_test {
using namespace svengine;
using svengine::tests::random_tensor;

namespace {

/// Two inputs with the batch, one without.
Graph network(const Shape& image = Shape{Dim("N"), 3, 8, 8}) {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("image", DType::f32, image);
  Value* offset = b.input("offset", DType::f32, Shape{1, 20, 1, 1});
  Value* mask = b.input("mask", DType::f32, Shape{Dim("N"), 20});
  Value* conv = b.add("Add", {b.add("Conv", {x, b.constant(random_tensor({20, 3, 3, 3}, 1))}), offset});
  Value* flat = b.add("Mul", {b.add("Flatten", {b.add("GlobalAveragePool", {conv})}), mask});
  b.output(flat, "features");
  b.output(b.add("Gemm", {flat, b.constant(random_tensor({20, 10}, 2))}), "logits");
  REQUIRE(b.status().ok());
  return graph;
}

std::unique_ptr<Session> session_on(const char* topology, bool shard, Graph graph = network()) {
  SessionOptions options;
  options.topology = parse_topology(topology).value();
  options.shard = shard;
  auto session = Session::create(std::move(graph), options);
  if (!session.ok()) FAIL(session.error().message());
  return std::move(session).value();
}

std::vector<Tensor> rows(const std::vector<Tensor>& inputs, const RowRange& range) {
  std::vector<Tensor> out = inputs;
  for (size_t i : {size_t{0}, size_t{2}}) {
    Dims dims = inputs[i].dims();
    const auto row = static_cast<int64_t>(inputs[i].byte_size()) / dims[0];
    dims[0] = range.count();
    out[i] = Tensor::wrap(DType::f32, dims, inputs[i].raw() + range.begin * row, inputs[i].owner());
  }
  return out;
}

std::vector<Tensor> run(Session& session, const std::vector<Tensor>& inputs) {
  auto outputs = session.run(inputs);
  if (!outputs.ok()) FAIL(outputs.error().message());
  return std::move(outputs).value();
}

std::string refusal(Graph graph) {
  SessionOptions options;
  options.topology = parse_topology("2x1").value();
  options.shard = true;
  const auto session = Session::create(std::move(graph), options);
  REQUIRE_FALSE(session.ok());
  return session.error().message();
}

}  // namespace

TEST_CASE("every group gets its rows, and counts differ by one at most") {
  for (int64_t batch : {0, 1, 3, 4, 5, 64}) {
    int64_t next = 0;
    for (size_t g = 0; g < 4; ++g) {
      const RowRange r = rows_of(batch, g, 4);
      CHECK(r.begin == next);
      CHECK((r.count() == batch / 4 || r.count() == batch / 4 + 1));
      next = r.end;
    }
    CHECK(next == batch);
  }
}

TEST_CASE("a batch_parallel run is bit by bit its groups' rows run alone") {
  for (int64_t batch : {1, 2, 3, 7}) {
    const std::vector<Tensor> inputs{random_tensor({batch, 3, 8, 8}, 5), random_tensor({1, 20, 1, 1}, 6),
                                     random_tensor({batch, 20}, 7)};
    const auto batch_parallel = session_on("3x2", true), alone = session_on("1x1", false);
    for (int again = 0; again < 2; ++again) {
      const std::vector<Tensor> all = run(*batch_parallel, inputs);
      REQUIRE(all.size() == 2);
      for (size_t g = 0; g < 3; ++g) {
        const RowRange range = rows_of(batch, g, 3);
        if (range.count() == 0) continue;
        const std::vector<Tensor> part = run(*alone, rows(inputs, range));
        for (size_t o = 0; o < 2; ++o) {
          REQUIRE(all[o].dims()[0] == batch);
          const auto row = static_cast<int64_t>(all[o].byte_size()) / batch;
          CHECK(std::memcmp(all[o].raw() + range.begin * row, part[o].raw(), part[o].byte_size()) == 0);
        }
      }
    }
  }
}

TEST_CASE("a batch of none and another batch size run in the same session") {
  const auto session = session_on("2x2", true);
  for (int64_t batch : {4, 0, 5}) {
    const auto out = run(*session, {random_tensor({batch, 3, 8, 8}, 5), random_tensor({1, 20, 1, 1}, 6),
                                    random_tensor({batch, 20}, 7)});
    CHECK(out[1].dims() == Dims{batch, 10});
  }
}

TEST_CASE("what cannot be cut is refused with the reason") {
  CHECK(refusal([] {
          Graph graph;
          Builder b(graph, all_ops());
          b.output(b.add("Relu", {b.input("x", DType::f32, Shape{2, 3})}), "y");
          return graph;
        }()).find("no input has a symbolic leading dimension") != std::string::npos);
  CHECK(refusal([] {
          Graph graph;
          Builder b(graph, all_ops());
          b.output(b.add("Transpose", {b.input("x", DType::f32, Shape{Dim("N"), 3})}), "y");
          return graph;
        }()).find("not the leading dimension of output 'y'") != std::string::npos);
  CHECK(refusal([] {
          Graph graph;
          Builder b(graph, all_ops());
          b.output(b.add("Relu", {b.input("x", DType::f32, Shape{Dim("N"), Dim("N")})}), "y");
          return graph;
        }()).find("inner dimension of input 'x'") != std::string::npos);
}
}  // namespace batch_parallel_test
