#include "importers/onnx/external_data.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "importers/onnx/import_test_util.h"

namespace external_data_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// A folder with model/m.onnx to be, model/sub/, and a secret beside the model's folder; removed at the end.
struct Folder {
  Folder() : root(fs::temp_directory_path() / fmt::format("svengine_external_{}", getpid())) {
    fs::remove_all(root);
    fs::create_directories(root / "model" / "sub");
    write(root / "secret", std::string(64, 's'));
  }
  ~Folder() { fs::remove_all(root); }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  fs::path model() const { return root / "model"; }
  fs::path root;
};

using Entries = std::vector<std::pair<std::string, std::string>>;

/// A model whose initializer w (`count` floats) has these entries of external data, imported from its folder.
Result<Model> import_external(const Folder& folder, const Entries& entries, int64_t count = 4, int type = 1) {
  ModelProto model = relu_model();
  TensorProto* w = model.mutable_graph()->add_initializer();
  w->set_name("w");
  w->set_data_type(type);
  w->add_dims(count);
  w->set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : entries) {
    auto* entry = w->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  Folder::write(folder.model() / "m.onnx", model.SerializeAsString());
  return import_onnx(folder.model() / "m.onnx", {.ops = &test_ops()});
}

std::string problem_with(const Folder& folder, const Entries& entries) { return problem_of(import_external(folder, entries)); }

}  // namespace

TEST_CASE("external data are used where they lie, in the folder and below it") {
  const Folder folder;
  const std::vector<float> values{1, 2, 3, 4};
  std::string bytes(reinterpret_cast<const char*>(values.data()), 16);
  Folder::write(folder.model() / "w.bin", "..." + bytes);
  Folder::write(folder.model() / "sub" / "w.bin", bytes);
  for (const Entries& entries : {Entries{{"location", "w.bin"}, {"offset", "3"}, {"length", "16"}, {"checksum", "?"}, {"colour", "red"}},
                                 Entries{{"location", "sub/w.bin"}}, Entries{{"location", "./sub//w.bin"}, {"length", "16"}}}) {
    const Result<Model> model = import_external(folder, entries);
    REQUIRE(model.ok());
    CHECK(values_of<float>(find_value(model->graph, "w")->constant()) == values);
  }
  Folder::write(folder.model() / "big.bin", std::string(40000, 'a'));
  const Result<Model> big = import_external(folder, {{"location", "big.bin"}}, 10000);
  REQUIRE(big.ok());
  fs::remove(folder.model() / "big.bin");
  CHECK(find_value(big->graph, "w")->constant().raw()[39999] == std::byte{'a'});
}

TEST_CASE("locations outside the model's folder are refused") {
  const Folder folder;
  CHECK_THAT(problem_with(folder, {{"location", "../secret"}}),
             Contains("m.onnx: initializer: tensor 'w': external data at '../secret': '..' leads out"));
  CHECK_THAT(problem_with(folder, {{"location", "sub/../../secret"}}), Contains("leads out"));
  CHECK_THAT(problem_with(folder, {{"location", "sub/.."}}), Contains("leads out"));
  CHECK_THAT(problem_with(folder, {{"location", (folder.root / "secret").string()}}), Contains("an absolute path"));
  CHECK_THAT(problem_with(folder, {{"location", "/dev/zero"}}), Contains("an absolute path"));
  fs::create_symlink(folder.root / "secret", folder.model() / "link");
  CHECK_THAT(problem_with(folder, {{"location", "link"}}), Contains("'link' is a symbolic link"));
  fs::create_directory_symlink(folder.root, folder.model() / "up");
  CHECK_THAT(problem_with(folder, {{"location", "up/secret"}}), Contains("'up' is a symbolic link"));
  fs::create_hard_link(folder.root / "secret", folder.model() / "hard");
  CHECK_THAT(problem_with(folder, {{"location", "hard"}}), Contains("has 2 hard links"));
}

TEST_CASE("locations that are no regular files are refused") {
  const Folder folder;
  CHECK_THAT(problem_with(folder, {{"location", "missing.bin"}}), Contains("cannot open external data at 'missing.bin'"));
  CHECK_THAT(problem_with(folder, {{"location", ""}}), Contains("empty location"));
  CHECK_THAT(problem_with(folder, {{"location", "."}}), Contains("names no file"));
  CHECK_THAT(problem_with(folder, {}), Contains("has no location"));
  CHECK_THAT(problem_with(folder, {{"location", std::string("a\0b", 3)}}), Contains("NUL"));
  CHECK_THAT(problem_with(folder, {{"location", std::string(100000, 'a')}}), Contains("100000 bytes long"));
  CHECK_THAT(problem_with(folder, {{"location", "a\x1b[1m"}}), Contains("a\\x1b[1m"));
  CHECK_THAT(problem_with(folder, {{"location", "sub"}}), Contains("is a directory"));
  CHECK_THAT(problem_with(folder, {{"location", "m.onnx/w"}}), Contains("cannot open"));
  REQUIRE(mkfifo((folder.model() / "fifo").c_str(), 0600) == 0);
  CHECK_THAT(problem_with(folder, {{"location", "fifo"}}), Contains("not a regular file"));
  CHECK_THAT(problem_with(folder, {{"location", "a"}, {"location", "b"}}), Contains("two locations"));
}

TEST_CASE("offsets and lengths are plain numbers that fit file and tensor") {
  const Folder folder;
  Folder::write(folder.model() / "w.bin", std::string(20, 'a'));
  for (const char* bad : {"-1", "+1", "1.0", "0x10", " 1", "1 ", "", "ten", "99999999999999999999"})
    CHECK_THAT(problem_with(folder, {{"location", "w.bin"}, {"offset", bad}}), Contains("is not a number of bytes"));
  CHECK_THAT(problem_with(folder, {{"location", "w.bin"}, {"length", "-16"}}), Contains("the length '-16'"));
  CHECK_THAT(problem_with(folder, {{"location", "w.bin"}, {"length", "1000000000000000000"}}),
             Contains("is 1000000000000000000 bytes long, the tensor needs 16"));
  CHECK_THAT(problem_with(folder, {{"location", "w.bin"}, {"length", "12"}}), Contains("is 12 bytes long, the tensor needs 16"));
  CHECK_THAT(problem_with(folder, {{"location", "w.bin"}, {"offset", "5"}}),
             Contains("too short: 16 bytes from byte 5 on are wanted, the file has 20"));
  CHECK_THAT(problem_with(folder, {{"location", "w.bin"}, {"offset", "18446744073709551615"}}), Contains("too short"));
  CHECK(import_external(folder, {{"location", "w.bin"}, {"offset", "4"}}).ok());
}

TEST_CASE("data both inside and outside, and outside of bytes without a folder") {
  const Folder folder;
  Folder::write(folder.model() / "w.bin", std::string(16, 'a'));
  ModelProto model = relu_model();
  TensorProto* w = add_initializer(model, "w", {4}, {1, 2, 3, 4});
  w->set_data_location(TensorProto::EXTERNAL);
  auto* entry = w->add_external_data();
  entry->set_key("location");
  entry->set_value("w.bin");
  CHECK_THAT(problem_of(model), Contains("has data both in the model and in an external file"));
  w->clear_raw_data();
  CHECK_THAT(problem_of(model), Contains("cannot be found for bytes without a folder"));
  CHECK(import_proto(model, {.external_folder = folder.model().string()}).ok());
}
}  // namespace external_data_test
