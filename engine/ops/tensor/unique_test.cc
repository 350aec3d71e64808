// Unique of whole numbers beside a map of them: few and many different ones, all types, and numbers made to meet in a table of hashes.
#include <catch2/catch.hpp>
#include <algorithm>
#include <map>
#include <random>

#include "engine/ops/host_test_util.h"

namespace unique_test {
using namespace svengine;
using namespace svengine::ops::tests;

namespace {

template <class T>
void check_unique(DType type, const std::vector<T>& x) {
  MutableTensor t = *Tensor::allocate(type, {static_cast<int64_t>(x.size())});
  std::copy(x.begin(), x.end(), t.data<T>().begin());
  std::map<T, std::pair<int64_t, int64_t>> places;  // of a number: where it comes first, how often
  std::vector<T> in_order;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto [at, fresh] = places.try_emplace(x[i], static_cast<int64_t>(i), 0);
    if (fresh) in_order.push_back(x[i]);
    ++at->second.second;
  }
  for (int64_t sorted : {0, 1}) {
    if (sorted) std::sort(in_order.begin(), in_order.end());
    const HostNode got("", "Unique", {t}, {{"sorted", sorted}}, 4);
    REQUIRE(got.problem.empty());
    REQUIRE(std::ranges::equal(got.outputs[0].data<T>(), in_order));
    const std::vector<int64_t> first = got.ints(1), inverse = got.ints(2), counts = got.ints(3);
    for (size_t i = 0; i < in_order.size(); ++i) REQUIRE(std::pair(first[i], counts[i]) == places[in_order[i]]);
    REQUIRE(inverse.size() == x.size());
    for (size_t i = 0; i < x.size(); ++i) REQUIRE(in_order[static_cast<size_t>(inverse[i])] == x[i]);
  }
}

}  // namespace

TEST_CASE("Unique of whole numbers, however many are different") {
  std::mt19937_64 random(3);
  for (size_t count : {0, 1, 2, 255, 256, 257, 3000, 20000})
    for (uint64_t range : {uint64_t{1}, uint64_t{7}, uint64_t{300}, uint64_t{5000}, UINT64_MAX}) {
      std::vector<int64_t> x(count);
      for (int64_t& v : x) v = static_cast<int64_t>(random() % range - range / 2);  // modulo 2^64, as is meant
      check_unique(DType::i64, x);
      check_unique(DType::u64, std::vector<uint64_t>(x.begin(), x.end()));
      check_unique(DType::i32, std::vector<int32_t>(x.begin(), x.end()));
      check_unique(DType::i8, std::vector<int8_t>(x.begin(), x.end()));
      check_unique(DType::u16, std::vector<uint16_t>(x.begin(), x.end()));
    }
}

TEST_CASE("Unique of numbers that meet in a table of hashes takes no longer than sorting them") {
  std::vector<uint64_t> x;
  for (uint64_t number = 0; x.size() < 4000; ++number) {  // the first slots of 2^12
    const uint64_t once = number * 0x9e3779b97f4a7c15u;
    if ((once ^ once >> 32) * 0x9e3779b97f4a7c15u >> 54 == 0) x.push_back(number);
  }
  check_unique(DType::u64, x);
}
}  // namespace unique_test
