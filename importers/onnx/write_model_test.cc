#include "importers/onnx/write_model.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "importers/onnx/import_test_util.h"

namespace write_model_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;
using onnx::OnnxFile;
using onnx::WriteOptions;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() : path(fs::temp_directory_path() / fmt::format("svengine_write_{}", getpid())) { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name) const { return path / name; }
  fs::path path;
};

void save(const ModelProto& model, const std::string& path) { std::ofstream(path, std::ios::binary) << model.SerializeAsString(); }

ModelProto load(const std::string& path) {
  ModelProto model;
  std::ifstream file(path, std::ios::binary);
  REQUIRE(model.ParseFromIstream(&file));
  return model;
}

TensorProto floats(const std::string& name, int count, bool raw) {
  TensorProto out;
  out.set_name(name);
  out.set_doc_string("of " + name);
  out.set_data_type(TensorProto::FLOAT);
  out.add_dims(count);
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1.0f);
  if (raw) out.set_raw_data(values.data(), values.size() * sizeof(float));
  else for (float value : values) out.add_float_data(value);
  return out;
}

/// A tensor in every place where there can be one, and what the importer does not take.
ModelProto rich_model() {
  ModelProto model = relu_model();
  model.set_doc_string("of the model");
  GraphProto& graph = *model.mutable_graph();
  *graph.add_initializer() = floats("w", 5000, true);
  *graph.add_initializer() = floats("v", 3, false);
  SparseTensorProto& sparse = *graph.add_sparse_initializer();
  *sparse.mutable_values() = floats("s", 2, true);
  *sparse.mutable_indices() = floats("s.indices", 2, true);
  sparse.add_dims(9);
  NodeProto& node = *graph.mutable_node(0);
  node.set_doc_string("of the node");
  const auto attribute = [&](const char* name, AttributeProto::AttributeType type) -> AttributeProto& {
    AttributeProto& out = *node.add_attribute();
    out.set_name(name);
    out.set_type(type);
    return out;
  };
  *attribute("t", AttributeProto::TENSOR).mutable_t() = floats("t", 2000, false);
  AttributeProto& tensors = attribute("tensors", AttributeProto::TENSORS);
  for (int i : {1, 2}) *tensors.add_tensors() = floats("", i, true);
  GraphProto& body = *attribute("g", AttributeProto::GRAPH).mutable_g();
  *body.add_initializer() = floats("inner", 4000, true);
  *attribute("graphs", AttributeProto::GRAPHS).add_graphs() = body;
  *attribute("sparse", AttributeProto::SPARSE_TENSOR).mutable_sparse_tensor() = sparse;
  graph.add_quantization_annotation()->set_tensor_name("w");
  *model.add_training_info()->mutable_algorithm()->add_initializer() = floats("rate", 1, true);
  FunctionProto& function = *model.add_functions();
  *function.add_node() = node;
  return model;
}

std::string difference(const ModelProto& got, const ModelProto& expected) {
  return got.SerializeAsString() == expected.SerializeAsString() ? "" : "another model";
}

}  // namespace

TEST_CASE("a model that nobody changed is written as it was") {
  const Folder folder;
  const ModelProto model = rich_model();
  save(model, folder.file("a.onnx"));
  const OnnxFile file = OnnxFile::open(folder.file("a.onnx")).value();
  CHECK(file.model().graph().initializer(0).raw_data().size() == 16);
  REQUIRE(onnx::write_model(file, folder.file("b.onnx")).ok());
  CHECK(difference(load(folder.file("b.onnx")), model) == "");
  CHECK_FALSE(fs::exists(folder.file("b.onnx.data")));
}

TEST_CASE("tensors are renamed, moved, dropped and added by their placeholders") {
  const Folder folder;
  save(rich_model(), folder.file("a.onnx"));
  OnnxFile file = OnnxFile::open(folder.file("a.onnx")).value();
  GraphProto& graph = *file.model().mutable_graph();
  graph.mutable_initializer(0)->set_name("renamed");
  *graph.mutable_initializer(1) = file.model().graph().node(0).attribute(0).t();
  graph.clear_sparse_initializer();
  *graph.add_initializer() = file.add("new", Tensor::of<int64_t>({2}, {7, 8}));
  *graph.add_initializer() = file.add("words", Tensor::of_strings({2}, {"one", "two"}));
  const std::vector<int8_t> small = {1, -2, 3};
  *graph.add_initializer() = file.add("small", Tensor::wrap(DType::i4, {3}, small.data(), nullptr));
  CHECK(file.tensor(graph.initializer(2)).value().as_int64s() == std::vector<int64_t>{7, 8});
  REQUIRE(onnx::write_model(file, folder.file("a.onnx")).ok());  // over itself, while it is mapped
  const ModelProto got = load(folder.file("a.onnx"));
  TensorProto renamed = floats("w", 5000, true);
  renamed.set_name("renamed");
  CHECK(got.graph().initializer(0).SerializeAsString() == renamed.SerializeAsString());
  CHECK(got.graph().initializer(1).SerializeAsString() == floats("t", 2000, false).SerializeAsString());
  CHECK(got.graph().sparse_initializer_size() == 0);
  CHECK(got.graph().initializer(2).raw_data().size() == 16);
  CHECK(got.graph().initializer(3).string_data(1) == "two");
  CHECK(got.graph().initializer(4).raw_data() == "\xe1\x03");
}

TEST_CASE("data go beside the model and come back") {
  const Folder folder;
  const ModelProto model = rich_model();
  save(model, folder.file("a.onnx"));
  const OnnxFile file = OnnxFile::open(folder.file("a.onnx")).value();
  WriteOptions options{.data = WriteOptions::Data::external};
  REQUIRE(onnx::write_model(file, folder.file("b.onnx"), options).ok());
  const OnnxFile outside = OnnxFile::open(folder.file("b.onnx")).value();
  const GraphProto& graph = outside.model().graph();
  CHECK(outside.record(graph.initializer(0))->external);
  CHECK_FALSE(outside.record(graph.initializer(1))->external);  // small
  CHECK_FALSE(outside.record(graph.node(0).attribute(0).t())->external);
  CHECK(outside.record(graph.node(0).attribute(2).g().initializer(0))->external);
  const Tensor back = outside.tensor(graph.initializer(0)).value();
  CHECK((back.count() == 5000 && back.data<float>()[4999] == 5000));
  CHECK(fs::file_size(folder.file("b.onnx.data")) >= (5000 + 2 * 4000) * sizeof(float));

  REQUIRE(onnx::write_model(outside, folder.file("c.onnx")).ok());  // as it is: in a file of its own
  fs::remove(folder.file("b.onnx.data"));
  const OnnxFile moved = OnnxFile::open(folder.file("c.onnx")).value();
  REQUIRE(onnx::write_model(moved, folder.file("d.onnx"), {.data = WriteOptions::Data::embedded}).ok());
  const OnnxFile inside = OnnxFile::open(folder.file("d.onnx")).value();
  CHECK_FALSE(inside.record(inside.model().graph().initializer(0))->external);
  CHECK(inside.tensor(inside.model().graph().initializer(0)).value().data<float>()[17] == 18);
}

TEST_CASE("tensors are made while they are written") {
  const Folder folder;
  save(rich_model(), folder.file("a.onnx"));
  OnnxFile file = OnnxFile::open(folder.file("a.onnx")).value();
  GraphProto& graph = *file.model().mutable_graph();
  graph.clear_initializer();
  const auto counting = [](int64_t told, int64_t made) {
    return onnx::LateTensor{DType::i32, {told}, [made](const onnx::ByteSink& sink) -> Status {
      for (int32_t i = 0; i < made; ++i) SV_TRY(sink(std::as_bytes(std::span(&i, 1))));
      return {};
    }};
  };
  *graph.add_initializer() = file.add("few", counting(3, 3));
  *graph.add_initializer() = file.add("many", counting(600, 600));
  CHECK(file.tensor(graph.initializer(1)).value().as_int64s()[599] == 599);
  for (const auto data : {WriteOptions::Data::as_is, WriteOptions::Data::external}) {
    REQUIRE(onnx::write_model(file, folder.file("b.onnx"), {.data = data}).ok());
    const OnnxFile written = OnnxFile::open(folder.file("b.onnx")).value();
    const GraphProto& got = written.model().graph();
    CHECK(written.tensor(got.initializer(0)).value().as_int64s() == std::vector<int64_t>{0, 1, 2});
    CHECK(written.tensor(got.initializer(1)).value().as_int64s()[599] == 599);
    CHECK(written.record(got.initializer(1))->external == (data == WriteOptions::Data::external));
    CHECK_FALSE(written.record(got.initializer(0))->external);
  }
  *graph.add_initializer() = file.add("wrong", counting(600, 599));
  const Status wrong = onnx::write_model(file, folder.file("b.onnx"));
  REQUIRE_FALSE(wrong.ok());
  CHECK_THAT(wrong.error().message(), Contains("2400 bytes was made with 2396"));
  CHECK_FALSE(file.tensor(graph.initializer(2)).ok());
}

TEST_CASE("what cannot be written leaves the old file") {
  const Folder folder;
  save(rich_model(), folder.file("a.onnx"));
  const OnnxFile file = OnnxFile::open(folder.file("a.onnx")).value();
  std::ofstream(folder.file("b.onnx")) << "old";
  const Status large = onnx::write_model(file, folder.file("b.onnx"), {.most_model_bytes = 20000});
  REQUIRE_FALSE(large.ok());
  CHECK_THAT(large.error().message(), Contains("a file beside it"));
  CHECK(fs::file_size(folder.file("b.onnx")) == 3);
  const Result<OnnxFile> none = OnnxFile::open(folder.file("b.onnx"));
  REQUIRE_FALSE(none.ok());
  CHECK_THAT(none.error().message(), Contains("is no ONNX model"));
  ModelProto lost = rich_model();
  TensorProto& w = *lost.mutable_graph()->mutable_initializer(0);
  w.clear_raw_data();
  w.set_data_location(TensorProto::EXTERNAL);
  w.add_external_data()->set_key("location");
  w.mutable_external_data(0)->set_value("nowhere.data");
  save(lost, folder.file("c.onnx"));
  const OnnxFile missing = OnnxFile::open(folder.file("c.onnx")).value();
  const Status unread = onnx::write_model(missing, folder.file("b.onnx"));
  REQUIRE_FALSE(unread.ok());
  CHECK_THAT(unread.error().message(), Contains("tensor 'w'") && Contains("nowhere.data"));
  CHECK(fs::file_size(folder.file("b.onnx")) == 3);
}
}  // namespace write_model_test
