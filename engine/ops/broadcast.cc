#include "engine/ops/broadcast.h"

namespace svengine::ops {
namespace {

bool is_one(const Dim& d) { return d.is_static() && d.value() == 1; }

/// Empty when the two cannot be one.
std::optional<Dim> broadcast_dim(const Dim& a, const Dim& b) {
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  if (a.is_static() && b.is_static()) return a.value() == b.value() ? std::optional<Dim>(a) : std::nullopt;
  if (a.is_static()) return a;
  if (b.is_static()) return b;
  return a.same(b) ? a : Dim();
}

bool may_broadcast_to(const Shape& from, const Shape& target) {
  if (!from.has_rank() || !target.has_rank()) return true;
  bool fits = from.rank() <= target.rank();
  for (size_t i = 1; fits && i <= from.dims().size(); ++i) {
    const Dim& d = from[from.dims().size() - i];
    fits = is_one(d) || !known_different(d, target[target.dims().size() - i]);
  }
  return fits;
}

}  // namespace

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape();
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape out = longer;
  const size_t offset = static_cast<size_t>(longer.rank() - shorter.rank());
  for (size_t i = 0; i < shorter.dims().size(); ++i) {
    const std::optional<Dim> d = broadcast_dim(longer[offset + i], shorter[i]);
    if (!d) return error("shapes {} and {} do not broadcast: aligned at the end, dimensions must be equal or 1", to_string(a), to_string(b));
    out.set(offset + i, *d);
  }
  return out;
}

Result<Shape> broadcast_inputs(const InferContext& c, size_t first) {
  Shape out(std::vector<Dim>{});
  for (size_t i = first; i < c.input_count(); ++i)
    if (c.has_input(i)) {
      SV_ASSIGN(out, broadcast(out, c.shape(i)));
    }
  return out;
}

Status require_broadcast_to(const Shape& from, const std::string& what, const Shape& target, const char* of) {
  if (may_broadcast_to(from, target)) return {};
  return error("{} of shape {} does not broadcast to {} {}: aligned at the end, its dimensions must be those of {} or 1", what, to_string(from), of,
               to_string(target), of);
}

Status require_broadcast_to(const InferContext& c, size_t input, const Shape& target, const char* of) {
  return may_broadcast_to(c.shape(input), target) ? Status() : require_broadcast_to(c.shape(input), c.described(input), target, of);
}

std::vector<int64_t> broadcast_strides(const Dims& dims, const Dims& out) {
  std::vector<int64_t> strides(out.size(), 0);
  int64_t stride = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t from = dims.size() - 1 - i, to = out.size() - 1 - i;
    if (dims[from] != 1) strides[to] = stride;
    stride *= dims[from];
  }
  return strides;
}

void merge_walks(Dims& dims, std::vector<int64_t>& a, std::vector<int64_t>& b) {
  size_t n = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (n > 0 && a[n - 1] == a[i] * dims[i] && b[n - 1] == b[i] * dims[i]) {
      dims[n - 1] *= dims[i], a[n - 1] = a[i], b[n - 1] = b[i];
    } else {
      dims[n] = dims[i], a[n] = a[i], b[n] = b[i];
      ++n;
    }
  }
  dims.resize(n), a.resize(n), b.resize(n);
}

}  // namespace svengine::ops
