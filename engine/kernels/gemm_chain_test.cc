#include "engine/kernels/gemm_chain.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "engine/kernels/gemm_test_util.h"
#include "engine/kernels/reference/activation.h"

namespace gemm_chain_test {
using namespace svengine::kernels;
using namespace svengine::kernels::test;

namespace {

struct Shape {
  int64_t groups, inputs, outputs;
  Activation activation;
  bool has_bias = true;
};

/// A chain of random layers with its packed weights.
template <class T>
struct Network {
  std::vector<Shape> shapes;
  std::vector<std::vector<T>> weights, biases;
  std::vector<GuardedBuffer<T>> packed;
  std::vector<DenseLayerOf<T>> layers;
  GuardedBuffer<T> x, y;
  DenseChainArgsOf<T> args;

  Network(const GemmKernelsOf<T>& gemm, std::vector<Shape> all, int64_t rows)
      : shapes(std::move(all)),
        x(rows * shapes[0].groups * shapes[0].inputs),
        y(rows * shapes.back().groups * shapes.back().outputs) {
    std::mt19937 random(7);
    std::uniform_real_distribution<T> uniform(-1, 1);
    for (T& v : x) v = uniform(random);
    for (const Shape& s : shapes) {
      weights.emplace_back(s.groups * s.inputs * s.outputs);
      for (T& w : weights.back()) w = uniform(random) / std::sqrt(static_cast<T>(s.inputs));
      biases.emplace_back(s.groups * s.outputs);
      for (T& b : biases.back()) b = uniform(random);
      const int64_t each = gemm.packed_a_bytes(s.outputs, s.inputs) / int64_t(sizeof(T));
      packed.emplace_back(s.groups * each);
      GemmPackArgsOf<T> pack;
      pack.source = weights.back().data(), pack.ld = s.inputs, pack.extent = s.outputs, pack.depth = s.inputs;
      pack.packed = packed.back().data(), pack.batch.inner = s.groups;
      pack.source_stride.inner = s.inputs * s.outputs, pack.packed_stride.inner = each;
      gemm.pack_a(pack, 0, gemm.pack_a_tasks(pack));
    }
    for (size_t l = 0; l < shapes.size(); ++l) {
      const Shape& s = shapes[l];
      layers.push_back({s.groups, s.inputs, s.outputs, packed[l].data(), s.has_bias ? biases[l].data() : nullptr, {s.activation, 0.25f, 0.5f}});
    }
    args = {rows, x.data(), y.data(), layers.data(), static_cast<int64_t>(layers.size())};
  }

  std::vector<double> expected(int64_t row) const {
    std::vector<double> v(x.data() + row * shapes[0].groups * shapes[0].inputs, x.data() + (row + 1) * shapes[0].groups * shapes[0].inputs);
    for (size_t l = 0; l < shapes.size(); ++l) {
      const Shape& s = shapes[l];
      std::vector<double> next(s.groups * s.outputs);
      for (int64_t g = 0; g < s.groups; ++g)
        for (int64_t o = 0; o < s.outputs; ++o) {
          double sum = s.has_bias ? biases[l][g * s.outputs + o] : 0;
          for (int64_t i = 0; i < s.inputs; ++i) sum += double{weights[l][(g * s.outputs + o) * s.inputs + i]} * v[g * s.inputs + i];
          next[g * s.outputs + o] = reference_activation(sum, layers[l].activation);
        }
      v = std::move(next);
    }
    return v;
  }
};

template <class T>
void check_chain(const KernelTable& set, const std::vector<Shape>& shapes, int64_t rows) {
  const GemmKernelsOf<T>& gemm = gemm_of<T>(set);
  Network<T> net(gemm, shapes, rows);
  const int64_t tasks = gemm.chain.tasks(net.args);
  GuardedBuffer<std::byte> scratch(gemm.chain.scratch_bytes(net.args));
  gemm.chain.run(net.args, 0, tasks, scratch.data());
  INFO(set.name << " rows " << rows << " layers " << shapes.size() << " bytes " << sizeof(T));
  CHECK(scratch.intact());
  CHECK(net.y.intact());
  const double allowed = sizeof(T) == 4 ? 1e-5 : 1e-14;
  const int64_t outputs = shapes.back().groups * shapes.back().outputs;
  int64_t wrong = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const std::vector<double> want = net.expected(row);
    for (int64_t o = 0; o < outputs; ++o) wrong += !(std::fabs(net.y[row * outputs + o] - want[o]) <= allowed * std::max(1.0, std::fabs(want[o])));
  }
  CHECK(wrong == 0);
  const std::vector<T> whole(net.y.begin(), net.y.end());
  net.y.refill();
  for (int64_t task = tasks; task-- > 0;) gemm.chain.run(net.args, task, task + 1, scratch.data());
  CHECK(std::memcmp(whole.data(), net.y.data(), whole.size() * sizeof(T)) == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("chains of dense layers agree with sums in double, however the tasks are cut", "[gemm]", float, double) {
  const std::vector<std::vector<Shape>> networks = {
      {{1, 7, 5, Activation::kNone}},
      {{1, 19, 33, Activation::kTanh}, {1, 33, 1, Activation::kNone, false}},
      {{1, 5, 50, Activation::kRelu}, {1, 50, 50, Activation::kLeakyRelu}, {1, 50, 13, Activation::kSigmoid}},
      {{1, 16, 3 * 8, Activation::kSilu}, {3, 8, 2, Activation::kGeluTanh}, {3, 2, 3, Activation::kHardSwish}},
      {{1, 191, 122, Activation::kTanh}, {1, 122, 122, Activation::kTanh}, {1, 122, 126, Activation::kNone}}};
  for (const KernelTable* set : tested_product_sets())
    for (const std::vector<Shape>& shapes : networks)
      for (int64_t rows : {1, 3, 8, 17, 33, 150}) check_chain<TestType>(*set, shapes, rows);
}
}  // namespace gemm_chain_test
