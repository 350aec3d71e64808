// The store beside a file of layouts made earlier; whole sessions are in runtime/weight_cache_test.cc.
#include "engine/plan/weight_store.h"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace weight_store_test {
using namespace svengine;

namespace {

/// Every element plus one; counts the calls.
Packing plus_one(const Tensor& t, int& calls) {
  Packing p{.layout = "plus one", .bytes = static_cast<int64_t>(t.byte_size())};
  p.fill = [&calls, count = t.count()](const std::byte* from, std::byte* to, int64_t, int64_t) {
    ++calls;
    for (int64_t i = 0; i < count; ++i) reinterpret_cast<float*>(to)[i] = reinterpret_cast<const float*>(from)[i] + 1;
  };
  return p;
}

float first(const std::shared_ptr<const std::byte>& packed) { return *reinterpret_cast<const float*>(packed.get()); }

std::string path() { return fmt::format("{}/svengine_store_{}", std::filesystem::temp_directory_path().string(), getpid()); }

std::shared_ptr<const PackedFile> file_of(const std::vector<WeightStore::PackedWeight>& made) {
  HashWork work;
  for (const auto& m : made) work.add({m.packed.get(), m.bytes});
  work.run(0, 1);
  std::vector<PackedLayout> layouts;
  for (size_t i = 0; i < made.size(); ++i) layouts.push_back({made[i].key, {made[i].packed.get(), made[i].bytes}, work.result(i)});
  const int file = open(path().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  REQUIRE(write_packed_file(file, {1, 1}, layouts).ok());
  close(file);
  return PackedFile::open(path(), {1, 1}).value();
}

void fill(WeightStore& store) {
  if (store.begin_check()) {
    store.check(0, 1);
    REQUIRE(store.end_check().ok());
  }
  REQUIRE(store.pack_alone().ok());
}

}  // namespace

TEST_CASE("tensors of two sizes at one address have a layout each") {
  const Tensor long_one = Tensor::of<float>({4}, {1, 2, 3, 4});
  const Tensor short_one = Tensor::wrap(DType::f32, {2}, long_one.raw(), long_one.owner());
  WeightStore store;
  int calls = 0;
  const auto a = store.get(short_one, plus_one(short_one, calls)), b = store.get(long_one, plus_one(long_one, calls));
  CHECK(a != b);
  CHECK(store.get(long_one, plus_one(long_one, calls)) == b);
  fill(store);
  CHECK(calls == 2);
  CHECK(reinterpret_cast<const float*>(b.get())[3] == 5);
}

TEST_CASE("the largest weights are packed first, those of a size as they were asked for") {
  std::vector<Tensor> tensors;
  std::vector<const std::byte*> order;
  WeightStore store;
  for (const int64_t count : {8, 64, 9, 100}) {
    tensors.push_back(Tensor::of<float>({count}, std::vector<float>(static_cast<size_t>(count))));
    Packing p{.layout = "noted", .bytes = count * 4};
    p.fill = [&order](const std::byte* from, std::byte*, int64_t, int64_t) { order.push_back(from); };
    REQUIRE(store.get(tensors.back(), p));
  }
  fill(store);
  CHECK(order == std::vector<const std::byte*>{tensors[1].raw(), tensors[3].raw(), tensors[0].raw(), tensors[2].raw()});
}

TEST_CASE("layouts that are in the file are not packed; equal content is what counts, not the address") {
  const auto make = [](float x) { return Tensor::of<float>({2}, {x, 2}); };
  WeightStore before;
  before.use_cache(nullptr, {});
  int calls = 0;
  const Tensor one = make(1);
  before.get(one, plus_one(one, calls));
  fill(before);
  const auto file = file_of(before.take_packed());
  CHECK(before.take_packed().empty());
  CHECK(before.cache_counts().packed == 1);

  calls = 0;
  WeightStore store;
  store.use_cache(file, {});
  const Tensor again = make(1), other = make(5);
  Packing scaled = plus_one(again, calls), renamed = scaled;
  scaled.row_scale = {2, 2};
  renamed.layout = "another";
  const auto a = store.get(again, plus_one(again, calls)), b = store.get(other, plus_one(other, calls));
  const auto c = store.get(again, scaled), d = store.get(again, renamed);
  fill(store);
  CHECK(calls == 3);
  CHECK((first(a) == 2 && first(b) == 6 && first(c) == 3 && first(d) == 2));
  CHECK((store.cache_counts().found == 1 && store.cache_counts().found_bytes == 8 && store.cache_counts().packed == 3));
  CHECK(store.take_packed().size() == 3);
  std::filesystem::remove(path());
}

TEST_CASE("a damaged layout is packed in its place, for whoever has the address already") {
  WeightStore before;
  before.use_cache(nullptr, {});
  int calls = 0;
  const Tensor one = Tensor::of<float>({3}, {1, 2, 3}), two = Tensor::of<float>({3}, {4, 5, 6});
  before.get(one, plus_one(one, calls));
  before.get(two, plus_one(two, calls));
  fill(before);
  auto file = file_of(before.take_packed());
  const auto offset = file->layouts().begin()->second.bytes.data() - file->mapping()->bytes().data();
  file.reset();
  std::fstream(path(), std::ios::in | std::ios::out | std::ios::binary).seekp(offset + 2).put('\x55');

  calls = 0;
  WeightStore store;
  store.use_cache(PackedFile::open(path(), {1, 1}).value(), {});
  const auto a = store.get(one, plus_one(one, calls)), b = store.get(two, plus_one(two, calls));
  fill(store);
  CHECK(calls == 1);
  CHECK((first(a) == 2 && first(b) == 5));
  CHECK((store.cache_counts().found == 1 && store.cache_counts().damaged == 1 && store.cache_counts().packed == 1));
  CHECK(store.take_packed().size() == 1);
  std::filesystem::remove(path());
}

TEST_CASE("what lies in a mapped file is known by its place, and not read when its layout is there") {
  std::ofstream(path(), std::ios::binary) << std::string(64, '\0');
  const auto model = MappedFile::open(path()).value();
  const std::shared_ptr<const void> owner = model;
  const auto at = [&](size_t offset) { return Tensor::wrap(DType::f32, {2}, model->bytes().data() + offset, owner); };
  int calls = 0;
  WeightStore store;
  store.use_cache(nullptr, {owner});
  store.get(at(0), plus_one(at(0), calls));
  store.get(at(8), plus_one(at(8), calls));  // equal bytes elsewhere
  fill(store);
  const std::vector<WeightStore::PackedWeight> known = store.take_packed();
  REQUIRE(known.size() == 2);
  CHECK(known[0].key != known[1].key);
  WeightStore stranger;  // the file is none of its sources
  stranger.use_cache(nullptr, {});
  stranger.get(at(0), plus_one(at(0), calls));
  stranger.get(at(8), plus_one(at(8), calls));
  fill(stranger);
  const std::vector<WeightStore::PackedWeight> by_content = stranger.take_packed();
  CHECK((by_content[0].key == by_content[1].key && by_content[0].key != known[0].key));
  std::filesystem::remove(path());
}
}  // namespace weight_store_test
