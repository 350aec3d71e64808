#include "engine/graph/pads.h"


#include "engine/graph/axes.h"

namespace svengine {
namespace {

constexpr int64_t kMostPads = int64_t{1} << 48;  // sums of sizes and pads cannot overflow

Result<std::vector<int64_t>> padded_axes(const Value* axes, int64_t rank) {
  if (axes) return normalise_axes(axes->constant().as_int64s(), rank);
  return every_axis(rank);
}

}  // namespace

Result<std::optional<Pads>> read_pads(const Node& pad, int64_t rank) {
  const Value *widths = pad.input(1), *axes = pad.input(3);
  if (!widths || !widths->is_constant() || (axes && !axes->is_constant())) return std::optional<Pads>();
  SV_ASSIGN(const std::vector<int64_t> which, padded_axes(axes, rank));
  const std::vector<int64_t> given = widths->constant().as_int64s();
  if (given.size() != 2 * which.size()) return error("{} pads, needs two for each of {} axes", given.size(), which.size());
  for (int64_t p : given)
    if (p > kMostPads || p < -kMostPads) return error("pad {} is out of range", p);
  Pads out{std::vector<int64_t>(static_cast<size_t>(rank)), std::vector<int64_t>(static_cast<size_t>(rank))};
  for (size_t i = 0; i < which.size(); ++i) {
    out.before[static_cast<size_t>(which[i])] = given[i];
    out.after[static_cast<size_t>(which[i])] = given[which.size() + i];
  }
  return std::optional<Pads>(std::move(out));
}

std::optional<Pads> known_pads(const Node& pad) {
  const int64_t rank = pad.input(0) ? pad.input(0)->type.shape.rank() : -1;
  if (rank < 0) return std::nullopt;
  Result<std::optional<Pads>> pads = read_pads(pad, rank);
  return pads.ok() ? *std::move(pads) : std::nullopt;
}

}  // namespace svengine
