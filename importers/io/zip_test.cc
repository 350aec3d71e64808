// ZIP archives made by hand, and .npz on top of them.
#include "importers/io/zip.h"

#include <catch2/catch.hpp>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "importers/npy/npz.h"

namespace zip_test {
using namespace svengine;
using Catch::Matchers::Contains;

namespace {

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string deflated(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct Member {
  std::string name, content;
  bool compressed = false;
  uint64_t claimed_size = UINT64_MAX;  // UINT64_MAX: the true one
  uint32_t crc_change = 0;
  uint16_t flags = 0, method = 0xffff;
  bool in64 = false;  // sizes in a ZIP64 field
};

std::string archive(const std::vector<Member>& members, uint16_t claimed_entries = 0xfffe) {
  std::string out, directory;
  for (const Member& m : members) {
    const std::string data = m.compressed ? deflated(m.content) : m.content;
    const uint64_t size = m.claimed_size == UINT64_MAX ? m.content.size() : m.claimed_size;
    const auto crc = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(m.content.data()),
                                                 static_cast<uInt>(m.content.size()))) ^ m.crc_change;
    const uint16_t method = m.method != 0xffff ? m.method : m.compressed ? 8 : 0;
    const auto offset = static_cast<uint32_t>(out.size());
    put<uint32_t>(out, 0x04034b50);
    out.append(22, '\0');
    put<uint16_t>(out, static_cast<uint16_t>(m.name.size()));
    put<uint16_t>(out, 0);
    out += m.name + data;
    put<uint32_t>(directory, 0x02014b50);
    directory.append(4, '\0');
    put<uint16_t>(directory, m.flags);
    put<uint16_t>(directory, method);
    directory.append(4, '\0');
    put<uint32_t>(directory, crc);
    put<uint32_t>(directory, m.in64 ? UINT32_MAX : static_cast<uint32_t>(data.size()));
    put<uint32_t>(directory, m.in64 ? UINT32_MAX : static_cast<uint32_t>(size));
    put<uint16_t>(directory, static_cast<uint16_t>(m.name.size()));
    put<uint16_t>(directory, m.in64 ? 20 : 0);
    directory.append(10, '\0');
    put<uint32_t>(directory, offset);
    directory += m.name;
    if (m.in64) {
      put<uint16_t>(directory, 1);
      put<uint16_t>(directory, 16);
      put<uint64_t>(directory, size);
      put<uint64_t>(directory, data.size());
    }
  }
  const auto at = static_cast<uint32_t>(out.size());
  out += directory;
  put<uint32_t>(out, 0x06054b50);
  out.append(4, '\0');
  const auto entries = claimed_entries == 0xfffe ? static_cast<uint16_t>(members.size()) : claimed_entries;
  put<uint16_t>(out, entries);
  put<uint16_t>(out, entries);
  put<uint32_t>(out, static_cast<uint32_t>(directory.size()));
  put<uint32_t>(out, at);
  put<uint16_t>(out, 0);
  return out;
}

std::string npy_of(float value) {
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n";
  std::string out = "\x93NUMPY";
  out += {'\1', '\0', static_cast<char>(dict.size()), '\0'};
  out += dict;
  put(out, value);
  return out;
}

struct File {
  explicit File(const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  ~File() { std::filesystem::remove(path); }
  std::string path = fmt::format("{}/svengine_{}.npz", std::filesystem::temp_directory_path().string(), getpid());
};

Result<Tensor> load(const std::string& bytes, const std::string& name = {}) { return load_npz(File(bytes).path, name); }

std::string problem(const std::string& bytes, const std::string& name = {}) {
  const Result<Tensor> tensor = load(bytes, name);
  REQUIRE_FALSE(tensor.ok());
  return tensor.error().message();
}

float value_of(const Result<Tensor>& tensor) {
  REQUIRE(tensor.ok());
  return tensor->data<float>()[0];
}

}  // namespace

TEST_CASE("arrays are found by name, stored or deflated") {
  const std::string zip = archive({{.name = "a.npy", .content = npy_of(1)},
                                   {.name = "b.npy", .content = npy_of(2), .compressed = true},
                                   {.name = "c.npy", .content = npy_of(3), .in64 = true}});
  CHECK(value_of(load(zip, "a")) == 1);
  CHECK(value_of(load(zip, "b")) == 2);
  CHECK(value_of(load(zip, "c")) == 3);
  const File file(zip);
  CHECK(npz_names(file.path).value() == std::vector<std::string>{"a", "b", "c"});
  const auto all = load_npz_all(file.path);
  REQUIRE(all.ok());
  CHECK(all->size() == 3);
  CHECK((*all)[1].name == "b");
  CHECK(value_of(load(archive({{.name = "only.npy", .content = npy_of(4)}}))) == 4);
  CHECK_THAT(problem(zip), Contains("one array must be named; it has: a, b, c"));
  CHECK_THAT(problem(zip, "d"), Contains("no array 'd'; it has: a, b, c"));
}

TEST_CASE("damaged and hostile archives are refused") {
  CHECK_THAT(problem("hello"), Contains("not a ZIP archive"));
  CHECK_THAT(problem(std::string(1000, 'a')), Contains("no end record"));
  const std::string npy = npy_of(1);
  CHECK_THAT(problem(archive({{.name = "a.npy", .content = npy, .compressed = true, .crc_change = 1}})),
             Contains("its checksum is wrong"));
  CHECK_THAT(problem(archive({{.name = "a.npy", .content = npy, .compressed = true, .claimed_size = npy.size() - 1}})),
             Contains("unpacks to more"));
  CHECK_THAT(problem(archive({{.name = "a.npy", .content = npy, .compressed = true, .claimed_size = npy.size() + 1}})),
             Contains("unpacks to"));
  CHECK_THAT(problem(archive({{.name = "a.npy", .content = npy, .compressed = true, .claimed_size = 4000000000}})),
             Contains("no compression reaches"));
  CHECK_THAT(problem(archive({{.name = "a.npy",
                               .content = npy,
                               .compressed = true,
                               .claimed_size = UINT64_MAX - 1,
                               .in64 = true}})),
             Contains("no compression reaches"));
  CHECK_THAT(problem(archive({{.name = "a.npy", .content = npy, .claimed_size = 5}})), Contains("two different sizes"));
  CHECK_THAT(problem(archive({{.name = "a.npy", .content = npy, .flags = 1}})), Contains("encrypted"));
  CHECK_THAT(problem(archive({{.name = "a.npy", .content = npy, .method = 12}})), Contains("method 12"));
  CHECK_THAT(problem(archive({{.name = "a.npy", .content = npy}, {.name = "a.npy", .content = npy}})),
             Contains("two entries 'a.npy'"));
  CHECK_THAT(problem(archive({{.name = "a.npy", .content = npy}}, 2)), Contains("directory is damaged"));
  CHECK_THAT(problem(archive({{.name = "a.npy", .content = npy}}, 0xffff)), Contains("ZIP64 end record is missing"));
  CHECK_THAT(problem(archive({{.name = "a\x1b.npy", .content = "no array"}})), Contains("'a\\x1b'"));
  CHECK_THAT(problem(archive({})), Contains("it has: "));
}

TEST_CASE("every truncation and many changes end in success or an error") {
  const std::string zip = archive({{.name = "a.npy", .content = npy_of(1), .compressed = true},
                                   {.name = "b.npy", .content = npy_of(2), .in64 = true}});
  const auto read_all = [](const std::string& text) -> Status {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    SV_ASSIGN(const auto entries, read_zip_directory(bytes));
    for (const ZipEntry& e : entries) {
      SV_TRY(check_zip_entry(e));
      std::vector<std::byte> out(e.size);
      SV_TRY(unpack_zip_entry(bytes, e, out));
    }
    return {};
  };
  REQUIRE(read_all(zip).ok());
  for (size_t n = 0; n < zip.size(); ++n) CHECK_FALSE(read_all(zip.substr(0, n)).ok());
  for (size_t i = 0; i < zip.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = zip;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      const Status status = read_all(changed);
      if (!status.ok()) CHECK_FALSE(status.error().message().empty());
    }
}
}  // namespace zip_test
