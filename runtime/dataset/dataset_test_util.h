// Shared by the tests of data sets: files to read, and samples as they come.
#pragma once
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include "engine/base/tensor.h"
#include "runtime/dataset/dataset.h"
#include "tests/support/must.h"
#include "tests/support/temporary_directory.h"

namespace svengine::tests {

/// Sample `index` as the bytes of each field, between guard bytes that must stay.
inline Result<std::vector<std::vector<std::byte>>> try_read(const DataSet& set, int64_t index) {
  constexpr size_t kGuard = 64;
  std::vector<std::vector<std::byte>> out;
  std::vector<std::byte*> buffers;
  for (const Field& f : set.fields()) out.emplace_back(f.bytes() + 2 * kGuard, std::byte{0xa5});
  for (auto& bytes : out) buffers.push_back(bytes.data() + kGuard);
  SV_TRY(set.read(index, buffers));
  for (auto& bytes : out) {
    for (size_t i = 0; i < kGuard; ++i) REQUIRE((bytes[i] == std::byte{0xa5} && bytes[bytes.size() - 1 - i] == std::byte{0xa5}));
    bytes = {bytes.begin() + kGuard, bytes.end() - kGuard};
  }
  return out;
}

/// Field `field` of a sample as numbers of type T.
template <class T>
std::vector<T> read_as(const DataSet& set, int64_t index, size_t field) {
  const auto sample = try_read(set, index);
  if (!sample.ok()) FAIL(sample.error().message());
  REQUIRE(set.fields()[field].type == dtype_of<T>());
  std::vector<T> values((*sample)[field].size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), (*sample)[field].data(), (*sample)[field].size());
  return values;
}

template <class T>
std::string problem(const Result<T>& result) {
  REQUIRE_FALSE(result.ok());
  return result.error().message();
}

}  // namespace svengine::tests
