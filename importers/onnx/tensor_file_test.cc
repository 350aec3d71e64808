#include "importers/onnx/tensor_file.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

namespace tensor_file_test {
using namespace svengine;
using Catch::Matchers::Contains;

namespace {

struct TemporaryFile {
  ~TemporaryFile() { std::filesystem::remove(path); }
  Result<Tensor> read(const std::string& bytes, DType kind) const {
    std::filesystem::remove(path);  // a file that is written over goes to the disk at once
    std::ofstream(path, std::ios::binary) << bytes;
    return load_value_proto(path, kind);
  }
  std::string path = fmt::format("{}/svengine_value_{}.pb", std::filesystem::temp_directory_path().string(), getpid());
};

const Tensor kNumbers = Tensor::of<float>({2}, {1, 2}), kWords = Tensor::of_strings({2}, {"a", ""});

/// Each kind, within each other.
std::vector<Tensor> samples() {
  const Tensor map = Tensor::of_items(DType::map, {kWords, kNumbers});
  const Tensor numbered =
      Tensor::of_items(DType::map, {Tensor::of<int64_t>({2}, {-1, INT64_MAX}), Tensor::of_items(DType::sequence, {kNumbers, kNumbers})});
  const Tensor words = Tensor::of_items(DType::map, {Tensor::of<int64_t>({2}, {0, 7}), kWords});
  const Tensor sequence = Tensor::of_items(DType::sequence, {kNumbers, kWords, Tensor::of<int64_t>({}, {5})});
  return {Tensor::of_items(DType::sequence, {}), sequence, Tensor::of_items(DType::sequence, {sequence, sequence}), map, numbered, words,
          Tensor::of_items(DType::sequence, {map, map}), Tensor::of_items(DType::optional, {}), Tensor::of_items(DType::optional, {kNumbers}),
          Tensor::of_items(DType::optional, {sequence}), kNumbers, kWords};
}

}  // namespace

TEST_CASE("values of every kind come back from their files") {
  const TemporaryFile file;
  for (const Tensor& value : samples()) {
    REQUIRE(save_value_proto(value, "v", file.path).ok());
    const Result<Tensor> back = load_value_proto(file.path, value.type());
    REQUIRE(back.ok());
    CHECK(value_proto_bytes(*back, "v") == value_proto_bytes(value, "v"));
    CHECK(back->type() == value.type());
  }
}

TEST_CASE("maps have as many values as keys") {
  const TemporaryFile file;
  const Tensor odd = Tensor::of_items(DType::map, {kWords, Tensor::of<float>({3}, {1, 2, 3})});
  const Result<Tensor> read = file.read(value_proto_bytes(odd, {}), DType::map);
  REQUIRE_FALSE(read.ok());
  CHECK_THAT(read.error().message(), Contains("2 keys and 3 values"));
}

TEST_CASE("files that were cut or changed end in a value or an error") {
  const TemporaryFile file;
  std::mt19937 random(7);
  for (const Tensor& value : samples()) {
    const std::string whole = value_proto_bytes(value, "v");
    for (size_t n = 0; n < whole.size(); ++n) (void)file.read(whole.substr(0, n), value.type());
    for (int i = 0; i < 60; ++i) {
      std::string changed = whole;
      for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random() % 2 ? random() : 0xff);
      const Result<Tensor> read = file.read(changed, value.type());
      if (read.ok()) (void)value_proto_bytes(*read, "v");  // which walks through all of it
      else CHECK_FALSE(read.error().message().empty());
    }
  }
}
}  // namespace tensor_file_test
