// Sessions with a cache: as fast as may be, but never another result.
#include "runtime/weight_cache.h"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "engine/graph/builder.h"
#include "engine/kernels/kernel_table.h"
#include "engine/ops/registry.h"
#include "importers/onnx/export.h"
#include "importers/onnx/import.h"
#include "runtime/file_hash_cache.h"
#include "runtime/session.h"
#include "tests/support/random_tensor.h"

namespace weight_cache_test {
using namespace svengine;
using svengine::tests::random_tensor;
namespace fs = std::filesystem;

namespace {

struct Folder {
  const fs::path root = fs::temp_directory_path() / fmt::format("svengine_cache_{}", getpid());
  Folder() { fs::create_directory(root); }
  ~Folder() { fs::remove_all(root); }
  std::string path(const char* name) const { return (root / name).string(); }
};

Attributes pads(int64_t p) { return make_attributes({{"pads", std::vector<int64_t>{p, p, p, p}}}); }

/// Convolutions for Winograd and directly, one with a norm in its weights (a row scale), a bias, a product; some weights are small
/// and copied at import, some stay in the file.
Graph network(uint64_t seed) {
  Graph graph;
  Builder b(graph, all_ops());
  const auto vector = [&](uint64_t s) { return b.constant(random_tensor({32}, seed + s, 0.5, 1.5)); };
  Value* x = b.input("x", DType::f32, Shape{Dim("N"), 3, 12, 12});
  Value* stem = b.add("Conv", {x, b.constant(random_tensor({32, 3, 3, 3}, seed + 1)), vector(2)}, pads(1));
  Value* conv = b.add("Relu", {b.add("Conv", {stem, b.constant(random_tensor({32, 32, 3, 3}, seed + 3))}, pads(1))});
  Value* point = b.add("Conv", {conv, b.constant(random_tensor({32, 32, 1, 1}, seed + 4))});
  Value* norm = b.add("BatchNormalization", {point, vector(5), vector(6), vector(7), vector(8)});
  Value* flat = b.add("Flatten", {b.add("GlobalAveragePool", {norm})});
  b.output(b.add("Gemm", {flat, b.constant(random_tensor({32, 100}, seed + 9)), b.constant(random_tensor({100}, seed + 10))}), "y");
  REQUIRE(b.status().ok());
  return graph;
}

void write_model(const std::string& path, uint64_t seed) { REQUIRE(export_onnx(network(seed), {}, path).ok()); }

struct Outcome {
  std::string y;  // the output's bytes
  CacheReport cache;
};

SessionOptions options_with(const std::string& cache, const char* topology = "1x2") {
  SessionOptions options;
  options.topology = parse_topology(topology).value();
  options.cache = cache;
  return options;
}

Outcome start(const std::string& model, SessionOptions options) {
  auto imported = import_onnx(model);
  if (!imported.ok()) FAIL(imported.error().message());
  auto session = Session::create(std::move(imported->graph), options);
  if (!session.ok()) FAIL(session.error().message());
  const auto y = (*session)->run({random_tensor({2, 3, 12, 12}, 77)});
  if (!y.ok()) FAIL(y.error().message());
  return {std::string(reinterpret_cast<const char*>((*y)[0].raw()), (*y)[0].byte_size()), (*session)->cache_report()};
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes; }

/// Changes one bit of one weight, and sets the times back.
void flip_in_place(const std::string& path) {
  struct stat before {};
  REQUIRE(stat(path.c_str(), &before) == 0);
  std::string bytes = read(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  const int file = open(path.c_str(), O_WRONLY);
  REQUIRE(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const timespec times[2] = {before.st_atim, before.st_mtim};
  REQUIRE(futimens(file, times) == 0);
  close(file);
}

bool all_found(const CacheReport& r) { return r.layouts.found > 4 && r.layouts.packed == 0 && !r.written && r.problem.empty(); }
bool all_packed(const CacheReport& r) { return r.layouts.found == 0 && r.layouts.packed > 4; }

}  // namespace

TEST_CASE("a hit is bit by bit what packing gives, in every kernel set, for any threads, whole and batch_parallel") {
  const Folder folder;
  write_model(folder.path("m"), 1);
  for (const kernels::KernelTable* set : kernels::all_kernel_sets()) {
    SessionOptions options = options_with(""), cached = options_with(folder.path("c/d"));
    options.kernels = cached.kernels = set;
    const std::string want = start(folder.path("m"), options).y;
    const Outcome first = start(folder.path("m"), cached);
    CHECK(all_packed(first.cache));
    CHECK((first.cache.written && first.cache.problem.empty() && first.y == want));
    for (const char* topology : {"1x1", "1x3", "2x1"}) {
      cached.topology = parse_topology(topology).value();
      const Outcome again = start(folder.path("m"), cached);
      CHECK((all_found(again.cache) && again.y == want));
      CHECK(again.cache.file == first.cache.file);
      CHECK(again.cache.file.find(set->name) != std::string::npos);
    }
    cached.topology = parse_topology("2x1").value();
    options.topology = cached.topology;
    options.shard = cached.shard = true;
    CHECK(start(folder.path("m"), cached).y == start(folder.path("m"), options).y);
  }
}

TEST_CASE("another model never hits, whether it lies elsewhere or in the same place") {
  const Folder folder;
  const SessionOptions cached = options_with(folder.path("c"));
  write_model(folder.path("a"), 1);
  write_model(folder.path("b"), 2);
  const std::string a = start(folder.path("a"), cached).y;
  const Outcome b = start(folder.path("b"), cached);
  CHECK((all_packed(b.cache) && b.y != a && b.y == start(folder.path("b"), options_with("")).y));
  // The same file changed in place: same name, inode, size and time of the last change of its content.
  flip_in_place(folder.path("a"));
  const Outcome changed = start(folder.path("a"), cached);
  CHECK((all_packed(changed.cache) && changed.cache.model_read && changed.y != a));
  // A copy is the same model.
  fs::copy_file(folder.path("b"), folder.path("copy"));
  CHECK(all_found(start(folder.path("copy"), cached).cache));
}

TEST_CASE("a model that has not changed for a while is known without reading it, until it changes") {
  const Folder folder;
  const SessionOptions cached = options_with(folder.path("c"));
  write_model(folder.path("m"), 1);
  const std::string y = start(folder.path("m"), cached).y;
  CHECK(start(folder.path("m"), cached).cache.model_read);  // just made: could still change within the same tick of the clock
  std::this_thread::sleep_for(std::chrono::milliseconds(3500));
  const auto mapped = MappedFile::open(folder.path("m")).value();
  if (!FileHashCache::settle(*mapped_file(std::shared_ptr<const void>(mapped)))) return;  // not on this file system
  CHECK(start(folder.path("m"), cached).cache.model_read);
  for (int i = 0; i < 2; ++i) {
    const Outcome known = start(folder.path("m"), cached);
    CHECK((all_found(known.cache) && !known.cache.model_read && known.y == y));
  }
  // A damaged table is no answer.
  std::string table = read(folder.path("c/seen"));
  for (char& c : table) c = static_cast<char>(c ^ (c ? 4 : 0));
  write(folder.path("c/seen"), table);
  CHECK(start(folder.path("m"), cached).cache.model_read);
  CHECK_FALSE(start(folder.path("m"), cached).cache.model_read);
  flip_in_place(folder.path("m"));
  const Outcome changed = start(folder.path("m"), cached);
  CHECK((all_packed(changed.cache) && changed.cache.model_read && changed.y != y));
  // Another file with that name.
  write_model(folder.path("m"), 2);
  CHECK(all_packed(start(folder.path("m"), cached).cache));
}

TEST_CASE("other options and shapes ask for other layouts, which are added") {
  const Folder folder;
  write_model(folder.path("m"), 1);
  SessionOptions cached = options_with(folder.path("c"));
  start(folder.path("m"), cached);
  SessionOptions exact = options_with("");
  exact.exact_convolution = true;
  const std::string want = start(folder.path("m"), exact).y;
  exact.cache = cached.cache;
  const Outcome first = start(folder.path("m"), exact), again = start(folder.path("m"), exact);
  CHECK((first.y == want && again.y == want && all_found(again.cache)));
  CHECK((first.cache.layouts.found > 0 && first.cache.layouts.packed > 0 && first.cache.written));
  CHECK(all_found(start(folder.path("m"), cached).cache));
}

TEST_CASE("whatever becomes of the file, results are right and the file is made good") {
  const Folder folder;
  write_model(folder.path("m"), 1);
  const SessionOptions cached = options_with(folder.path("c"), "1x1");
  const Outcome good = start(folder.path("m"), cached);
  const std::string whole = read(good.cache.file);
  std::mt19937 random(3);
  for (int i = 0; i < 30; ++i) {
    std::string bytes = whole;
    if (i % 2 == 0) bytes.resize(random() % whole.size());
    else for (int n = 0; n <= i / 4; ++n) bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    write(good.cache.file, bytes);
    const Outcome damaged = start(folder.path("m"), cached);
    CHECK(damaged.y == good.y);
    CHECK(damaged.cache.problem.empty() != damaged.cache.written);  // empty: only gaps were hit
    CHECK(all_found(start(folder.path("m"), cached).cache));
  }
}

TEST_CASE("a file of another kernel set, put in the place of this one's, is not used") {
  const Folder folder;
  write_model(folder.path("m"), 1);
  const auto sets = kernels::all_kernel_sets();
  REQUIRE(sets.size() >= 2);
  SessionOptions one = options_with(folder.path("c")), two = one;
  one.kernels = sets[0];
  two.kernels = sets[1];
  const Outcome first = start(folder.path("m"), one), second = start(folder.path("m"), two);
  CHECK(all_packed(second.cache));
  fs::copy_file(first.cache.file, second.cache.file, fs::copy_options::overwrite_existing);
  const Outcome fooled = start(folder.path("m"), two);
  CHECK((all_packed(fooled.cache) && fooled.y == second.y && fooled.cache.written));
  CHECK(fooled.cache.problem.find("no packed weights for this model and program") != std::string::npos);
}

TEST_CASE("a folder that cannot be used changes nothing and is reported") {
  const Folder folder;
  write_model(folder.path("m"), 1);
  write(folder.path("file"), "");
  const std::string want = start(folder.path("m"), options_with("")).y;
  const Outcome blocked = start(folder.path("m"), options_with(folder.path("file")));
  CHECK((blocked.y == want && blocked.cache.file.empty()));
  CHECK(blocked.cache.problem.find("no cache of packed weights is used") == 0);
  // A folder stands where the file should be written.
  const Outcome good = start(folder.path("m"), options_with(folder.path("c")));
  fs::remove(good.cache.file);
  fs::create_directory(good.cache.file + ".part");
  CHECK(start(folder.path("m"), options_with(folder.path("c"))).y == want);
  fs::remove(good.cache.file + ".part");
  fs::create_directory(good.cache.file);
  const Outcome no_file = start(folder.path("m"), options_with(folder.path("c")));
  CHECK((no_file.y == want && !no_file.cache.written && no_file.cache.problem.find("cannot write") != std::string::npos));
  fs::remove(good.cache.file);
  // A limit on the size of files, instead of a full disk.
  rlimit old{}, little{4096, RLIM_INFINITY};
  getrlimit(RLIMIT_FSIZE, &old);
  little.rlim_max = old.rlim_max;
  setrlimit(RLIMIT_FSIZE, &little);
  const Outcome full = start(folder.path("m"), options_with(folder.path("c")));
  setrlimit(RLIMIT_FSIZE, &old);
  CHECK((full.y == want && full.cache.problem.find("File too large") != std::string::npos));
  CHECK_FALSE(fs::exists(good.cache.file + ".part"));
}

TEST_CASE("one process writes at a time, and what a killed one left is forgotten after a while") {
  const Folder folder;
  write_model(folder.path("m"), 1);
  const SessionOptions cached = options_with(folder.path("c"));
  const std::string file = start(folder.path("m"), cached).cache.file;
  fs::remove(file);
  write(file + ".part", "half");
  const Outcome waiting = start(folder.path("m"), cached);
  CHECK((all_packed(waiting.cache) && !waiting.cache.written && waiting.cache.problem.empty() && !fs::exists(file)));
  const timespec old[2] = {{time(nullptr) - 700, 0}, {time(nullptr) - 700, 0}};
  REQUIRE(utimensat(AT_FDCWD, (file + ".part").c_str(), old, 0) == 0);
  CHECK(start(folder.path("m"), cached).cache.written);
  CHECK_FALSE(fs::exists(file + ".part"));
  CHECK(all_found(start(folder.path("m"), cached).cache));
}

TEST_CASE("processes that start at once, some of them killed, leave a complete file or none") {
  const Folder folder;
  write_model(folder.path("m"), 1);
  const SessionOptions cached = options_with(folder.path("c"), "1x1");
  const std::string want = start(folder.path("m"), options_with("", "1x1")).y;
  for (int round = 0; round < 3; ++round) {
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        auto imported = import_onnx(folder.path("m"));
        auto session = Session::create(std::move(imported->graph), cached);
        const auto y = (*session)->run({random_tensor({2, 3, 12, 12}, 77)});
        _exit(y.ok() && std::memcmp((*y)[0].raw(), want.data(), want.size()) == 0 ? 0 : 1);
      }
      children.push_back(child);
    }
    if (round == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      kill(children[0], SIGKILL);
    }
    for (size_t i = 0; i < children.size(); ++i) {
      int status = 0;
      REQUIRE(waitpid(children[i], &status, 0) == children[i]);
      if (round != 1 || i != 0) CHECK(status == 0);
    }
    const Outcome after = start(folder.path("m"), cached);
    CHECK(after.y == want);
    if (round != 1) CHECK(all_found(after.cache));
    fs::remove_all(folder.path("c"));
  }
}
}  // namespace weight_cache_test
