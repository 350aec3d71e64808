// Calls of svengine.h that nobody should make, drawn at random from right ones: a status and words, no crash, nothing written outside of what the
// caller described, and right results in the next right call. What no library can see is left out: a pointer to less memory than it says.
#include <svengine/svengine.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "tests/api/small_network.h"
#include "tests/support/temporary_directory.h"

namespace hostile_calls_test {
using svengine::tests::save_small_network;
using svengine::tests::TemporaryDirectory;

namespace {

/// Elements that a drawn tensor may reach from its data, to either side, are within a quarter of this.
constexpr size_t kBytes = 16384;
constexpr int kMostSize = 6, kMostStride = 9, kMostExtent = 8;
static_assert((kMostExtent * kMostStride + kMostSize * kMostStride) * sizeof(double) < kBytes / 4);

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed) {}
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  bool rarely() { return between(0, 7) == 0; }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[between(0, static_cast<int64_t>(list.size()) - 1)];
  }

 private:
  std::mt19937_64 random_;
};

/// A tensor in memory of its own, right as it is made: [rows, columns] of float32.
struct Operand {
  int64_t shape[2], strides[2], rows[kMostSize];
  std::vector<std::byte> memory = std::vector<std::byte>(kBytes, std::byte{0x3c});
  std::vector<std::byte> before;
  svengine_tensor tensor;

  Operand(int64_t row_count, int64_t columns) : shape{row_count, columns}, strides{columns, 1} {
    for (int64_t i = 0; i < kMostSize; ++i) rows[i] = i;
    tensor = svengine_dense(SVENGINE_FLOAT32, 2, shape, middle());
  }
  Operand(const Operand&) = delete;
  std::byte* middle() { return memory.data() + kBytes / 2; }

  void keep() { before = memory; }
  bool is_unchanged(size_t begin, size_t end) const { return std::memcmp(memory.data() + begin, before.data() + begin, end - begin) == 0; }

  /// One or several things that may be wrong.
  void disturb(Draw& draw) {
    if (draw.rarely()) tensor.type = static_cast<svengine_type>(draw.of<int>({-1, 0, 1, 7, 8, 9, 10, 11, 15, 16, 17, 99, INT32_MAX}));
    if (draw.rarely()) tensor.rank = static_cast<int32_t>(draw.of<int64_t>({-1, 0, 1, 3, INT32_MIN}));
    tensor.rank = std::min(tensor.rank, 2);  // there are two sizes
    if (draw.rarely()) shape[draw.between(0, 1)] = draw.of<int64_t>({-1, 0, 1, 3, 5, INT64_MIN, INT64_MAX, int64_t{1} << 50});
    if (draw.rarely()) tensor.shape = nullptr;
    if (draw.rarely()) set_strides(draw);
    if (draw.rarely()) set_rows(draw);
    if (draw.rarely()) tensor.data = draw.rarely() ? nullptr : middle() + 4 * draw.between(0, 1);
  }

 private:
  void set_strides(Draw& draw) {
    tensor.strides = strides;
    for (int64_t& s : strides) s = draw.between(-kMostStride, kMostStride);
  }
  void set_rows(Draw& draw) {
    tensor.rows = rows;
    tensor.extent = draw.of<int64_t>({-1, 0, 1, 4, kMostExtent, INT64_MIN});
    tensor.first_row = draw.of<int64_t>({0, 1, -1, INT64_MIN, INT64_MAX});
    if (tensor.first_row == 1)
      for (int64_t& r : rows) ++r;
    if (draw.rarely()) rows[draw.between(0, kMostSize - 1)] = draw.of<int64_t>({-1, 5, 1000, INT64_MIN, INT64_MAX});
  }
};

struct Loaded {
  svengine_network* network = nullptr;
  svengine_context* context = nullptr;
  Loaded(const std::string& path, bool convert) {
    svengine_options options = svengine_options_default();
    options.convert = convert;
    if (svengine_network_load(path.c_str(), &options, &network) != SVENGINE_OK) FAIL(svengine_last_error());
    if (svengine_context_create(network, nullptr, &context) != SVENGINE_OK) FAIL(svengine_last_error());
  }
  ~Loaded() {
    svengine_context_free(context);
    svengine_network_free(network);
  }
};

/// A run, vjp or jvp with operands of which any may be wrong.
struct Call {
  Operand x, y, dx, dy;
  explicit Call(int64_t rows) : x(rows, 4), y(rows, 3), dx(rows, 4), dy(rows, 3) {}

  svengine_status make(svengine_context* context, int kind, int32_t inputs, int32_t outputs) {
    if (kind == 0) return svengine_run(context, &x.tensor, inputs, &y.tensor, outputs);
    if (kind == 1) return svengine_run_vjp(context, &x.tensor, inputs, &dy.tensor, &y.tensor, outputs, &dx.tensor);
    return svengine_run_jvp(context, &x.tensor, inputs, &dx.tensor, &y.tensor, outputs, &dy.tensor);
  }
};

void try_one(Draw& draw, svengine_context* context, int counts[2]) {
  Call call(draw.between(1, kMostSize));
  const std::vector<Operand*> all = {&call.x, &call.y, &call.dx, &call.dy};
  for (Operand* o : all)
    if (draw.between(0, 2) == 0) o->disturb(draw);
  for (Operand* o : all) o->keep();
  const auto kind = static_cast<int>(draw.between(0, 2));
  const auto inputs = static_cast<int32_t>(draw.rarely() ? draw.of<int>({-1, 0, INT32_MIN}) : 1);
  const auto outputs = static_cast<int32_t>(draw.rarely() ? draw.of<int>({-1, 0, INT32_MIN}) : 1);
  const svengine_status status = call.make(context, kind, inputs, outputs);
  const bool is_fine = status == SVENGINE_OK;
  REQUIRE((is_fine || status == SVENGINE_INVALID_ARGUMENT || status == SVENGINE_FAILED));
  if (!is_fine) REQUIRE(std::strlen(svengine_last_error()) > 5);
  ++counts[is_fine];
  for (const Operand* o : all) {
    REQUIRE(o->is_unchanged(0, kBytes / 4));
    REQUIRE(o->is_unchanged(kBytes * 3 / 4, kBytes));
    if (status == SVENGINE_INVALID_ARGUMENT) REQUIRE(o->is_unchanged(0, kBytes));
  }
  REQUIRE(call.x.is_unchanged(0, kBytes));
}

}  // namespace

TEST_CASE("wrong calls, drawn at random, are told and do no harm") {
  const TemporaryDirectory folder;
  const std::string path = save_small_network(folder.path());
  Draw draw(7);
  for (const bool convert : {false, true}) {
    const Loaded l(path, convert);
    std::vector<std::byte> first;
    int counts[2] = {};
    for (int i = 0; i < 4000; ++i) {
      try_one(draw, l.context, counts);
      if (i % 16) continue;
      Call right(3);
      REQUIRE(right.make(l.context, i % 3, 1, 1) == SVENGINE_OK);
      const std::vector<std::byte> result(right.y.middle(), right.y.middle() + 3 * 3 * sizeof(float));
      if (first.empty()) first = result;
      REQUIRE(result == first);
    }
    CHECK(counts[0] > 400);
    CHECK(counts[1] > 400);
  }
}
}  // namespace hostile_calls_test
