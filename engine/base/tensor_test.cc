#include "engine/base/tensor.h"

#include <catch2/catch.hpp>

#include <type_traits>

#include "tests/support/temporary_directory.h"

namespace tensor_test {
using namespace svengine;

namespace {

template <class T>
concept Writable = requires(T t) {
  *t.raw() = std::byte{0};
  t.template data<float>()[0] = 1.0f;
};

template <class Pointer>
concept WrapsAsWritable = requires(Pointer data) {
  MutableTensor::wrap(DType::f32, {1}, data, nullptr);
};

}  // namespace

TEST_CASE("only what was made as writable can be written") {
  static_assert(!Writable<Tensor> && !Writable<Tensor&> && !Writable<const Tensor> && !Writable<const MutableTensor>);
  static_assert(Writable<MutableTensor> && Writable<MutableTensor&>);
  static_assert(std::is_convertible_v<MutableTensor, Tensor>);
  static_assert(!std::is_constructible_v<MutableTensor, Tensor> && !std::is_assignable_v<MutableTensor&, Tensor>);
  static_assert(WrapsAsWritable<void*> && !WrapsAsWritable<const void*>);
  static_assert(std::is_convertible_v<Result<MutableTensor>, Result<Tensor>>);
  static_assert(!std::is_convertible_v<Result<Tensor>, Result<MutableTensor>>);
}

TEST_CASE("readers share what is written, copies do not") {
  MutableTensor written = Tensor::allocate(DType::f32, {2, 2}).value();
  for (float& x : written.data<float>()) x = 1;
  const Tensor shared = written;
  const Result<Tensor> copy = shared.aligned_copy();
  REQUIRE(copy.ok());
  written.data<float>()[3] = 5;
  CHECK(shared.data<float>()[3] == 5);
  CHECK(shared.reshaped({4}).data<float>()[3] == 5);
  CHECK(copy->data<float>()[3] == 1);
  CHECK(copy->owner() != shared.owner());
  float own[2] = {1, 2};
  MutableTensor wrapped = MutableTensor::wrap(DType::f32, {2}, own, nullptr);
  wrapped.data<float>()[1] = 7;
  CHECK(own[1] == 7);
  CHECK_FALSE(Result<Tensor>(Tensor::allocate(DType::string, {1})).ok());
  CHECK_FALSE(Tensor::allocate(DType::f32, {-1}).ok());
}

TEST_CASE("a mapped file is read where it lies") {
  const tests::TemporaryDirectory folder;
  const auto file = MappedFile::open(folder.write("weights", "abcdefgh"));
  REQUIRE(file.ok());
  const Tensor tensor = Tensor::wrap(DType::u8, {8}, (*file)->bytes().data(), *file);
  Result<MutableTensor> copy = tensor.aligned_copy();
  REQUIRE(copy.ok());
  copy->data<uint8_t>()[0] = 'x';  // through `tensor` this would be SIGSEGV, and does not compile
  CHECK(tensor.data<uint8_t>()[0] == 'a');
}
}  // namespace tensor_test
