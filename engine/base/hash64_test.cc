#include "engine/base/hash.h"

#include <catch2/catch.hpp>

#include <vector>

namespace hash64_test {
using namespace svengine;

namespace {

std::vector<std::byte> bytes_of(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 3);
  return bytes;
}

struct Known {
  size_t count;
  uint64_t unseeded, seeded;  // the second with seed 0x123456789abcdef0
};

// Made with xxHash's own Python binding (xxhash 3): xxhash.xxh64(bytes, seed).intdigest().
const Known kKnown[] = {
    {0, 0xef46db3751d8e999, 0x7fef5b0c316777ed},  {1, 0x1f25c8d0bc1f4bb6, 0x1e2ea53a3040e362},
    {3, 0x31d2363f52e564c9, 0x05c22bc4b93347d9},  {4, 0x9bb64b7d66ee9fda, 0x6f43828b2dc8c736},
    {7, 0x9a7b149959ce60d8, 0x8ba3f8e8dcfc9a32},  {8, 0xdab99d95c6f90092, 0x311893ba9020dedf},
    {15, 0x1b47cb8243cc8e32, 0x727335ed67f88e56}, {31, 0xa2aa5f33cc4a6119, 0x2c9e9c9d631d0aaa},
    {32, 0x23c3c17ef790fd97, 0xd1dc5d84aebdafb4}, {33, 0x50a7cfc7ba588784, 0x4c4db23e16391b47},
    {63, 0x5e3e54b431c7493c, 0xa89a91242f37eb2d}, {64, 0x0eb64b3ef6eeb01f, 0xf5d7da99a82361fb},
    {65, 0xa383b724b2bd12f1, 0x214dbe14e1832da7}, {100, 0xa61f8d4c170fe531, 0x3c691e06b9fcc7db},
    {199, 0xf7efd3430a01de39, 0x03d3bac2270dc6e6},
};

}  // namespace

TEST_CASE("hashes are those of xxHash, with and without a seed") {
  CHECK(hash64("abc") == 0x44bc2cf5ad770999);
  for (const Known& k : kKnown) {
    CAPTURE(k.count);
    CHECK(hash64(bytes_of(k.count)) == k.unseeded);
    CHECK(hash64(bytes_of(k.count), 0x123456789abcdef0) == k.seeded);
  }
}

TEST_CASE("a hash does not depend on how its bytes are cut into pieces") {
  const std::vector<std::byte> bytes = bytes_of(199);
  for (size_t piece = 1; piece < 80; ++piece) {
    Hash64 hash;
    for (size_t at = 0; at < bytes.size(); at += piece) hash.update(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
    REQUIRE(hash.value() == hash64(bytes));
    REQUIRE(hash.value() == hash64(bytes));  // asking changes nothing
  }
}
}  // namespace hash64_test
