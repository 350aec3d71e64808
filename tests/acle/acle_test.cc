// The intrinsics of engine/kernels/host give SVE's results bit for bit, NaN compared as NaN.
//
// tests/data/acle/sve512.txt and sve256.txt hold digests of what SVE gives, made by this program under QEMU
// (tests/acle/ CMakeLists.txt says how): a line for each intrinsic and type, in it eight numbers, the n-th over the
// results of all operands under predicates n, n + 8, ... Every instruction set this program was built for must
// reproduce them. Environment:
//   SVENGINE_ACLE_RECORD=1            write the file instead, on SVE
//   SVENGINE_ACLE_DUMP=svmax_x.f32    print that intrinsic's results, to be compared between machines
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/kernels/processor.h"
#include "tests/acle/acle_cases.h"
#include "tests/support/guarded_buffer.h"

namespace svengine::acle {

// SVENGINE_ACLE_SETS, from CMake: SVENGINE_ACLE(set) for each instruction set compiled in.
#define SVENGINE_ACLE(set)   \
  namespace set {            \
  void cases_float(Sink*);   \
  void cases_integer(Sink*); \
  void cases_compare(Sink*); \
  void cases_memory(Sink*);  \
  void cases_convert(Sink*); \
  void cases_permute(Sink*); \
  void cases_reduce(Sink*);  \
  extern const int kBits;    \
  }
SVENGINE_ACLE_SETS
#undef SVENGINE_ACLE

namespace {

struct Set {
  const char* name;
  int bits;
  std::array<void (*)(Sink*), 7> cases;
};
std::vector<Set> compiled_sets() {
#define SVENGINE_ACLE(set)                                                                           \
  {#set,                                                                                             \
   set::kBits,                                                                                       \
   {set::cases_float, set::cases_integer, set::cases_compare, set::cases_memory, set::cases_convert, \
    set::cases_permute, set::cases_reduce}},
  return {SVENGINE_ACLE_SETS};
#undef SVENGINE_ACLE
}
bool can_run(const Set& set) {
  const std::string name = set.name;
  if (name == "avx512") return kernels::processor_has_avx512();
  if (name == "avx2") return kernels::processor_has_avx2();
  return kernels::processor_sve_bits() == set.bits;
}

uint64_t next_random(uint64_t& state) {  // xorshift64
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

// All pairs of the special values in the first two arrays, a third one with each, then random ones.
template <class T, class Random>
std::array<std::vector<T>, 3> combine(const std::vector<T>& special, size_t count, Random random) {
  std::array<std::vector<T>, 3> out;
  const size_t n = special.size();
  REQUIRE(n * n <= count);
  for (size_t i = 0; i < count; ++i) {
    const bool pair = i < n * n;
    out[0].push_back(pair ? special[i / n] : random());
    out[1].push_back(pair ? special[i % n] : random());
    out[2].push_back(pair ? special[(i * 5 + i / n) % n] : random());
  }
  return out;
}

struct AllOperands {
  static constexpr size_t kFloats = 1664, kIntegers = 640;
  std::array<std::vector<float>, 3> f32;
  std::array<std::vector<double>, 3> f64;
  std::array<std::vector<uint8_t>, 3> u8;
  std::array<std::vector<uint16_t>, 3> u16;
  std::array<std::vector<uint32_t>, 3> u32;
  std::array<std::vector<uint64_t>, 3> u64;
  tests::GuardedBuffer<char> guarded{4096};
  Operands view;

  AllOperands() {
    uint64_t state = 0x243f6a8885a308d3u;
    make_floats(state);
    make_doubles(state);
    make_integers(state);
    show();
  }

 private:
  void make_floats(uint64_t& state) {
    constexpr float kInf = std::numeric_limits<float>::infinity(), kTiny = std::numeric_limits<float>::denorm_min();
    std::vector<float> special{
        0x1p-126f - kTiny, 0x1p-126f, 0x1.fffffep127f, kInf,        kTiny,   0, 0.5f, 1, 1.5f, 2.5f,
        0x1.fffffep-2f,    8388609,   0x1p31f,         0x1.3p-128f, 0x1p-70f};
    for (size_t i = 0, n = special.size(); i < n; ++i) special.push_back(-special[i]);
    for (const float x : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::signaling_NaN(),
                          4194303.5f, 2147483520.0f, 4294967040.0f, 0x1p32f, 0x1.8p126f, 65520.0f, 3.0f})
      special.push_back(x);
    f32 = combine<float>(special, kFloats, [&] {
      const uint32_t r = uint32_t(next_random(state) >> 20);
      return std::bit_cast<float>((r & 0x807fffffu) | (127u - 12 + (r >> 23) % 25) << 23);
    });
  }

  void make_doubles(uint64_t& state) {
    constexpr double kInf64 = std::numeric_limits<double>::infinity(),
                     kTiny64 = std::numeric_limits<double>::denorm_min();
    std::vector<double> wide{0x1p-1022 - kTiny64,
                             0x1p-1022,
                             std::numeric_limits<double>::max(),
                             kInf64,
                             kTiny64,
                             0,
                             0.5,
                             1,
                             1.5,
                             2.5,
                             0x1.fffffffffffffp-2,
                             4503599627370497.0,
                             0x1p63,
                             0x1p31,
                             0x1p-150,
                             0x1.fffffe8p127};
    for (size_t i = 0, n = wide.size(); i < n; ++i) wide.push_back(-wide[i]);
    for (const double x : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::signaling_NaN(),
                           2251799813685247.5, 0x1.fffffffffffffp62, 2147483647.5, 0x1.fffffefp127, 3.0})
      wide.push_back(x);
    f64 = combine<double>(wide, kFloats, [&] {
      const uint64_t r = next_random(state);
      return std::bit_cast<double>((r & 0x800fffffffffffffu) | (1023u - 12 + (r >> 52) % 25) << 52);
    });
  }

  void make_integers(uint64_t& state) {
    std::vector<uint64_t> whole{
        0, 1, 2, 3, 5, 7, 8, 15, 31, 32, 33, 63, 64, ~0ull, ~1ull, ~99ull, 0x5555555555555555u, 0xfedcba9876543210u};
    for (const int bits : {8, 16, 32, 64}) {
      whole.push_back(1ull << (bits - 1));
      if (bits != 16) whole.push_back((1ull << (bits - 1)) - 1);
    }
    const auto random = [&] { return next_random(state); };
    u64 = combine<uint64_t>(whole, kIntegers, random);
    u32 = combine<uint32_t>({whole.begin(), whole.end()}, kIntegers, random);
    u16 = combine<uint16_t>({whole.begin(), whole.end()}, kIntegers, random);
    u8 = combine<uint8_t>({whole.begin(), whole.end()}, kIntegers, random);
  }

  void show() {
    view.float_count = kFloats;
    view.integer_count = kIntegers;
    for (int i = 0; i < 3; ++i) {
      view.f32[i] = f32[i].data();
      view.f64[i] = f64[i].data();
      view.integers[0][i] = u8[i].data();
      view.integers[1][i] = u16[i].data();
      view.integers[2][i] = u32[i].data();
      view.integers[3][i] = u64[i].data();
    }
    view.guarded_end = guarded.end();
  }
};

// A few digests for each intrinsic.
class Recorder {
 public:
  explicit Recorder(const Operands* operands) {
    sink_.operands = operands;
    sink_.begin = [](Sink* s, const char* intrinsic, const char* type) { self(s)->begin(intrinsic, type); };
    sink_.put = [](Sink* s, int predicate, Kind kind, int width, const void* data, int bytes) {
      self(s)->put(predicate, kind, width, static_cast<const char*>(data), bytes);
    };
    if (const char* dump = std::getenv("SVENGINE_ACLE_DUMP")) dump_ = dump;
  }
  Sink* sink() { return &sink_; }
  const std::map<std::string, std::vector<uint32_t>>& digests() const { return digests_; }

 private:
  static Recorder* self(Sink* s) { return reinterpret_cast<Recorder*>(s); }  // sink_ is the first member

  void begin(const char* intrinsic, const char* type) {
    std::string name = std::string(intrinsic) + "." + type;
    for (char& c : name)
      if (c == ' ') c = '_';
    INFO(name);
    REQUIRE(digests_.find(name) == digests_.end());
    current_ = &digests_[name];
    dumping_ = name == dump_;
  }

  void put(int predicate, Kind kind, int width, const char* data, int bytes) {
    const size_t slot = size_t(predicate) % kDigests;
    if (current_->size() <= slot) current_->resize(slot + 1, 2166136261u);
    uint32_t& digest = (*current_)[slot];
    if (dumping_) std::printf("%s %d:", dump_.c_str(), predicate);
    for (int at = 0; at < bytes; at += width) {
      uint64_t bits = 0;
      std::memcpy(&bits, data + at, width);
      if (kind == Kind::kFloat32 && (bits & 0x7fffffffu) > 0x7f800000u) bits = 0x7fc00000u;
      if (kind == Kind::kFloat64 && (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u) bits = 0x7ff8000000000000u;
      for (int i = 0; i < width; ++i) digest = (digest ^ uint8_t(bits >> 8 * i)) * 16777619u;  // FNV-1a
      if (dumping_) std::printf(" %0*llx", 2 * width, static_cast<unsigned long long>(bits));
    }
    if (dumping_) std::printf("\n");
  }

  static constexpr size_t kDigests = 8;  // keeps the files small

  Sink sink_;
  std::map<std::string, std::vector<uint32_t>> digests_;
  std::vector<uint32_t>* current_ = nullptr;
  std::string dump_;
  bool dumping_ = false;
};

std::string data_file(int bits) { return "tests/data/acle/sve" + std::to_string(bits) + ".txt"; }

void write(const std::map<std::string, std::vector<uint32_t>>& digests, const std::string& path) {
  std::ofstream out(path);
  out << "# Digests of SVE's results, see tests/acle/acle_test.cc.\n";
  for (const auto& [name, values] : digests) {
    out << name << std::hex;
    for (const uint32_t value : values) out << ' ' << value;
    out << '\n';
  }
  REQUIRE(out.good());
}

std::map<std::string, std::vector<uint32_t>> read(const std::string& path) {
  std::map<std::string, std::vector<uint32_t>> digests;
  std::ifstream in(path);
  INFO(path << " is read from the repository's root");
  REQUIRE(in.good());
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    words >> name >> std::hex;
    for (uint32_t value; words >> value;) digests[name].push_back(value);
  }
  return digests;
}

void check(const Set& set) {
  const AllOperands operands;
  Recorder recorder(&operands.view);
  for (const auto run : set.cases) run(recorder.sink());
  if (std::getenv("SVENGINE_ACLE_RECORD")) {
    REQUIRE(kernels::processor_sve_bits() == set.bits);  // only SVE itself says what is right
    write(recorder.digests(), data_file(set.bits));
    return;
  }
  const auto expected = read(data_file(set.bits));
  for (const auto& [name, values] : expected) {
    INFO(set.name << " " << name);
    const auto found = recorder.digests().find(name);
    REQUIRE(found != recorder.digests().end());
    CHECK(found->second == values);
  }
  CHECK(recorder.digests().size() == expected.size());
}

TEST_CASE("the host's SVE intrinsics are bit-equal to SVE", "[acle]") {
  for (const Set& set : compiled_sets()) {
    if (can_run(set))
      check(set);
    else
      WARN("this processor lacks " << set.name << ": not checked");
  }
}

}  // namespace
}  // namespace svengine::acle
