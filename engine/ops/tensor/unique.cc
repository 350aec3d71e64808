// Unique: the different elements (or slices along an axis), sorted or in the order they first appear; also where each appears
// first, which one every input element is, and how often it appears. How many there are depends on the values, so it runs
// between plans.
#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>

#include "engine/graph/axes.h"
#include "engine/graph/evaluate_context.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/element.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

/// The input as [outer][count][inner]; slice i is everything at middle index i.
struct Slices {
  int64_t outer = 1, count = 0, inner = 1;
};

struct Found {
  std::vector<int64_t> first, inverse, counts;
};

Result<Slices> slices_of(const Attributes& attributes, const Dims& dims) {
  if (!attributes.has("axis")) return Slices{1, element_count(dims), 1};
  SV_ASSIGN(const int64_t axis, normalise_axis(attributes.get_int("axis"), static_cast<int64_t>(dims.size())));
  const std::span<const int64_t> all(dims);
  const auto a = static_cast<size_t>(axis);
  return Slices{element_count(all.first(a)), dims[a], element_count(all.subspan(a + 1))};
}

template <class T>
int compare(const T* x, const Slices& s, int64_t i, int64_t j) {
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t k = 0; k < s.inner; ++k) {
      const T a = x[(o * s.count + i) * s.inner + k], b = x[(o * s.count + j) * s.inner + k];
      if (a != b) return a < b ? -1 : 1;
    }
  return 0;
}

/// Groups of equal whole numbers, in the order in which they first appear, found by a table of hashes that grows with them.
class HashedGroups {
 public:
  /// The group of a number that comes at `place`. Negative: the table would be searched too long, for numbers made to meet in it.
  int64_t add(int64_t number, int64_t place) {
    if (2 * keys_.size() >= slots_.size()) grow();
    for (size_t at = slot_of(number);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] < 0) {
        slots_[at] = static_cast<int32_t>(keys_.size());
        keys_.push_back(number), found.first.push_back(place), found.counts.push_back(0);
      }
      const int32_t group = slots_[at];
      if (keys_[static_cast<size_t>(group)] == number) return group;
      if (++passed_ > kMostPassed * (place + kMostPassed)) return -1;
    }
  }

  const std::vector<int64_t>& keys() const { return keys_; }
  Found found;

 private:
  static constexpr int64_t kMostPassed = 16;  // slots of others, for every number so far

  size_t slot_of(int64_t number) const {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;
    const uint64_t once = static_cast<uint64_t>(number) * kGolden;
    return static_cast<size_t>((once ^ once >> 32) * kGolden >> (64 - std::countr_zero(slots_.size())));
  }
  void grow() {
    slots_.assign(2 * slots_.size(), -1);
    for (size_t group = 0; group < keys_.size(); ++group) {
      size_t at = slot_of(keys_[group]);
      while (slots_[at] >= 0) at = (at + 1) & (slots_.size() - 1), ++passed_;
      slots_[at] = static_cast<int32_t>(group);
    }
  }

  std::vector<int32_t> slots_ = std::vector<int32_t>(512, -1);
  std::vector<int64_t> keys_;
  int64_t passed_ = 0;
};

/// Of whole numbers; nothing where sorting them is safer.
std::optional<Found> find_whole_numbers(std::span<const int64_t> x, bool sorted, bool is_unsigned) {
  const auto n = static_cast<int64_t>(x.size());
  if (n > std::numeric_limits<int32_t>::max() / 4) return std::nullopt;
  HashedGroups groups;
  std::vector<int64_t> inverse(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t group = groups.add(x[static_cast<size_t>(i)], i);
    if (group < 0) return std::nullopt;
    inverse[static_cast<size_t>(i)] = group;
    ++groups.found.counts[static_cast<size_t>(group)];
  }
  Found found = std::move(groups.found);
  found.inverse = std::move(inverse);
  if (!sorted) return found;
  std::vector<int64_t> order(found.first.size()), rank(order.size());
  std::iota(order.begin(), order.end(), 0);
  const int64_t flip = is_unsigned ? std::numeric_limits<int64_t>::min() : 0;  // then they are in the order of signed ones
  const auto key = [&](int64_t group) { return groups.keys()[static_cast<size_t>(group)] ^ flip; };
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return key(a) < key(b); });
  Found out{.first = {}, .inverse = std::move(found.inverse), .counts = {}};
  for (size_t r = 0; r < order.size(); ++r) {
    const auto group = static_cast<size_t>(order[r]);
    out.first.push_back(found.first[group]), out.counts.push_back(found.counts[group]);
    rank[group] = static_cast<int64_t>(r);
  }
  for (int64_t& group : out.inverse) group = rank[static_cast<size_t>(group)];
  return out;
}

std::optional<Found> find_whole_numbers(const Tensor& t, const Slices& s, bool sorted) {
  if (s.outer != 1 || s.inner != 1 || !kIntegerTypes.has(t.type())) return std::nullopt;
  std::vector<int64_t> numbers(static_cast<size_t>(s.count));
  with_type(t.type(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>) std::copy_n(reinterpret_cast<const T*>(t.raw()), s.count, numbers.begin());
  });
  return find_whole_numbers(numbers, sorted, t.type() == DType::u64);
}

Found find_unique(const Tensor& t, const Slices& s, bool sorted) {
  if (std::optional<Found> found = find_whole_numbers(t, s, sorted)) return std::move(*found);
  if (t.type() == DType::f16 || t.type() == DType::bf16) {  // equal, and in the same order, as float32
    std::vector<float> wide;
    for (int64_t i = 0; i < t.count(); ++i) wide.push_back(static_cast<float>(number_at(t.type(), t.raw(), i)));
    return find_unique(Tensor::of<float>(t.dims(), std::span<const float>(wide)), s, sorted);
  }
  std::vector<int64_t> order(static_cast<size_t>(s.count));
  std::iota(order.begin(), order.end(), 0);
  std::vector<int64_t> groups;  // starts of runs of equal slices in `order`
  with_type(t.type(), [&]<class T>() {
    const T* x = reinterpret_cast<const T*>(t.raw());
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return compare(x, s, i, j) < 0; });
    for (size_t i = 0; i < order.size(); ++i)
      if (i == 0 || compare(x, s, order[i - 1], order[i]) != 0) groups.push_back(static_cast<int64_t>(i));
  });
  groups.push_back(s.count);
  std::vector<size_t> rank(groups.size() - 1);
  std::iota(rank.begin(), rank.end(), 0);
  const auto first_of = [&](size_t group) { return order[static_cast<size_t>(groups[group])]; };
  if (!sorted) std::sort(rank.begin(), rank.end(), [&](size_t a, size_t b) { return first_of(a) < first_of(b); });
  Found found;
  found.inverse.resize(order.size());
  for (size_t r = 0; r < rank.size(); ++r) {
    const size_t g = rank[r];
    found.first.push_back(first_of(g));
    found.counts.push_back(groups[g + 1] - groups[g]);
    for (int64_t i = groups[g]; i < groups[g + 1]; ++i) found.inverse[static_cast<size_t>(order[static_cast<size_t>(i)])] = static_cast<int64_t>(r);
  }
  return found;
}

Result<Found> find_unique(const Attributes& attributes, const Tensor& t) {
  SV_ASSIGN(const Slices s, slices_of(attributes, t.dims()));
  SV_ASSIGN(const Tensor aligned, t.aligned_copy());
  return find_unique(aligned, s, attributes.get_int("sorted", 1) != 0);
}

Status infer_unique(InferContext& c) {
  Dim count, size;
  if (const Tensor* t = c.constant(0); t && !is_handle(t->type())) {
    SV_ASSIGN(const Found found, find_unique(c.attributes(), *t));
    count = static_cast<int64_t>(found.first.size());
    size = static_cast<int64_t>(found.inverse.size());
  }
  Shape out{count};
  if (c.attributes().has("axis")) {
    out = c.shape(0);
    if (out.has_rank()) {
      SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), out.rank()));
      out.set(static_cast<size_t>(axis), count);
    }
  }
  c.set(0, c.dtype(0), std::move(out));
  c.set(1, DType::i64, Shape{count});
  c.set(2, DType::i64, Shape{size});
  c.set(3, DType::i64, Shape{count});
  return {};
}

Status evaluate_unique(EvaluateContext& c) {
  if (c.input(0).type() == DType::string) return evaluate_strings(c);
  const Tensor& t = c.input(0);
  SV_ASSIGN(const Slices s, slices_of(c.attributes(), t.dims()));
  const Found found = find_unique(t, s, c.attributes().get_int("sorted", 1) != 0);
  const auto count = static_cast<int64_t>(found.first.size());
  Dims dims{count};
  if (c.attributes().has("axis")) {
    SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(t.dims().size())));
    dims = t.dims();
    dims[static_cast<size_t>(axis)] = count;
  }
  SV_ASSIGN(MutableTensor values, Tensor::allocate(t.type(), std::move(dims)));
  const size_t bytes = static_cast<size_t>(s.inner) * size_of(t.type());
  std::byte* to = values.raw();
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t i : found.first) to = std::copy_n(t.raw() + static_cast<size_t>(o * s.count + i) * bytes, bytes, to);
  c.set(0, std::move(values));
  const auto list = [](const std::vector<int64_t>& v) {
    return Tensor::of<int64_t>({static_cast<int64_t>(v.size())}, std::span<const int64_t>(v));
  };
  c.set(1, list(found.first));
  c.set(2, list(found.inverse));
  c.set(3, list(found.counts));
  return {};
}

}  // namespace

OpDef define_unique() {
  return {
      .name = "Unique",
      .since = 11,
      .inputs = "X",
      .outputs = {1, 4},
      .attributes = {{"axis", AttributeKind::kInt}, {"sorted", AttributeKind::kInt, false, 1}},
      .infer = infer_unique,
      .evaluate = evaluate_unique,
      .types = {{"T", kNumericTypes | kBool | DTypeSet{DType::string}, {0}}},
      .samples = "(int32[5, 6] -3 to 4) 4"
                 "(float32[6]{2.0, 1.0, 1.0, 3.0, 4.0, 3.0}) 4"
                 "(float32[6]{2.0, 1.0, 1.0, 3.0, 4.0, 3.0}) {sorted = 0} 4"
                 "(float32[3, 2]{1.0, 0.0, 1.0, 0.0, 2.0, 3.0}) {axis = 0} 4",
  };
}

}  // namespace svengine::ops
