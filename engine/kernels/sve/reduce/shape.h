// How a reduction is walked. Dimensions of one element vanish, neighbours of the same kind merge; then either
//
//   lines     the innermost dimension is reduced: each output is made of contiguous lines
//   columns   the innermost dimension is kept: neighbouring outputs are neighbouring lanes, walked down the rows
//
//   x[kept 0][reduced 0][kept 1][reduced 1]  ->  y[kept 0][kept 1]: lines of `run` elements (reduced 1), at
//                                                `repeats` positions (reduced 0)
#pragma once
#include "engine/kernels/reduce.h"
#include "engine/kernels/sve/data/element.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int kReduceVectors = 4;
inline constexpr int64_t kReduceColumns = kReduceVectors * kLanes;  // outputs of one item of the columns form

struct ReduceShape {
  bool lines = true;
  Odometer<1> kept;     // without the innermost dimension of the columns form
  Odometer<1> reduced;  // without the innermost reduced dimension
  int64_t outer = 1;    // positions of `kept`
  int64_t repeats = 1;  // positions of `reduced`
  int64_t run = 1;      // extent of the innermost reduced dimension
  int64_t run_stride = 1;
  int64_t columns = 1;  // extent of the innermost kept dimension, columns form only
  int64_t column_chunks = 1;

  explicit ReduceShape(const ReduceArgs& args) {
    int64_t extent[kReduceDims], stride[kReduceDims];
    bool is_reduced[kReduceDims];
    int rank = 0;
    for (int d = 0; d < args.rank; ++d) {
      if (args.extent[d] == 1) continue;
      if (rank > 0 && is_reduced[rank - 1] == args.reduced[d]) {
        extent[rank - 1] *= args.extent[d];
      } else {
        extent[rank] = args.extent[d];
        is_reduced[rank++] = args.reduced[d];
      }
    }
    int64_t product = 1;
    int last_reduced = -1;
    for (int d = rank - 1; d >= 0; --d) {
      stride[d] = product;
      product *= extent[d];
      if (is_reduced[d] && last_reduced < 0) last_reduced = d;
    }
    lines = rank == 0 || is_reduced[rank - 1];
    for (int d = 0; d < rank; ++d) {
      if (d == last_reduced) {
        run = extent[d];
        run_stride = stride[d];
      } else if (!lines && d == rank - 1) {
        columns = extent[d];
      } else {
        (is_reduced[d] ? reduced : kept).add(extent[d], {stride[d]});
      }
    }
    outer = kept.positions();
    repeats = reduced.positions();
    column_chunks = ceil_div(columns, kReduceColumns);
  }

  int64_t count() const { return repeats * run; }  // elements of one output
  TaskPartition partition() const {
    return lines ? TaskPartition(outer, count()) : TaskPartition(outer * column_chunks, count() * smaller(columns, kReduceColumns));
  }

  /// f(offset of the run's first element) for every run of one output (or chunk of outputs), in order. Behind the last comes the first.
  template <class F>
  SVENGINE_INLINE void for_runs(const F& f) {
    for (int64_t i = 0; i < repeats; ++i, reduced.next_by_loop()) f(reduced.offset(0));
  }
};

void reduce_f32(const ReduceArgs& args, ReduceShape& shape, int64_t begin, int64_t end);
void reduce_plain(const ReduceArgs& args, ReduceShape& shape, int64_t begin, int64_t end);  // the other types

int64_t arg_reduce_tasks(const ArgReduceArgs& args) noexcept;
void arg_reduce_run(const ArgReduceArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t cumulative_sum_tasks(const CumSumArgs& args) noexcept;
void cumulative_sum_run(const CumSumArgs& args, int64_t begin, int64_t end, void*) noexcept;
int64_t top_k_tasks(const TopKArgs& args) noexcept;
int64_t top_k_scratch(const TopKArgs& args) noexcept;
void top_k_run(const TopKArgs& args, int64_t begin, int64_t end, void* scratch) noexcept;

/// Calls body.template operator()<op>().
template <class Body>
inline void dispatch_reduce(ReduceOp op, const Body& body) {
  switch (op) {
    case ReduceOp::kSum:
      return body.template operator()<ReduceOp::kSum>();
    case ReduceOp::kMean:
      return body.template operator()<ReduceOp::kMean>();
    case ReduceOp::kMax:
      return body.template operator()<ReduceOp::kMax>();
    case ReduceOp::kMin:
      return body.template operator()<ReduceOp::kMin>();
    case ReduceOp::kProd:
      return body.template operator()<ReduceOp::kProd>();
    case ReduceOp::kL1:
      return body.template operator()<ReduceOp::kL1>();
    case ReduceOp::kL2:
      return body.template operator()<ReduceOp::kL2>();
    case ReduceOp::kLogSum:
      return body.template operator()<ReduceOp::kLogSum>();
    case ReduceOp::kLogSumExp:
      return body.template operator()<ReduceOp::kLogSumExp>();
    case ReduceOp::kSumSquare:
      return body.template operator()<ReduceOp::kSumSquare>();
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
