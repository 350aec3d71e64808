#include "engine/graph/samples.h"
#include "engine/graph/text.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "engine/graph/builder.h"
#include "engine/graph/verify.h"

namespace text_test {
using namespace svengine;

namespace {

/// Outputs have whatever type the test gives them: only dtype and static shapes are compared by verify().
Status keep_types(InferContext&) { return {}; }

OpDef any_op(const char* domain, const char* name) {
  OpDef op;
  op.name = name;
  op.domain = domain;
  op.inputs = OpInputs(0, 64);
  op.outputs = {1, kVariadic};
  op.infer = keep_types;
  op.blocked.mode = BlockedMode::follows;  // takes blocked values and plain ones
  op.attributes = {{"i", AttributeKind::kInt},   {"f", AttributeKind::kFloat},    {"s", AttributeKind::kString},
                   {"is", AttributeKind::kInts}, {"fs", AttributeKind::kFloats},  {"ss", AttributeKind::kStrings},
                   {"t", AttributeKind::kTensor}, {"g", AttributeKind::kGraph}};
  return op;
}

const OpRegistry& ops() {
  static const OpRegistry registry({any_op("", "Op"), any_op(kInternalDomain, "Fused"), any_op("com.example", "Op")});
  return registry;
}

/// Prints, parses, and prints again.
Graph round_trip(const Graph& graph) {
  const std::string text = print_graph(graph, {1000});
  INFO(text);
  Result<Graph> parsed = parse_graph(text, ops());
  if (!parsed.ok()) FAIL(parsed.error().message());
  CHECK(print_graph(*parsed, {1000}) == text);
  return std::move(parsed).value();
}

std::string failure(std::string_view text) {
  Result<Graph> parsed = parse_graph(text, ops());
  return parsed.ok() ? "parsed" : parsed.error().message();
}

/// Of the same kind and value; tensors are never the same.
bool same(const Attribute& a, const Attribute& b) {
  if (kind_of(a) != kind_of(b)) return false;
  return std::visit(
      [&]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, Tensor>) return false;
        else return value == std::get<T>(b);
      },
      a);
}

template <class T>
Value* add_constant_of(Graph& graph, std::initializer_list<T> values) {
  return graph.add_constant("c", Tensor::of<T>({static_cast<int64_t>(values.size())}, values));
}

}  // namespace

TEST_CASE("types, names, absent inputs and several outputs survive printing and parsing") {
  Graph graph;
  graph.name = "a \"quoted\" \\ name\x01";
  Value* x = graph.add_input("image", {DType::f32, {Dim("N"), Dim(3), Dim(), Dim("2*seq + 1")}, 0});
  Value* y = graph.add_input("a name: with spaces", {DType::i64, Shape(), 0});
  Value* z = graph.add_input("größe", {DType::undefined, Shape(std::vector<Dim>()), 0});
  Node* node = graph.add_node(*ops().find("", "Op"), "layer/0/op:1", {x, nullptr, y, z, x}, 3, {}, nullptr,
                              {"out", "", "o-2.x/y"});
  node->output(0)->type = {DType::f32, {Dim("N"), Dim(64), Dim(7), Dim(7)}, 16};
  node->output(2)->type = {DType::boolean, {Dim(0)}, 0};
  Node* fused = graph.add_node(*ops().find(kInternalDomain, "Fused"), "", {node->output(0)}, 1);
  graph.add_node(*ops().find("com.example", "Op"), "", {}, 1);
  graph.add_output(fused->output());
  graph.add_output(node->output(2));
  graph.add_output(x);

  const Graph parsed = round_trip(graph);
  CHECK(parsed.name == graph.name);
  REQUIRE(parsed.inputs().size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(parsed.inputs()[i]->name() == graph.inputs()[i]->name());
    CHECK(parsed.inputs()[i]->type == graph.inputs()[i]->type);
  }
  REQUIRE(parsed.nodes().size() == 3);
  const Node& n = *parsed.nodes().front();
  CHECK(n.name() == "layer/0/op:1");
  REQUIRE(n.inputs().size() == 5);
  CHECK(n.input(1) == nullptr);
  CHECK(n.input(4) == parsed.inputs()[0]);
  for (size_t i = 0; i < 3; ++i) CHECK(n.output(i)->type == node->output(i)->type);
  CHECK(std::string(parsed.nodes().back()->op().domain) == "com.example");
  REQUIRE(parsed.outputs().size() == 3);
  CHECK(parsed.outputs()[2] == parsed.inputs()[0]);
}

TEST_CASE("attributes of every kind survive") {
  Graph graph;
  const float inf = std::numeric_limits<float>::infinity();
  const Attributes attributes = make_attributes({{"i", int64_t{-9223372036854775807 - 1}},
                                                 {"f", 1.0f},
                                                 {"s", std::string("Relu \n \"x\" \x7f")},
                                                 {"is", std::vector<int64_t>{}},
                                                 {"fs", std::vector<float>{0.1f, -inf, 1e-45f, -0.0f, 3e38f}},
                                                 {"ss", std::vector<std::string>{"", "b, c]"}},
                                                 {"t", Tensor::of<float>({2, 1}, {1.5f, inf})}});
  graph.add_output(graph.add_node(*ops().find("", "Op"), "", {}, 1, attributes)->output());
  const Graph parsed = round_trip(graph);
  const Attributes& got = parsed.nodes().front()->attributes;
  for (const char* name : {"i", "f", "s", "is", "fs", "ss"}) CHECK(same(*got.find(name), *attributes.find(name)));
  CHECK(std::signbit((*got.get<std::vector<float>>("fs"))[3]));
  CHECK(got.get<Tensor>("t")->dims() == Dims{2, 1});
  CHECK(got.get<Tensor>("t")->data<float>()[1] == inf);

  for (const Attribute& empty : {Attribute(std::vector<float>()), Attribute(std::vector<std::string>()), Attribute(-inf)}) {
    Graph one;
    const char* names[] = {"i", "f", "s", "is", "fs", "ss"};
    const char* name = names[static_cast<size_t>(kind_of(empty))];
    one.add_output(one.add_node(*ops().find("", "Op"), "", {}, 1, make_attributes({{name, empty}}))->output());
    const Graph parsed_one = round_trip(one);
    CHECK(same(*parsed_one.nodes().front()->attributes.find(name), empty));
  }
}

TEST_CASE("bodies, types of what sequences hold and strings survive") {
  auto inner = std::make_shared<Graph>();
  inner->name = "inner";
  inner->add_output(inner->add_constant("s", Tensor::of_strings({2}, {"a \"b\"", "}"})));
  auto body = std::make_shared<Graph>();
  body->name = "the body";
  Value* captured = body->add_input("x", {DType::f32, {Dim(2)}, 0});
  body->add_output(body->add_node(*ops().find("", "Op"), "nested", {captured}, 1, make_attributes({{"g", Subgraph(inner)}}))->output());
  Graph graph;
  Value* x = graph.add_input("x", {DType::f32, {Dim(2)}, 0});
  Type held{DType::sequence, Shape(std::vector<Dim>{})};
  held.element = std::make_shared<const Type>(Type{DType::f32, {Dim("n"), Dim()}, 0});
  Type list = held;
  list.dtype = DType::map, list.key = DType::i64;
  list.element = std::make_shared<const Type>(held);
  graph.add_output(graph.add_input("list", list));
  const Tensor example = Tensor::of_items(DType::sequence, {Tensor::of<int32_t>({0}, {})});
  graph.add_output(graph.add_node(*ops().find("", "Op"), "", {x}, 1, make_attributes({{"g", Subgraph(body)}, {"t", example}}))->output());
  const Graph parsed = round_trip(graph);
  CHECK(parsed.inputs()[1]->type == list);
  const Attributes& got = parsed.nodes().front()->attributes;
  REQUIRE(got.get<Subgraph>("g"));
  CHECK(print_graph(**got.get<Subgraph>("g")) == print_graph(*body));
  REQUIRE(got.get<Tensor>("t")->items().size() == 1);
  CHECK(got.get<Tensor>("t")->items()[0].type() == DType::i32);
  std::string deep = "graph \"g\"\n";
  for (int i = 0; i < 99; ++i) deep += "%y: float32[*] = Op() {g = graph \"b\" {\n";
  CHECK(failure(deep).find("nested") != std::string::npos);
}

TEST_CASE("constants of every type keep their bits") {
  Graph graph;
  std::vector<Value*> values = {
      add_constant_of<float>(graph, {0.1f, std::numeric_limits<float>::denorm_min(), -std::numeric_limits<float>::infinity()}),
      add_constant_of<double>(graph, {0.1, 5e-324}),
      add_constant_of<int64_t>(graph, {INT64_MIN, INT64_MAX}),
      add_constant_of<int32_t>(graph, {INT32_MIN, 7}),
      add_constant_of<uint8_t>(graph, {0, 255}),
      add_constant_of<bool>(graph, {true, false}),
      graph.add_constant("scalar", Tensor::scalar<float>(2)),
      graph.add_constant("none", Tensor::of<int64_t>({0, 3}, {})),
  };
  const uint16_t bits[] = {0x3c00, 0x7e01};
  for (DType type : {DType::f16, DType::bf16, DType::u16, DType::i16})
    values.push_back(graph.add_constant("half", *Tensor::wrap(type, {2}, bits, nullptr).aligned_copy()));
  const uint8_t few[] = {0, 1, 3}, some[] = {0xf8, 7};
  for (DType type : {DType::u2, DType::u4, DType::f4e2m1, DType::f8e4m3fn, DType::f8e8m0})
    values.push_back(graph.add_constant("small", *Tensor::wrap(type, {3}, few, nullptr).aligned_copy()));
  values.push_back(graph.add_constant("signed", *Tensor::wrap(DType::i4, {2}, some, nullptr).aligned_copy()));
  Node* node = graph.add_node(*ops().find("", "Op"), "", values, 1);
  graph.add_output(node->output());
  const Graph parsed = round_trip(graph);
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor &want = values[i]->constant(), &got = parsed.nodes().front()->input(i)->constant();
    CHECK(got.type() == want.type());
    CHECK(got.dims() == want.dims());
    REQUIRE(got.byte_size() == want.byte_size());
    CHECK((want.byte_size() == 0 || std::memcmp(got.raw(), want.raw(), want.byte_size()) == 0));
  }
}

TEST_CASE("large constants are printed by their digest, which differs with the bytes, and are not parsed") {
  std::string texts[2];
  for (int64_t i = 0; i < 2; ++i) {
    Graph graph;
    graph.add_output(graph.add_constant("weights", Tensor::of<int64_t>({3}, {1, 2, i})));
    texts[i] = print_graph(graph, {2});
    CHECK(texts[i].find("= ...3 elements, fnv1a ") != std::string::npos);
    CHECK(failure(texts[i]).find("line 2") == 0);
    CHECK(failure(texts[i]).find("digest") != std::string::npos);
  }
  CHECK(texts[0] != texts[1]);
}

TEST_CASE("samples are inputs of random values or given ones, attributes and a number of outputs") {
  const auto samples = parse_samples("(float32[2, 3]) (uint8[] 0 to 256, -, int8[5]{100, 120, ...}) {i = 1, ss = [\"a\"]} 2"
                                     "(sequence{float32[1]{0.5}}, float64[3]{1.0, 0.75, ...} , bool[0] -0.5 to 1e3)",
                                     ops())
                           .value();
  REQUIRE(samples.size() == 3);
  const SampleInput& x = samples[0].inputs.at(0);
  CHECK((x.dtype == DType::f32 && x.dims == Dims{2, 3} && x.low == -2 && x.high == 2 && !x.value.defined()));
  REQUIRE(samples[1].inputs.size() == 3);
  CHECK((samples[1].inputs[0].high == 256 && samples[1].inputs[1].dtype == DType::undefined));
  const auto bytes = samples[1].inputs[2].value.data<int8_t>();
  CHECK(std::vector<int>(bytes.begin(), bytes.end()) == std::vector<int>{100, 120, -116, -96, -76});
  CHECK((samples[1].outputs == 2 && samples[1].attributes.size() == 2 && samples[0].outputs == 1));
  CHECK(samples[2].inputs[0].value.items().size() == 1);
  CHECK(samples[2].inputs[1].value.data<double>()[2] == 0.5);
  CHECK((samples[2].inputs[2].low == -0.5 && samples[2].inputs[2].high == 1000));
  for (const char* wrong :
       {"float32[2]", "(float32[2]", "(float32[N])", "(float32[2] 1)", "(float32[2] 1 to)", "(float32[2] 1 2)", "(int8[3]{1, ...})",
        "(int8[9]{1, 2, 4, ...})", "(int8[2000000]{1, 2, ...})", "(int4[3]{1, 2, ...})", "(float32[1]) {i = }", "(what[1])"}) {
    INFO(wrong);
    CHECK(!parse_samples(wrong, ops()).ok());
  }
}

TEST_CASE("what is no graph is refused with line and column") {
  const auto fails = [](std::string_view text, std::string_view place, std::string_view why) {
    const std::string message = failure(text);
    INFO(message);
    CHECK(message.find(place) == 0);
    CHECK(message.find(why) != std::string::npos);
  };
  CHECK(failure("graph \"empty\"  # comment\n") == "parsed");
  fails("", "line 1, column 1", "graph");
  fails("graph \"g", "line 1", "does not end");
  fails("graph \"\\q\"", "line 1", "escape");
  fails("graph \"g\"\nnonsense", "line 2, column 1", "expected input");
  fails("graph \"g\"\ninput %x: float31[1]", "line 2, column 11", "element type");
  fails("graph \"g\"\ninput %x: float32[1, -]", "line 2", "dimension");
  fails("graph \"g\"\ninput %x: float32[1]{q16}", "line 2", "blocked layout");
  fails("graph \"g\"\ninput %x: float32[1]\ninput %x: float32[1]", "line 3", "taken");
  fails("graph \"g\"\nconst %x: float32[3] = {1.0, 2.0}", "line 2", "2 elements");
  fails("graph \"g\"\nconst %x: int8[1] = {300}", "line 2", "no int8");
  fails("graph \"g\"\nconst %x: bool[1] = {2}", "line 2", "no bool");
  fails("graph \"g\"\nconst %x: float32[N] = {2.0}", "line 2", "shape of numbers");
  fails("graph \"g\"\nconst %x: float32[99999999999999999] = {2.0}", "shape", "2^48");
  fails("graph \"g\"\n%y: float32[1] = Nothing()", "line 2", "no operator");
  fails("graph \"g\"\n%y: float32[1] = Op(%y)", "line 2", "no value");
  fails("graph \"g\"\n%y: float32[1] = Op() {i = 1, i = 2}", "line 2", "another attribute");
  fails("graph \"g\"\n%y: float32[1] = Op() {is = [1, 2.0]}", "line 2", "one kind");
  fails("graph \"g\"\n%y: float32[1] = Op() {is = []}", "line 2", "no number");
  fails("graph \"g\"\n%y: float32[1] = Op() {unknown = 1}", "node 'Op' (Op)", "unknown");
  fails("graph \"g\"\noutput %y", "line 2", "no value");
}
}  // namespace text_test
