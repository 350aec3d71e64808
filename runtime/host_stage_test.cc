// Nodes that are evaluated between plans, and values that no plan can hold.
#include "runtime/host_stage.h"

#include <catch2/catch.hpp>

#include "engine/graph/attribute_tables.h"
#include "engine/graph/builder.h"
#include "engine/graph/evaluate_context.h"
#include "engine/ops/registry.h"
#include "tests/support/random_tensor.h"

namespace host_stage_test {
using namespace svengine;
using svengine::tests::random_tensor;

namespace {

/// float32 [N] -> strings [N]: every number's text.
OpDef to_text() {
  return {.name = "ToText",
          .inputs = "x",
          .infer =
              [](InferContext& c) -> Status {
            c.set(0, DType::string, c.shape(0));
            return {};
          },
          .evaluate =
              [](EvaluateContext& c) -> Status {
            std::vector<std::string> out;
            for (const float v : c.input(0).data<float>()) {
              if (v < 0) return error("cannot write {}", v);
              out.push_back(fmt::format("{}", v));
            }
            c.set(0, Tensor::of_strings(c.input(0).dims(), std::move(out)));
            return {};
          }};
}

/// Strings [N] -> float32 [M]: one for every character.
OpDef characters() {
  return {.name = "Characters",
          .inputs = "x",
          .infer =
              [](InferContext& c) -> Status {
            c.set(0, DType::f32, Shape{Dim()});
            return {};
          },
          .evaluate =
              [](EvaluateContext& c) -> Status {
            std::vector<float> out;
            for (const std::string& s : c.input(0).strings())
              for (const char letter : s) out.push_back(static_cast<float>(letter));
            c.set(0, Tensor::of<float>({static_cast<int64_t>(out.size())}, std::span<const float>(out)));
            return {};
          }};
}

int greetings_made = 0;

Result<std::string> greeting(const Attributes& attributes) {
  ++greetings_made;
  return attributes.get_string("word") + " ";
}

/// Strings [N] -> strings [N]: with a word before each.
OpDef greet() {
  return {.name = "Greet",
          .inputs = "x",
          .attributes = {{"word", AttributeKind::kString, true}},
          .infer =
              [](InferContext& c) -> Status {
            SV_TRY(table_of<greeting>(c.attributes()));
            c.set(0, DType::string, c.shape(0));
            return {};
          },
          .evaluate =
              [](EvaluateContext& c) -> Status {
            SV_ASSIGN(const auto before, table_of<greeting>(c.attributes()));
            std::vector<std::string> out;
            for (const std::string& s : c.input(0).strings()) out.push_back(*before + s);
            c.set(0, Tensor::of_strings(c.input(0).dims(), std::move(out)));
            return {};
          }};
}

const OpDef kToText = to_text(), kCharacters = characters(), kGreet = greet();

/// x -> 2x -> text -> (Identity) -> characters -> exp; the text and the input are outputs too.
Graph text_network() {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape{Dim("N")});
  Node* text = graph.add_node(kToText, "text", {b.add("Add", {x, x})}, 1);
  REQUIRE(infer_types(*text).ok());
  Value* same = b.add("Identity", {text->output()});
  Node* letters = graph.add_node(kCharacters, "letters", {same}, 1);
  REQUIRE(infer_types(*letters).ok());
  b.output(b.add("Sub", {letters->output(), b.constant(Tensor::scalar(48.0f))}), "digits");
  b.output(same, "text_out");
  graph.add_output(x);
  REQUIRE(b.status().ok());
  return graph;
}

std::vector<Tensor> values_of(Result<std::vector<Tensor>> result) {
  if (!result.ok()) FAIL(result.error().message());
  return std::move(result).value();
}

}  // namespace

TEST_CASE("handles pass from stage to stage, and plans are kept by shape") {
  for (const bool optimize : {true, false}) {
    SessionOptions options;
    options.optimize = optimize;
    auto session = Session::create(text_network(), options);
    REQUIRE(session.ok());
    for (int run = 0; run < 3; ++run) {
      const auto base = static_cast<float>(run);
      const Tensor x = Tensor::of<float>({2}, {base, base + 1});
      const std::vector<Tensor> y = values_of((*session)->run({x}, true));
      CHECK(y[0].dims() == Dims{2});
      CHECK(y[0].data<float>()[1] == 2 * base + 2);
      CHECK(y[1].strings()[0] == fmt::format("{}", 2 * base));
      CHECK(y[2].data<float>()[1] == base + 1);
      CHECK(y[2].raw() != x.raw());
    }
    CHECK((*session)->plans().size() == 2);
    const std::vector<ProfileRow> rows = (*session)->profile();
    CHECK(std::count_if(rows.begin(), rows.end(), [](const ProfileRow& r) { return r.kernel == "evaluate" && r.nanoseconds > 0; }) >= 2);
    CHECK((*session)->planned_bytes({{2}}, Recompute::none).ok());
  }
}

TEST_CASE("what is made of attributes is made once for all plans and runs") {
  greetings_made = 0;
  Graph graph;
  Builder b(graph, all_ops());
  Node* text = graph.add_node(kToText, "text", {b.input("x", DType::f32, Shape{Dim("N")})}, 1);
  REQUIRE(infer_types(*text).ok());
  Node* greeted = graph.add_node(kGreet, "greet", {text->output()}, 1, make_attributes({{"word", std::string("hello")}}));
  REQUIRE(infer_types(*greeted).ok());
  b.output(greeted->output(), "y");
  auto session = Session::create(std::move(graph));
  REQUIRE(session.ok());
  for (const Tensor& x : {Tensor::of<float>({1}, {1}), Tensor::of<float>({2}, {2, 3}), Tensor::of<float>({1}, {4})}) {
    const std::vector<Tensor> y = values_of((*session)->run({x}));
    CHECK(y[0].strings()[0] == fmt::format("hello {}", x.data<float>()[0]));
  }
  CHECK(greetings_made == 1);
}

TEST_CASE("what evaluation refuses names the node") {
  auto session = Session::create(text_network());
  REQUIRE(session.ok());
  const auto y = (*session)->run({Tensor::of<float>({1}, {-1})});
  REQUIRE_FALSE(y.ok());
  CHECK(y.error().message() == "node 'text' (ToText): cannot write -2");
}

TEST_CASE("inputs and outputs may be handles, and places for outputs are written wherever they come from") {
  Graph graph;
  Builder b(graph, all_ops());
  Value* s = b.input("s", DType::string, Shape{Dim("N")});
  Value* unread = b.input("unread", DType::string, Shape{1});
  Node* letters = graph.add_node(kCharacters, "letters", {s}, 1);
  REQUIRE(infer_types(*letters).ok());
  b.output(letters->output(), "letters_out");
  b.output(unread, "unread_out");
  auto session = Session::create(std::move(graph));
  REQUIRE(session.ok());
  const Tensor text = Tensor::of_strings({2}, {"ab", "c"}), other = Tensor::of_strings({1}, {"z"});
  MutableTensor place = Tensor::allocate(DType::f32, {3}).value();
  const std::vector<Tensor> y = values_of((*session)->run_into({text, other}, {place, MutableTensor()}));
  CHECK(place.data<float>()[2] == 99);
  CHECK(y[0].raw() == place.raw());
  CHECK(y[1].strings()[0] == "z");
  CHECK_FALSE((*session)->run_into({text, other}, {Tensor::allocate(DType::f32, {4}).value()}).ok());
  CHECK_FALSE((*session)->run({other, other, other}).ok());
  CHECK_FALSE((*session)->run({Tensor::scalar(1.0f), other}).ok());
}

TEST_CASE("constants are folded through evaluation, as far as they fit") {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape{2});
  Value* found = b.add("NonZero", {b.constant(Tensor::of<float>({4}, {0, 1, 1, 0}))});
  b.output(b.add("Add", {b.add("Cast", {found}, make_attributes({{"to", int64_t{1}}})), x}), "y");
  REQUIRE(b.status().ok());
  auto session = Session::create(std::move(graph));
  REQUIRE(session.ok());
  const std::vector<Tensor> y = values_of((*session)->run({Tensor::of<float>({2}, {10, 20})}));
  CHECK(y[0].data<float>()[1] == 22);
  CHECK((*session)->plans().size() == 1);
}

TEST_CASE("shapes that depend on values are planned once for every shape, not for every value") {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape{2, 3});
  Value* found = b.add("Transpose", {b.add("NonZero", {b.add("Relu", {x})})});
  b.output(b.add("GatherND", {x, found}), "positive");
  REQUIRE(b.status().ok());
  auto session = Session::create(std::move(graph));
  REQUIRE(session.ok());
  const auto positive = [&](std::initializer_list<float> values) { return values_of((*session)->run({Tensor::of<float>({2, 3}, values)}))[0]; };
  CHECK(positive({1, -1, 2, -1, -1, 3}).data<float>()[2] == 3);
  CHECK(positive({-1, 4, 5, -1, 6, -3}).data<float>()[0] == 4);
  CHECK(positive({-1, 4, 5, -1, 6, -3}).dims() == Dims{3});
  CHECK((*session)->plans().size() == 2);
  CHECK(positive({-1, -1, -1, -1, -1, -1}).dims() == Dims{0});
  CHECK((*session)->plans().size() == 3);
}

TEST_CASE("shard mode refuses what runs on the host") {
  SessionOptions options;
  options.shard = true;
  options.topology = parse_topology("2x1").value();
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape{Dim("N")});
  Node* text = graph.add_node(kToText, "text", {x}, 1);
  REQUIRE(infer_types(*text).ok());
  b.output(text->output(), "y");
  auto session = Session::create(std::move(graph), options);
  REQUIRE(session.ok());
  const auto y = (*session)->run({Tensor::of<float>({4}, {1, 2, 3, 4})});
  REQUIRE_FALSE(y.ok());
  CHECK(y.error().message().find("nodes work on the host") != std::string::npos);
}
}  // namespace host_stage_test
