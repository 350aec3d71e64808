#include "engine/base/hash.h"

#include <catch2/catch.hpp>

#include <set>

namespace hash_test {
using namespace svengine;

namespace {

std::vector<std::byte> bytes_of(size_t count, unsigned seed) {
  std::vector<std::byte> out(count);
  for (std::byte& b : out) b = static_cast<std::byte>((seed = seed * 1664525u + 1013904223u) >> 24);
  return out;
}

std::vector<Hash128> hashes(const std::vector<std::vector<std::byte>>& ranges, int threads) {
  HashWork work;
  for (const auto& s : ranges) work.add(s);
  for (int t = threads; t-- > 0;) work.run(t, threads);
  std::vector<Hash128> out;
  for (size_t i = 0; i < ranges.size(); ++i) out.push_back(work.result(i));
  return out;
}

}  // namespace

TEST_CASE("XXH3 of known texts, as its reference implementation has it") {
  CHECK(to_string(hash_of("")) == "99aa06d3014798d86001c324468d497f");
  CHECK(to_string(hash_of("abc")) == "06b05ab6733a618578af5f94892f3950");
}

TEST_CASE("hashes of ranges are the same for any number of threads, and stand for every byte and the length") {
  const size_t block = size_t{256} << 10;
  std::vector<std::vector<std::byte>> ranges;
  for (size_t size : {size_t{0}, size_t{1}, block - 1, block, block + 1, 3 * block + 5, size_t{0}, size_t{7}})
    ranges.push_back(bytes_of(size, 1));
  const std::vector<Hash128> one = hashes(ranges, 1);
  for (int threads : {2, 3, 7, 48}) CHECK(hashes(ranges, threads) == one);
  CHECK(one[0] == one[6]);
  CHECK(std::set<Hash128>(one.begin(), one.end()).size() == one.size() - 1);
  for (size_t at : {size_t{0}, block - 1, block, 3 * block + 4}) {
    auto changed = ranges;
    changed[5][at] ^= std::byte{4};
    const std::vector<Hash128> other = hashes(changed, 2);
    for (size_t i = 0; i < one.size(); ++i) CHECK((other[i] == one[i]) == (i != 5));
  }
}
}  // namespace hash_test
