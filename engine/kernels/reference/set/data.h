// The parts of the data family, by items (tasks.h); data.cc holds its table.
#pragma once
#include <cstring>

#include "engine/kernels/data.h"

namespace svengine::kernels::reference {

inline void move_elements(void* dst, int64_t dst_at, const void* src, int64_t src_at, int32_t bytes, int64_t count) {
  std::memcpy(static_cast<char*>(dst) + dst_at * bytes, static_cast<const char*>(src) + src_at * bytes,
              static_cast<size_t>(count * bytes));
}
inline void clear_elements(void* dst, int64_t dst_at, int32_t bytes, int64_t count) {
  std::memset(static_cast<char*>(dst) + dst_at * bytes, 0, static_cast<size_t>(count * bytes));
}

// data_index.cc
int64_t gather_items(const GatherArgs& args);
void gather_range(const GatherArgs& args, int64_t begin, int64_t end, void*);
int64_t gather_elements_items(const GatherElementsArgs& args);
void gather_elements_range(const GatherElementsArgs& args, int64_t begin, int64_t end, void*);
int64_t gather_nd_items(const GatherNdArgs& args);
void gather_nd_range(const GatherNdArgs& args, int64_t begin, int64_t end, void*);
int64_t scatter_elements_items(const ScatterElementsArgs& args);
void scatter_elements_range(const ScatterElementsArgs& args, int64_t begin, int64_t end, void*);
int64_t scatter_nd_items(const ScatterNdArgs& args);
void scatter_nd_range(const ScatterNdArgs& args, int64_t begin, int64_t end, void*);

// data_pattern.cc
int64_t resample_items(const ResampleArgs& args);
int64_t resample_f64_items(const ResampleF64Args& args);
void resample_f64_range(const ResampleF64Args& args, int64_t begin, int64_t end, void*);
void resample_range(const ResampleArgs& args, int64_t begin, int64_t end, void*);
int64_t weighted_gather_items(const WeightedGatherArgs& args);
void weighted_gather_range(const WeightedGatherArgs& args, int64_t begin, int64_t end, void*);
int64_t one_hot_items(const OneHotArgs& args);
void one_hot_range(const OneHotArgs& args, int64_t begin, int64_t end, void*);
int64_t trilu_items(const TriluArgs& args);
void trilu_range(const TriluArgs& args, int64_t begin, int64_t end, void*);

}  // namespace svengine::kernels::reference
