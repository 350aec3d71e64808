#include "importers/npy/npy.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace npy_test {
using namespace svengine;
using Catch::Matchers::Contains;

namespace {

/// A .npy file in memory: version, dict, elements.
std::string npy(const std::string& dict, const std::string& body, char version = 1) {
  std::string out = "\x93NUMPY";
  out += {version, '\0', static_cast<char>(dict.size() & 255), static_cast<char>(dict.size() >> 8)};
  if (version > 1) out += {'\0', '\0'};
  return out + dict + body;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

Result<Tensor> parse(const std::string& text) { return parse_npy(std::as_bytes(std::span(text.data(), text.size())), nullptr); }

std::string problem(const std::string& text) {
  const Result<Tensor> tensor = parse(text);
  REQUIRE_FALSE(tensor.ok());
  return tensor.error().message();
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T));
}

template <class T>
std::vector<T> values_of(const Tensor& t) {
  return {t.data<T>().begin(), t.data<T>().end()};
}

}  // namespace

TEST_CASE("arrays of all versions and orders") {
  for (char version : {1, 2, 3}) {
    const Result<Tensor> t = parse(npy(dict("<f4", "(2, 3)"), bytes_of<float>({1, 2, 3, 4, 5, 6}), version));
    REQUIRE(t.ok());
    CHECK(t->type() == DType::f32);
    CHECK(t->dims() == Dims{2, 3});
    CHECK(values_of<float>(*t) == std::vector<float>{1, 2, 3, 4, 5, 6});
  }
  const Result<Tensor> fortran = parse(npy(dict("<i8", "(2, 3)", "True"), bytes_of<int64_t>({1, 4, 2, 5, 3, 6})));
  REQUIRE(fortran.ok());
  CHECK(values_of<int64_t>(*fortran) == std::vector<int64_t>{1, 2, 3, 4, 5, 6});
  const Result<Tensor> cube = parse(npy(dict("|u1", "(2, 2, 2)", "True"), std::string("\0\1\2\3\4\5\6\7", 8)));
  REQUIRE(cube.ok());
  CHECK(values_of<uint8_t>(*cube) == std::vector<uint8_t>{0, 4, 2, 6, 1, 5, 3, 7});
  const Result<Tensor> big = parse(npy(dict(">i4", "(2,)"), std::string("\0\0\0\1\xff\xff\xff\xfe", 8)));
  REQUIRE(big.ok());
  CHECK(values_of<int32_t>(*big) == std::vector<int32_t>{1, -2});
  const Result<Tensor> scalar = parse(npy(dict("<f8", "()"), bytes_of<double>({0.5})));
  REQUIRE(scalar.ok());
  CHECK(scalar->dims().empty());
  const Result<Tensor> empty = parse(npy(dict("<f4", "(0, 7)", "True"), ""));
  REQUIRE(empty.ok());
  CHECK(empty->count() == 0);
  const Result<Tensor> bools = parse(npy(dict("|b1", "(3,)"), std::string("\0\1\2", 3)));
  REQUIRE(bools.ok());
  CHECK(values_of<uint8_t>(*bools) == std::vector<uint8_t>{0, 1, 1});
  CHECK(parse(npy("{\"shape\":(1L,),\"descr\":\"<f2\",\"fortran_order\":False}", "ab")).ok());
}

TEST_CASE("hostile and unsupported files are refused") {
  CHECK_THAT(problem(""), Contains("is not a .npy file"));
  CHECK_THAT(problem("hello"), Contains("is not a .npy file"));
  CHECK_THAT(problem("\x93NUMPY\x01"), Contains("cut off in its header"));
  CHECK_THAT(problem(npy(dict("<f4", "(1,)"), "abcd", 9)), Contains("version 9"));
  CHECK_THAT(problem(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12)), Contains("header of 4294967295 bytes"));
  CHECK_THAT(problem(std::string("\x93NUMPY\x01\0\xff\x00", 10) + "{}"), Contains("cut off in its header"));
  CHECK_THAT(problem(npy("import os", "")), Contains("not a dict"));
  CHECK_THAT(problem(npy("{'descr': '<f4'", "")), Contains("not a dict"));
  CHECK_THAT(problem(npy("{'descr': '<f4'}", "")), Contains("lacks one of"));
  CHECK_THAT(problem(npy("{'colour': 1}", "")), Contains("other keys"));
  CHECK_THAT(problem(npy("{'descr': '<f4', 'descr': '<f4'}", "")), Contains("other keys"));
  CHECK_THAT(problem(npy(dict("<f4", "(1,)") + "x", "abcd")), Contains("something follows"));
  CHECK_THAT(problem(npy(dict("|O", "(1,)"), "abcdefgh")), Contains("Python objects"));
  CHECK_THAT(problem(npy(dict("<U4", "(1,)"), "")), Contains("strings"));
  CHECK_THAT(problem(npy(dict("<c8", "(1,)"), "")), Contains("complex"));
  CHECK_THAT(problem(npy(dict("<M8[ns]", "(1,)"), "")), Contains("dates"));
  CHECK_THAT(problem(npy(dict("<f16", "(1,)"), "")), Contains("not known"));
  CHECK_THAT(problem(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "")), Contains("records"));
  CHECK_THAT(problem(npy(dict("<f4", "(-1,)"), "")), Contains("negative"));
  CHECK_THAT(problem(npy(dict("<f4", "(4294967296, 4294967296)"), "")), Contains("2^48"));
  CHECK_THAT(problem(npy(dict("<f4", "(99999999999999999999,)"), "")), Contains("tuple of numbers"));
  CHECK_THAT(problem(npy(dict("<f4", "(1 2)"), "")), Contains("tuple of numbers"));
  CHECK_THAT(problem(npy(dict("<f4", "(,)"), "")), Contains("tuple of numbers"));
  CHECK_THAT(problem(npy(dict("<f4", "3"), "")), Contains("not a tuple"));
  CHECK_THAT(problem(npy(dict("<f4", "(1,)", "Maybe"), "")), Contains("neither True nor False"));
  std::string dims = "(";
  for (int i = 0; i < 10000; ++i) dims += "1,";
  CHECK_THAT(problem(npy(dict("<f4", dims + ")"), "abcd")), Contains("rank 33"));
  CHECK_THAT(problem(npy(dict("<f4", "(2, 3)"), "abcd")),
             Contains("is cut off: 4 bytes of elements, shape 2x3 of float32 needs 24"));
  CHECK_THAT(problem(npy(dict("<f4", "(1,)"), "abcde")), Contains("1 bytes more"));
}

TEST_CASE("every truncation is an error") {
  const std::string whole = npy(dict("<f4", "(2, 2)"), std::string(16, 'a'));
  for (size_t n = 0; n < whole.size(); ++n) CHECK_FALSE(parse(whole.substr(0, n)).ok());
}

TEST_CASE("what is saved is loaded again, in place") {
  const std::string path = fmt::format("{}/svengine_{}.npy", std::filesystem::temp_directory_path().string(), getpid());
  for (const Dims& dims : {Dims{}, Dims{4}, Dims{2, 3}, Dims{0, 2}}) {
    MutableTensor t = Tensor::allocate(DType::f32, dims).value();
    for (size_t i = 0; i < t.data<float>().size(); ++i) t.data<float>()[i] = static_cast<float>(i) - 1.5f;
    REQUIRE(save_npy(t, path).ok());
    const Result<Tensor> back = load_npy(path);
    REQUIRE(back.ok());
    CHECK(back->type() == DType::f32);
    CHECK(back->dims() == dims);
    CHECK(values_of<float>(*back) == values_of<float>(t));
    CHECK(std::filesystem::file_size(path) == 128 + t.byte_size());
  }
  CHECK_FALSE(save_npy(Tensor::allocate(DType::bf16, {1}).value(), path).ok());
  std::filesystem::remove(path);
  CHECK_FALSE(load_npy(path).ok());
  CHECK_THAT(save_npy(Tensor::scalar<float>(1), "/nonexistent/a.npy").error().message(), Contains("No such file"));
}
}  // namespace npy_test
