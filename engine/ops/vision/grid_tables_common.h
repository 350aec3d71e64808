// The tables of GridSample: where a chunk of positions reads, all of them a step at a time, so that the compiler makes vectors of them.
#pragma once
#include "engine/ops/vision/grid_common.h"
#include "engine/ops/vision/sampling_common.h"

namespace svengine::ops {

inline constexpr int64_t kGridChunk = 128;  // positions of a task

/// Places and weights of the `tables.count` positions, kGridChunk at most, whose coordinates begin at `grid`: what GridPosition says of each.
/// The table's taps are rules.axis_taps() to the power of the axes.
template <class T, class G>
void fill_grid_tables(const GridRules& rules, const GridShape& shape, const G* grid, const SampleTables<T>& tables);

extern template void fill_grid_tables(const GridRules&, const GridShape&, const float*, const SampleTables<float>&);
extern template void fill_grid_tables(const GridRules&, const GridShape&, const double*, const SampleTables<float>&);
extern template void fill_grid_tables(const GridRules&, const GridShape&, const float*, const SampleTables<double>&);
extern template void fill_grid_tables(const GridRules&, const GridShape&, const double*, const SampleTables<double>&);

}  // namespace svengine::ops
