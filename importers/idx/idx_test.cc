#include "importers/idx/idx.h"

#include <catch2/catch.hpp>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "importers/npy/npy.h"
#include "importers/tensor/load_tensor.h"

namespace idx_test {
using namespace svengine;
using Catch::Matchers::Contains;

namespace {

const std::string kImages("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02" "abcd", 20);

std::string temporary(const std::string& suffix) {
  return fmt::format("{}/svengine_{}{}", std::filesystem::temp_directory_path().string(), getpid(), suffix);
}

/// The file's tensor, or the problem with it. The name tells nothing of the compression.
Result<Tensor> load(const std::string& bytes, bool gzipped) {
  const std::string path = temporary(gzipped ? "-ubyte.gz" : "-ubyte");
  if (gzipped) {
    gzFile file = gzopen(path.c_str(), "wb9");
    REQUIRE(file);
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  } else {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  Result<Tensor> tensor = load_tensor(path);
  std::filesystem::remove(path);
  return tensor;
}

std::string problem(const std::string& bytes, bool gzipped = false) {
  const Result<Tensor> tensor = load(bytes, gzipped);
  REQUIRE_FALSE(tensor.ok());
  return tensor.error().message();
}

}  // namespace

TEST_CASE("images and labels, plain and gzipped") {
  for (bool gzipped : {false, true}) {
    const Result<Tensor> images = load(kImages, gzipped);
    REQUIRE(images.ok());
    CHECK(images->type() == DType::u8);
    CHECK(images->dims() == Dims{2, 1, 2});
    CHECK(images->data<uint8_t>()[3] == 'd');
    const Result<Tensor> numbers = load(std::string("\0\0\x0c\x01\0\0\0\x02\0\0\0\x05\xff\xff\xff\xfe", 16), gzipped);
    REQUIRE(numbers.ok());
    CHECK(numbers->data<int32_t>()[0] == 5);
    CHECK(numbers->data<int32_t>()[1] == -2);
  }
}

TEST_CASE("damaged and hostile IDX files are refused") {
  CHECK_THAT(problem(""), Contains("not an IDX file"));
  CHECK_THAT(problem("hello"), Contains("not an IDX file"));
  CHECK_THAT(problem(std::string("\0\0\x07\x01\0\0\0\0", 8)), Contains("element type 0x07"));
  CHECK_THAT(problem(std::string("\0\0\x08\xff", 4)), Contains("255 dimensions"));
  CHECK_THAT(problem(std::string("\0\0\x08\x03\0\0", 6)), Contains("cut off in its header"));
  CHECK_THAT(problem(std::string("\0\0\x08\x02\xff\xff\xff\xff\xff\xff\xff\xff", 12)), Contains("2^48"));
  CHECK_THAT(problem(std::string("\0\0\x08\x01\xff\xff\xff\xff", 8), true), Contains("cannot hold"));
  for (bool gzipped : {false, true}) {
    CHECK_FALSE(load(kImages + "e", gzipped).ok());
    for (size_t n = 0; n < kImages.size(); ++n) CHECK_FALSE(load(kImages.substr(0, n), gzipped).ok());
  }
  CHECK_THAT(problem("\x1f\x8b\x08 no gzip file after all"), Contains("damaged"));
}

TEST_CASE("the name of a file says its format") {
  const std::string path = temporary(".npy");
  REQUIRE(save_npy(Tensor::scalar<float>(2), path).ok());
  CHECK(load_tensor(path).ok());
  CHECK_THAT(load_tensor(path, "a").error().message(), Contains("only .npz files"));
  std::filesystem::remove(path);
  CHECK_THAT(load_tensor("a.txt").error().message(), Contains("a.txt: tensors are read from .npy"));
  CHECK_THAT(load_tensor("missing.pb").error().message(), Contains("missing.pb"));
}
}  // namespace idx_test
