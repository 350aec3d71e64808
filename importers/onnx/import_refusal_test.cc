// Models that are refused, and what is said of them.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/ops/registry.h"
#include "importers/onnx/import_test_util.h"

namespace import_refusal_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;

namespace {

std::string problem_of_text(const std::string& text) { return problem_of(import_text(text)); }
std::string problem_of_path(const std::string& path) { return problem_of(import_onnx(path, {.ops = &test_ops()})); }

/// x -> Scale -> y, for attributes.
ModelProto scale_model() {
  ModelProto model = relu_model();
  model.mutable_graph()->mutable_node(0)->set_op_type("Scale");
  model.mutable_graph()->mutable_node(0)->set_name("scale");
  return model;
}

NodeProto* only_node(ModelProto& model) { return model.mutable_graph()->mutable_node(0); }

/// Nested length-delimited fields of one number, `depth` deep.
std::string nested(uint32_t number, int depth, std::string inner = {}) {
  for (int i = 0; i < depth; ++i) {
    std::string outer;
    onnx::append_field_head(outer, number, inner.size());
    inner = outer + inner;
  }
  return inner;
}

}  // namespace

TEST_CASE("what operators quote of attributes is harmless to print, and short") {
  for (const std::string& odd : {std::string("\x1b[31m"), std::string(1 << 20, 'A')}) {
    ModelProto model = relu_model(20);
    only_node(model)->set_op_type("Gelu");
    add_attribute(only_node(model), "approximate", AttributeProto::STRING)->set_s(odd);
    const std::string bytes = model.SerializeAsString();
    const std::string problem = problem_of(import_onnx(std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr, "m.onnx"));
    CHECK_THAT(problem, Contains("approximate is '") && !Contains("\x1b"));
    CHECK(problem.size() < 3000);
  }
}

TEST_CASE("files that are no models") {
  CHECK(problem_of_text("") == "m.onnx: is empty");
  CHECK_THAT(problem_of_text("\x1f\x8b\x08 and so on"), Contains("is a gzip file"));
  CHECK_THAT(problem_of_text("PK\x03\x04"), Contains("is a zip file"));
  CHECK_THAT(problem_of_text("<!DOCTYPE html>"), Contains("HTML"));
  CHECK_THAT(problem_of_text(std::string("\x18\0\0\0ORTM\0\0\0\0", 12)), Contains("ONNX Runtime's own format (.ort)"));
  for (const char* text : {"<\n   ir_version: 8,\n", "<opset_import: [\"\" : 17]>", "ir_version: 8\ngraph {", "{\n  \"ir_version\": \"8\""})
    CHECK_THAT(problem_of_text(text), Contains("is a model as text"));
  CHECK_THAT(problem_of_text("version https://git-lfs.github.com/spec/v1"), Contains("git lfs pull"));
  CHECK_THAT(problem_of_text("hello, world"), Contains("m.onnx: is no ONNX model, or only a part of one: byte "));
  CHECK_THAT(problem_of_text(std::string(1000, '\0')), Contains("field number 0"));
  TensorProto tensor;
  fill_raw(&tensor, {2}, {1, 2});
  CHECK_THAT(problem_of_text(tensor.SerializeAsString()), Contains("has no graph"));
  CHECK_THAT(problem_of_path("/nonexistent/m.onnx"), Contains("No such file"));
  CHECK_THAT(problem_of_path("/tmp"), Contains("is a directory, not a regular file"));
  CHECK_THAT(problem_of_path("/dev/zero"), Contains("not a regular file"));
  const std::string fifo = fmt::format("/tmp/svengine_fifo_{}", getpid());
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THAT(problem_of_path(fifo), Contains("not a regular file"));
  std::filesystem::remove(fifo);
}

TEST_CASE("versions out of range") {
  CHECK(problem_of(relu_model(17, 0)) == "m.onnx: has IR version 0, which does not exist");
  CHECK_THAT(problem_of(relu_model(17, -3)), Contains("has IR version -3"));
  CHECK(problem_of(relu_model(0)) == "m.onnx: imports opset 0 of ai.onnx, which does not exist");
  CHECK_THAT(problem_of(relu_model(-1)), Contains("imports opset -1"));
  CHECK_THAT(problem_of(relu_model(int64_t{1} << 40)), Contains("which does not exist"));
  ModelProto twice = relu_model();
  *twice.add_opset_import() = twice.opset_import(0);
  twice.mutable_opset_import(1)->set_domain("ai.onnx");
  CHECK(import_proto(twice).ok());
  twice.mutable_opset_import(1)->set_version(18);
  CHECK(problem_of(twice) == "m.onnx: imports two opsets of ai.onnx, 17 and 18");
  ModelProto none = relu_model();
  none.clear_opset_import();
  CHECK_THAT(problem_of(none), Contains("imports no opset"));
  ModelProto graphless = relu_model();
  graphless.clear_graph();
  CHECK(problem_of(graphless) == "m.onnx: has no graph");
}

TEST_CASE("everything unsupported is told at once, with its nodes") {
  ModelProto model = relu_model();
  add_node(model, "Foo", {"y"}, {"a"}, "f1");
  add_node(model, "Bar", {"a"}, {"b"}, "b1")->set_domain("com.example");
  add_node(model, "Foo", {"b"}, {"c"}, "f2");
  add_node(model, "Young", {"c"}, {"d"}, "young");
  add_node(model, "Secret", {"d"}, {"e"}, "secret")->set_domain("svengine");
  NodeProto* branch = add_node(model, "Relu", {"e"}, {"f"}, "branch");
  add_attribute(branch, "body", AttributeProto::GRAPH)->mutable_g()->set_name("inner");
  CHECK(problem_of(model) ==
        "m.onnx: not supported: Foo of ai.onnx (nodes 'f1', 'f2'); Bar of com.example (node 'b1'); "
        "Young of ai.onnx in opset 17 (known: 18 to 28) (node 'young'); Secret of svengine (node 'secret'); "
        "Relu with a subgraph as attribute 'body' (node 'branch')");
}

TEST_CASE("operators of ONNX Runtime's layout for one machine come with advice, once") {
  ModelProto model = relu_model();
  for (const char* op : {"Conv", "ReorderInput"}) add_node(model, op, {"y"}, {op}, op)->set_domain("com.microsoft.nchwc");
  CHECK(problem_of(model) ==
        "m.onnx: not supported: Conv of com.microsoft.nchwc (node 'Conv'); ReorderInput of com.microsoft.nchwc (node 'ReorderInput'). "
        "com.microsoft.nchwc is ONNX Runtime's layout for one kind of machine: let it save the model optimised at level 'extended', not 'all'");
}

TEST_CASE("what is unsupported comes with versions that are newer than known, and with names cut short") {
  ModelProto model = relu_model(99, 77);
  add_node(model, std::string(300, 'N'), {"y"}, {"a"}, "long");
  const std::string problem = problem_of(model);
  CHECK_THAT(problem, Contains("not supported: " + std::string(60, 'N') + "... of ai.onnx (node 'long'); the model has IR version 77, newer than"));
  CHECK_THAT(problem, Contains("it needs opset 99 of ai.onnx, newer than"));
  CHECK(problem.size() < 400);
}

TEST_CASE("types that operators do not take are told together, those within functions too") {
  ModelProto one = relu_model();
  add_input(one, "i", {1, 3}, DType::i64);
  add_node(one, "Real", {"i"}, {"a"}, "only");
  add_node(one, "Relu", {"a"}, {"b"}, "behind");
  const std::string only = "node 'only' (Real): input 0 (x) is of type int64, needs float32 or float64 [inputs: int64[1x3]]";
  CHECK(problem_of(one) == "m.onnx: " + only);
  ModelProto many = one;
  add_input(many, "h", {1, 3}, DType::f16);
  add_node(many, "Product", {"h", "h"}, {"c"}, "p1");
  add_node(many, "Product", {"h", "h"}, {"d"}, "p2");
  add_node(many, "Real", {"h"}, {"e"}, "r");
  add_node(many, "Add", {"c", "e"}, {"f"}, "follows");
  FunctionProto* function = many.add_functions();
  function->set_name("Twice");
  function->set_domain("own");
  function->add_input("p");
  function->add_output("q");
  NodeProto* inner = function->add_node();
  inner->set_op_type("Product");
  for (const char* name : {"p", "p"}) inner->add_input(name);
  inner->add_output("q");
  add_node(many, "Twice", {"i"}, {"g"}, "call")->set_domain("own");
  CHECK(problem_of(many) == "m.onnx: not supported: int64: Real, Product; float16: Product, Real. First: " + only);
  // What else is wrong may follow from it, and versions are told with it.
  add_output(many, "nowhere");
  many.set_ir_version(77);
  CHECK_THAT(problem_of(many), Contains("float16: Product, Real. First: " + only + "; the model has IR version 77, newer than"));
}

TEST_CASE("unsupported parts of the format are named, and messages stay short") {
  ModelProto function = relu_model();
  function.add_functions()->set_name("Relu");
  CHECK(problem_of(function) == "m.onnx: node 'relu' (Relu): has 1 inputs and 1 outputs; the function has 0 and 0");
  ModelProto training = relu_model();
  training.add_training_info();
  CHECK(problem_of(training) == "m.onnx: not supported: training_info");
  for (const auto& [type, text] : std::vector<std::pair<AttributeProto::AttributeType, std::string>>{
           {AttributeProto::SPARSE_TENSORS, "a list of sparse tensors"}, {AttributeProto::TENSORS, "a list of tensors"},
           {AttributeProto::TYPE_PROTO, "a type"}, {AttributeProto::GRAPHS, "a subgraph"}}) {
    ModelProto model = scale_model();
    add_attribute(only_node(model), "a", type);
    CHECK(problem_of(model) == "m.onnx: not supported: Scale with " + text + " as attribute 'a' (node 'scale')");
  }
  ModelProto many = relu_model();
  for (int i = 0; i < 5000; ++i) add_node(many, "Foo", {"x"}, {fmt::format("v{}", i)});
  for (int i = 0; i < 5000; ++i) add_node(many, fmt::format("Foo{}", i), {"x"}, {fmt::format("w{}", i)});
  const std::string problem = problem_of(many);
  CHECK_THAT(problem, Contains("'Foo_3' and 4997 more)"));
  CHECK_THAT(problem, Contains("; and 4971 more"));
  CHECK(problem.size() < 2000);
}

TEST_CASE("unsupported operators are told before external data are looked for") {
  ModelProto model = relu_model();
  add_node(model, "Foo", {"y"}, {"a"}, "f1");
  TensorProto* w = model.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(1);
  w->add_dims(1);
  w->set_data_location(TensorProto::EXTERNAL);
  CHECK(problem_of(model) == "m.onnx: not supported: Foo of ai.onnx (node 'f1')");
}

TEST_CASE("the graph's values: undefined, duplicate, cyclic, out of order") {
  ModelProto undefined = relu_model();
  only_node(undefined)->set_input(0, "q");
  CHECK(problem_of(undefined) == "m.onnx: node 'relu' (Relu) uses 'q', which is no input, no initializer and no node's output");
  ModelProto twice = relu_model();
  add_node(twice, "Relu", {"x"}, {"y"}, "again");
  CHECK(problem_of(twice) == "m.onnx: node 'again' (Relu) computes 'y', which node 'relu' (Relu) computes already");
  ModelProto shadow = relu_model();
  only_node(shadow)->set_output(0, "x");
  CHECK(problem_of(shadow) == "m.onnx: node 'relu' (Relu) computes 'x', which is already an input or initializer");
  ModelProto self = relu_model();
  only_node(self)->set_input(0, "y");
  CHECK(problem_of(self) == "m.onnx: node 'relu' (Relu) uses its own output 'y': a cycle");
  ModelProto cycle = relu_model();
  only_node(cycle)->set_input(0, "b");
  add_node(cycle, "Relu", {"y"}, {"a"}, "n1");
  add_node(cycle, "Relu", {"a"}, {"b"}, "n2");
  CHECK(problem_of(cycle) == "m.onnx: node 'relu' (Relu) uses 'b' of node 'n2' (Relu), which needs it in turn: a cycle");
  ModelProto order = relu_model();
  only_node(order)->set_input(0, "b");
  add_node(order, "Relu", {"x"}, {"b"}, "n2");
  CHECK(problem_of(import_proto(order, {.strict = true})) ==
        "m.onnx: node 'relu' (Relu) uses 'b' of node 'n2' (Relu), which comes later; ONNX wants nodes in the order of computation");
}

TEST_CASE("the graph's inputs, outputs and initializers") {
  ModelProto no_type = relu_model();
  no_type.mutable_graph()->mutable_input(0)->clear_type();
  CHECK(problem_of(no_type) == "m.onnx: input 'x' has no type");
  ModelProto twice = relu_model();
  add_input(twice, "x", {1});
  CHECK(problem_of(twice) == "m.onnx: input 'x' is declared twice");
  ModelProto nameless = relu_model();
  add_input(nameless, "", {1});
  CHECK(problem_of(nameless) == "m.onnx: an input of the graph has no name");
  ModelProto negative = relu_model();
  negative.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(-1);
  CHECK_THAT(problem_of(negative), Contains("input 'x': dimension -1 is negative"));
  ModelProto huge = relu_model();
  set_type(huge.mutable_graph()->mutable_input(0), "x", {int64_t{1} << 40, int64_t{1} << 40});
  CHECK_THAT(problem_of(huge), Contains("input 'x': shape "));
  ModelProto deep = relu_model();
  set_type(deep.mutable_graph()->mutable_input(0), "x", std::vector<int64_t>(10000, 1));
  CHECK_THAT(problem_of(deep), Contains("rank 100"));
  ModelProto complex = relu_model();
  set_type(complex.mutable_graph()->mutable_input(0), "x", {1}, static_cast<DType>(14));
  CHECK(problem_of(complex) == "m.onnx: input 'x': element type complex64 is not supported");
  ModelProto sequence = relu_model();
  sequence.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sparse_tensor_type();
  CHECK(problem_of(sequence) == "m.onnx: input 'x': is a sparse tensor; only dense ones are supported");
  ModelProto outputless = relu_model();
  outputless.mutable_graph()->clear_output();
  CHECK(problem_of(outputless) == "m.onnx: the graph has no outputs");
  ModelProto lost = relu_model();
  add_output(lost, "q");
  CHECK(problem_of(lost) == "m.onnx: output 'q': no node computes it");
  ModelProto weights = relu_model();
  add_initializer(weights, "w", {2}, {1, 2});
  add_initializer(weights, "w", {2}, {1, 2});
  CHECK(problem_of(weights) == "m.onnx: initializer 'w' is given twice");
  ModelProto anonymous = relu_model();
  add_initializer(anonymous, "", {2}, {1, 2});
  CHECK(problem_of(anonymous) == "m.onnx: an initializer has no name");
  ModelProto other = relu_model();
  add_initializer(other, "x", {2}, {1, 2});
  CHECK(problem_of(other) == "m.onnx: initializer 'x': is declared as float32[1x3], but is float32[2]");
  ModelProto short_data = relu_model();
  add_initializer(short_data, "w", {3}, {1, 2});
  CHECK(problem_of(short_data) == "m.onnx: initializer: tensor 'w': raw_data has 8 bytes, a float32 tensor of shape 3 needs 12");
  ModelProto no_fields = relu_model();
  no_fields.mutable_graph()->add_initializer();
  CHECK_THAT(problem_of(no_fields), Contains("an initializer has no name"));
}

TEST_CASE("names that could harm a terminal, or are too long") {
  ModelProto value = relu_model();
  only_node(value)->set_output(0, "y\x1b[2J");
  CHECK(problem_of(value) == "m.onnx: the name of value 'y\\x1b[2J' has control characters or is not UTF-8");
  ModelProto input = relu_model();
  add_input(input, "\xff", {1});
  CHECK_THAT(problem_of(input), Contains("'\\xff'"));
  ModelProto op = relu_model();
  only_node(op)->set_op_type("a\nb");
  CHECK_THAT(problem_of(op), Contains("the name of operator 'a\\x0ab'"));
  ModelProto node = relu_model();
  only_node(node)->set_name("bell\a");
  CHECK(import_proto(node)->graph.nodes().front()->name() == "bell\\x07");
  ModelProto used = relu_model();
  only_node(used)->set_input(0, std::string(1 << 20, 'a'));
  CHECK(problem_of(used).size() < 1000);
  ModelProto long_name = relu_model();
  only_node(long_name)->set_output(0, std::string(1 << 20, 'a'));
  CHECK_THAT(problem_of(long_name), Contains("1048576 bytes long, at most 4096"));
}

TEST_CASE("nodes and their attributes") {
  ModelProto none = relu_model();
  only_node(none)->clear_op_type();
  CHECK_THAT(problem_of(none), Contains("node 'relu' names no operator"));
  ModelProto few = relu_model();
  only_node(few)->set_op_type("Add");
  CHECK(problem_of(few) == "m.onnx: node 'relu' (Add): has 1 inputs, needs 2 [inputs: float32[1x3]]");
  ModelProto no_input = relu_model();
  only_node(no_input)->clear_input();
  CHECK(problem_of(no_input) == "m.onnx: node 'relu' (Relu): has no first input");
  ModelProto no_output = relu_model();
  only_node(no_output)->clear_output();
  CHECK(problem_of(no_output) == "m.onnx: node 'relu' (Relu): has no outputs");
  ModelProto types = relu_model();
  add_input(types, "i", {1, 3}, DType::i64);
  only_node(types)->set_op_type("Add");
  only_node(types)->add_input("i");
  CHECK(problem_of(types) == "m.onnx: node 'relu' (Add): adds float32 and int64 [inputs: float32[1x3], int64[1x3]]");

  ModelProto missing = scale_model();
  CHECK(problem_of(missing) == "m.onnx: node 'scale' (Scale): attribute 'factor' is missing [inputs: float32[1x3]]");
  ModelProto kind = scale_model();
  add_attribute(only_node(kind), "factor", AttributeProto::INT)->set_i(1);
  CHECK_THAT(problem_of(kind), Contains("attribute 'factor' is of kind int, needs float"));
  ModelProto unknown = scale_model();
  add_attribute(only_node(unknown), "colour", AttributeProto::INT)->set_i(1);
  CHECK_THAT(problem_of(unknown), Contains("attribute 'colour' is not one of this operator's"));
  ModelProto twice = scale_model();
  add_attribute(only_node(twice), "factor", AttributeProto::FLOAT)->set_f(1);
  add_attribute(only_node(twice), "factor", AttributeProto::FLOAT)->set_f(2);
  CHECK(problem_of(twice) == "m.onnx: node 'scale' (Scale): attribute 'factor' is given twice");
  ModelProto two = scale_model();
  AttributeProto* both = add_attribute(only_node(two), "factor", AttributeProto::FLOAT);
  both->set_f(1);
  both->set_i(1);
  CHECK_THAT(problem_of(two), Contains("attribute 'factor': holds two values, FLOAT and INT"));
  ModelProto mismatch = scale_model();
  add_attribute(only_node(mismatch), "factor", AttributeProto::FLOAT)->set_i(1);
  CHECK_THAT(problem_of(mismatch), Contains("attribute 'factor': is declared as FLOAT, but holds INT"));
  ModelProto nothing = scale_model();
  only_node(nothing)->add_attribute()->set_name("factor");
  CHECK_THAT(problem_of(nothing), Contains("attribute 'factor': has neither a type nor a value"));
  ModelProto nameless = scale_model();
  only_node(nameless)->add_attribute()->set_i(1);
  CHECK_THAT(problem_of(nameless), Contains("an attribute has no name"));
  ModelProto reference = scale_model();
  add_attribute(only_node(reference), "factor", AttributeProto::FLOAT)->set_ref_attr_name("alpha");
  CHECK_THAT(problem_of(reference), Contains("refers to an attribute of a function"));
  ModelProto tensor = scale_model();
  fill_raw(add_attribute(only_node(tensor), "table", AttributeProto::TENSOR)->mutable_t(), {3}, {1});
  CHECK_THAT(problem_of(tensor), Contains("node 'scale' (Scale): attribute 'table': tensor: raw_data has 4 bytes"));
  ModelProto without = scale_model();
  add_attribute(only_node(without), "table", AttributeProto::TENSOR);
  CHECK_THAT(problem_of(without), Contains("attribute 'table': is declared as TENSOR, but holds none"));
  ModelProto hollow = scale_model();
  add_attribute(only_node(hollow), "table", AttributeProto::TENSOR)->mutable_t();
  CHECK_THAT(problem_of(hollow), Contains("attribute 'table': a tensor has neither type nor data"));
}

TEST_CASE("attributes that only conversions set are no file's") {
  int refused = 0;
  for (const OpDef& op : all_ops().all())
    for (const AttributeDef& a : op.attributes) {
      if (!a.internal || op.domain == kInternalDomain) continue;
      ModelProto model = relu_model(std::min(20, op.until));
      only_node(model)->set_op_type(op.name);
      only_node(model)->set_domain(op.domain);
      add_attribute(only_node(model), a.name, AttributeProto::INT)->set_i(1);
      CHECK_THAT(problem_of(import_proto(model, {.ops = &all_ops()})), Contains("'" + std::string(a.name) + "' is not one of this operator's"));
      ++refused;
    }
  CHECK(refused >= 8);  // Softmax and its kin, Dropout, and those with bodies
}

TEST_CASE("nesting, unknown fields and structures that would need too much memory are bounded") {
  const ModelProto model = relu_model();
  // Subgraphs in subgraphs: graph.node.attribute.g.node.attribute.g ..
  std::string graph;
  for (int i = 0; i < 1000; ++i) graph = nested(1, 1, nested(5, 1, nested(6, 1, graph)));
  CHECK_THAT(problem_of_text(model.SerializeAsString() + nested(7, 1, graph)), Contains("nested more than 16 deep"));
  // sequence(sequence(sequence(..))) in an input's type.
  std::string type;
  for (int i = 0; i < 1000; ++i) type = nested(4, 1, nested(1, 1, type));
  CHECK_THAT(problem_of_text(model.SerializeAsString() + nested(7, 1, nested(11, 1, nested(2, 1, type)))),
             Contains("protobuf cannot parse"));
  // A million unknown fields are left out.
  std::string unknown;
  for (int i = 0; i < 1000000; ++i) unknown += "\xf8\x3f\x01";
  CHECK(import_text(model.SerializeAsString() + unknown).ok());
  // Two bytes each make objects of hundreds.
  std::string nodes;
  for (int i = 0; i < 4000000; ++i) nodes += std::string("\x0a\x00", 2);
  std::string head;
  onnx::append_field_head(head, 7, nodes.size());
  CHECK_THAT(problem_of_text(model.SerializeAsString() + head + nodes), Contains("needs more than 1024 MiB"));
}
}  // namespace import_refusal_test
