// A cache file of packed weights that something has changed: the network computes what it computes without a cache. Byte 0 says whether
// the
// header's checksum is made right after the changes, which is malice: then results may be others, but nothing may be read outside of the
// file.
//
//   flags (1), then changes: place (2; from the end in the second half of the numbers), length (1), bytes
#include <filesystem>
#include <fstream>

#include "engine/base/hash.h"
#include "engine/graph/text.h"
#include "engine/ops/registry.h"
#include "fuzz/support.h"
#include "fuzz/under_limits.h"
#include "runtime/session.h"

namespace svengine::fuzz {
namespace {

constexpr const char* kNetwork = R"(graph "g"
input %x: float32[2, 3]
const %w: float32[3, 4] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
const %v: float32[4, 5] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
%y: float32[2, 4] = MatMul(%x, %w)
%z: float32[2, 5] = MatMul(%y, %v)
output %z
)";

/// The places of the header's and of the index' parts, engine/plan/packed_file.cc.
constexpr size_t kHeaderBytes = 56, kRecordBytes = 48, kFileBytesAt = 8, kLayoutsAt = 16, kChecksumAt = 40;

std::vector<std::byte> run_network(const std::string& cache) {
  std::optional<Graph> graph = taken(parse_graph(kNetwork, all_ops()));
  if (!graph) finding("the network is refused");
  SessionOptions options;
  options.kernels = &fuzzed_kernels();
  options.topology = parse_topology("1x1").value();
  options.cache = cache;
  const Result<std::unique_ptr<Session>> session = Session::create(std::move(*graph), options);
  if (!session.ok()) finding("no session: " + session.error().message());
  const auto results = (*session)->run({Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})});
  if (!results.ok()) finding("no results: " + results.error().message());
  const Tensor& z = results->front();
  return {z.raw(), z.raw() + z.byte_size()};
}

/// A good cache, and what the network computes.
struct Good {
  std::string folder, name;
  std::vector<std::byte> file, results;
  Good() : folder(scratch_folder() + "/cache"), results(run_network({})) {
    run_network(folder);
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".packed") name = "cache/" + entry.path().filename().string();
    std::ifstream in(scratch_folder() + '/' + name, std::ios::binary);
    for (char c = 0; in.get(c);) file.push_back(static_cast<std::byte>(c));
    if (file.size() < kHeaderBytes) finding("no cache was written");
  }
};

template <class T>
void put(std::vector<std::byte>& file, size_t at, const T& value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

void make_checksum_right(std::vector<std::byte>& file) {
  if (file.size() < kHeaderBytes) return;
  put(file, kFileBytesAt, uint64_t{file.size()});
  uint64_t layouts = 0;
  std::memcpy(&layouts, file.data() + kLayoutsAt, sizeof layouts);
  layouts = std::min<uint64_t>(layouts, (file.size() - kHeaderBytes) / kRecordBytes);
  put(file, kLayoutsAt, layouts);
  put(file, kChecksumAt, Hash128{});
  put(file, kChecksumAt, hash_of(std::span(file).first(kHeaderBytes + layouts * kRecordBytes)));
}

}  // namespace

void fuzz_cache(Bytes input) {
  static const Good good;
  Reader in(input);
  const auto flags = in.take<uint8_t>();
  std::vector<std::byte> file = good.file;
  while (!in.empty()) {
    const size_t place = in.take<uint16_t>();
    const Bytes bytes = in.take_bytes(in.take<uint8_t>());
    const size_t at = place < 0x8000 ? place % (file.size() + 1) : file.size() - (place - 0x8000) % (file.size() + 1);
    if (bytes.empty() && flags & 2) file.resize(at);
    for (size_t i = 0; i < bytes.size() && at + i < file.size(); ++i) file[at + i] = bytes[i];
  }
  if (flags & 1) make_checksum_right(file);
  write_scratch(good.name, file);
  const std::vector<std::byte> results = run_network(good.folder);
  if (!(flags & 1) && results != good.results) finding("a damaged cache changes results");
}

}  // namespace svengine::fuzz
