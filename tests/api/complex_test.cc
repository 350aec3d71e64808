// Complex products as BLAS has them, cdotu, cdotc and cgemv, of single and double precision: every short length, vectors that are strided,
// reversed, at any address, and end where memory ends.
#include <svengine/nn.hpp>
#include <svengine/svengine.hpp>

#include <catch2/catch.hpp>
#include <complex>
#include <random>
#include <vector>

#include "tests/support/guarded_buffer.h"
#include "tests/support/temporary_directory.h"

namespace complex_test {
using namespace svengine;
using svengine::tests::GuardedBuffer;
using svengine::tests::TemporaryDirectory;

namespace {

template <class T>
constexpr ElementType kType = sizeof(T) == sizeof(double) ? ElementType::float64 : ElementType::float32;

/// y = a b, or conj(a) b, of complex a [length], or [length, rows] transposed, and b [length].
template <class T>
std::string save_product(const std::string& folder, bool matrix, bool conjugate) {
  nn::Net net(1);
  const std::vector<int64_t> vector{-1, 2}, plane{-1, -1, 2};
  const nn::Var a = net.input("a", kType<T>, matrix ? plane : vector), b = net.input("b", kType<T>, vector);
  net.output(nn::op("ai.svengine::ComplexMatMul", {a, b}, {{"transpose_a", int64_t{1}}, {"conjugate_a", int64_t{conjugate}}}), "y");
  const std::string path = folder + "/product.onnx";
  if (!net.save(path)) FAIL(net.error());
  return path;
}

/// `count` complex numbers, one every `step` (negative: from the last to the first), after `ahead` reals that misalign them. Whatever lies between is
/// poison, and behind the last one memory ends.
template <class T>
struct Vector {
  int64_t count, step;
  GuardedBuffer<T> memory;

  Vector(int64_t count, int64_t step, size_t ahead, std::mt19937& random)
      : count(count), step(step), memory(ahead + static_cast<size_t>(count ? (count - 1) * std::abs(step) * 2 + 2 : 0)) {
    std::uniform_real_distribution<T> uniform(-1, 1);
    for (int64_t i = 0; i < count; ++i) first()[2 * step * i] = uniform(random), first()[2 * step * i + 1] = uniform(random);
  }
  T* first() { return memory.data() + memory.size() - (count ? 2 + (step > 0 ? 2 * (count - 1) * step : 0) : 0); }
  std::complex<double> at(int64_t i) { return {first()[2 * step * i], first()[2 * step * i + 1]}; }
  TensorView view() { return {kType<T>, {count, 2}, first(), {2 * step, 1}, {}}; }
};

/// Runs and compares with sums in double.
template <class T>
void check_product(Context& context, int64_t rows, int64_t length, int64_t step_a, int64_t step_b, size_t ahead, bool matrix, bool conjugate) {
  INFO("rows " << rows << " length " << length << " steps " << step_a << ", " << step_b << " after " << ahead << " conjugate " << conjugate);
  std::mt19937 random(static_cast<unsigned>(100 * length + rows));
  Vector<T> a(rows * length, step_a, ahead, random), b(length, step_b, ahead, random);
  TensorView left = a.view();
  if (matrix) left = {kType<T>, {length, rows, 2}, a.first(), {2 * step_a, 2 * step_a * length, 1}, {}};
  std::vector<MutableTensorView> y;
  if (!context.run({left, b.view()}, y)) FAIL(context.error());
  REQUIRE(y[0].shape == (matrix ? std::vector<int64_t>{rows, 2} : std::vector<int64_t>{2}));
  for (int64_t r = 0; r < rows; ++r) {
    std::complex<double> want = 0;
    double size = 0;
    for (int64_t i = 0; i < length; ++i) {
      const std::complex<double> factor = conjugate ? std::conj(a.at(r * length + i)) : a.at(r * length + i);
      want += factor * b.at(i), size += std::abs(factor) * std::abs(b.at(i));
    }
    const std::complex<double> got{y[0].as<T>()[2 * r], y[0].as<T>()[2 * r + 1]};
    CHECK(std::abs(got - want) <= static_cast<double>(length + 2) * std::numeric_limits<T>::epsilon() * size);
  }
  CHECK(a.memory.intact());
  CHECK(b.memory.intact());
}

std::vector<std::string> kernel_sets() {
  std::vector<std::string> names{""};
#ifndef SVENGINE_EMULATED
  names.emplace_back("reference");
#endif
  return names;
}

}  // namespace

TEMPLATE_TEST_CASE("products of complex vectors are right for every length, step and address", "[complex]", float, double) {
  const TemporaryDirectory folder;
  for (const std::string& kernels : kernel_sets())
    for (const bool conjugate : {false, true}) {
      NetworkOptions options;
      options.kernels = kernels;
      Network network = Network::load(save_product<TestType>(folder.path(), false, conjugate), options);
      if (!network) FAIL(network.error());
      Context context = network.context();
      if (!context) FAIL(context.error());
      for (int64_t length = 0; length <= 67; ++length)
        for (const int64_t step : {1, 2, -1, -3})
          for (const size_t ahead : {size_t{0}, size_t{1}})
            check_product<TestType>(context, 1, length, step, ahead ? 1 : -step, ahead, false, conjugate);
      for (const int64_t length : {255, 256, 1001, 4099}) check_product<TestType>(context, 1, length, 1, -2, 1, false, conjugate);
    }
}

TEMPLATE_TEST_CASE("products of a complex matrix and a vector are right for every size, step and address", "[complex]", float, double) {
  const TemporaryDirectory folder;
  for (const std::string& kernels : kernel_sets())
    for (const bool conjugate : {false, true}) {
      NetworkOptions options;
      options.kernels = kernels;
      Network network = Network::load(save_product<TestType>(folder.path(), true, conjugate), options);
      if (!network) FAIL(network.error());
      Context context = network.context();
      if (!context) FAIL(context.error());
      for (const int64_t rows : {1, 2, 7, 16, 17, 33, 70})
        for (const int64_t length : {0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 40, 67})
          check_product<TestType>(context, rows, length, length % 3 == 1 ? -2 : 1, length % 2 ? -1 : 3, static_cast<size_t>(length % 2), true,
                                  conjugate);
    }
}
}  // namespace complex_test
