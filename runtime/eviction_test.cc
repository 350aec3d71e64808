// More shapes than a session keeps plans for: the least recently used plans go, with their memory and tables, and come again.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>

#include "engine/graph/builder.h"
#include "engine/graph/text.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"
#include "tests/support/random_tensor.h"

namespace eviction_test {
using namespace svengine;
using svengine::tests::random_tensor;

namespace {

constexpr size_t kFewPlans = 16;  // of large ones: drop_old_plans
constexpr int64_t kManyRows = 14000, kFewRows = 3;  // a plan's arena is 3 to 10 MB, or 2 KB

/// Any width comes out 12 wide. The plan's table says from where: for all widths of one size, for no two with the same content. Only some of the
/// rows that fill the arena go that way: A64FX code runs the test, too.
Graph network(int64_t rows) {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape{Dim("N"), rows, Dim("W")});
  Value* some = b.add("Slice", {b.add("Abs", {x}), b.integers({0}), b.integers({50}), b.integers({1})});
  Value* wide = b.add("Resize", {some, nullptr, nullptr, b.integers({12})},
                      make_attributes({{"axes", std::vector<int64_t>{2}}, {"mode", std::string("nearest")}}));
  b.output(wide, "twelve");
  b.output(b.add("MatMul", {wide, b.constant(random_tensor({12, 5}, 2))}), "product");
  REQUIRE(b.status().ok());
  return graph;
}

std::unique_ptr<Session> session_on(const char* topology, bool shard, int64_t rows = kManyRows) {
  SessionOptions options;
  options.topology = parse_topology(topology).value();
  options.shard = shard;
  auto session = Session::create(network(rows), options);
  if (!session.ok()) FAIL(session.error().message());
  return std::move(session).value();
}

/// Numbers that tell where they are, made faster than random ones: 256 of them, copied.
Tensor counted(Dims dims, int64_t first) {
  MutableTensor t = Tensor::allocate(DType::f32, std::move(dims)).value();
  const std::span<float> all = t.data<float>();
  std::array<float, 256> numbers;
  for (float& x : numbers) x = static_cast<float>(first++ & 0xff);
  for (size_t i = 0; i < all.size(); i += numbers.size())
    std::copy_n(numbers.begin(), std::min(numbers.size(), all.size() - i), all.begin() + static_cast<std::ptrdiff_t>(i));
  return t;
}

std::vector<std::string> run(Session& session, int64_t batch, int64_t width, int64_t rows = kManyRows) {
  const auto outputs = session.run({counted({batch, rows, width}, 100 * batch + width)});
  if (!outputs.ok()) FAIL(outputs.error().message());
  std::vector<std::string> bytes;
  for (const Tensor& t : *outputs) bytes.emplace_back(reinterpret_cast<const char*>(t.raw()), t.byte_size());
  return bytes;
}

/// Many widths in changing order, each also with another batch that needs other plans of the groups.
void check_many_shapes(const char* topology, bool shard) {
  std::map<std::pair<int64_t, int64_t>, std::vector<std::string>> want;
  const auto session = session_on(topology, shard);
  for (int64_t i = 0; i < 56; ++i) {
    const int64_t width = 13 + i * (i / 23 + 1) % 23, batch = i % 5 == 0 ? 5 : 4;
    std::vector<std::string>& expected = want[{batch, width}];
    if (expected.empty()) expected = run(*session_on(topology, shard), batch, width);
    CHECK(run(*session, batch, width) == expected);
    if (!shard) CHECK(session->plans().size() == std::min(want.size(), kFewPlans));
  }
  CHECK(want.size() > 2 * kFewPlans);
}

}  // namespace

TEST_CASE("plans that were dropped are made again, and give the same") {
  check_many_shapes("1x2", false);
}

TEST_CASE("in shard mode too, where core groups have copies of what plans own") {
  check_many_shapes("2x1", true);
}

TEST_CASE("the plan that is used all the time is never dropped") {
  const auto session = session_on("1x1", false);
  run(*session, 4, 20);
  const std::shared_ptr<const Plan> plan = session->plans().front();
  for (int64_t width = 30; width < 50; ++width) {
    run(*session, 4, width);
    run(*session, 4, 20);
    CHECK(session->plans().front() == plan);
  }
  CHECK(session->plans().size() == kFewPlans);
}

TEST_CASE("small plans are kept, so that shapes which come in the same order again and again are planned once") {
  const auto session = session_on("1x1", false, kFewRows);
  constexpr size_t kShapes = 60;
  std::vector<std::shared_ptr<const Plan>> first;
  for (int round = 0; round < 2; ++round)
    for (size_t i = 0; i < kShapes; ++i) {
      run(*session, 1, 20 + static_cast<int64_t>(i), kFewRows);
      if (round == 0) first.push_back(session->plans().front());
      else CHECK(session->plans().front() == first[i]);
    }
  CHECK(session->plans().size() == kShapes);
}

TEST_CASE("plans of a body share an arena, so that a value that grows from trip to trip is planned once for each length") {
  Graph graph = parse_graph(R"(graph "growing"
  input %first: float32[1, 60000]
  const %trips: int64[] = {20}
  %all: float32[*] = Loop(%trips, -, %first) {body = graph "body" {
    input %trip: int64[]
    input %going: bool[]
    input %before: float32[?, 60000]
    const %last: int64[1] = {-1}
    const %end: int64[1] = {1000}
    const %rows: int64[1] = {0}
    %row: float32[?, 60000] = Slice(%before, %last, %end, %rows)
    %positive: float32[?, 60000] = Abs(%row)
    %after: float32[?, 60000] = Concat(%before, %positive) {axis = 0}
    output %going
    output %after
  }}
  output %all)", all_ops()).value();
  const auto session = Session::create(std::move(graph)).value();
  std::vector<std::vector<std::shared_ptr<const Plan>>> plans;
  for (int round = 0; round < 2; ++round) {
    const auto outputs = session->run({counted({1, 60000}, 1)});
    REQUIRE(outputs.ok());
    CHECK((*outputs)[0].dims() == Dims{21, 60000});
    plans.push_back(session->plans());
    std::ranges::sort(plans.back());
  }
  CHECK(plans[0].size() >= 20);
  CHECK(plans[0] == plans[1]);
}

}  // namespace eviction_test
