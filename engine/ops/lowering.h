// How operators become steps.
//
// OpDef::lower is called once for every node when a plan is made, all shapes being concrete. It emits steps: a function and
// a number of independent tasks. At run time every thread of the team walks the steps and does its share of each one's tasks,
// with a barrier between steps. A step finds its memory through Buffers, which are resolved against the run's table of base
// addresses, so that one immutable plan serves many runs at once.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/kernels/kernel_table.h"

namespace svengine {

/// Where a value or temporary lives: an index into the run's base addresses and a byte offset. Default: absent (null).
struct Buffer {
  int32_t base = -1;
  int64_t offset = 0;
  explicit operator bool() const { return base >= 0; }
};

/// What a step function gets: the addresses of this run, and its thread's scratch memory.
class Run {
 public:
  Run(std::byte* const* bases, std::byte* scratch) : bases_(bases), scratch_(scratch) {}

  /// Null for an absent buffer.
  template <class T>
  T* get(Buffer b) const {
    return b ? reinterpret_cast<T*>(bases_[b.base] + b.offset) : nullptr;
  }
  /// Of the size the step asked for, null for none; contents undefined; this thread's own.
  template <class T>
  T* scratch() const {
    return reinterpret_cast<T*>(scratch_);
  }
  /// What a step gets that asked for so many bytes of scratch memory.
  Run for_step(int64_t scratch_bytes) const { return {bases_, scratch_bytes > 0 ? scratch_ : nullptr}; }

 private:
  std::byte* const* bases_;
  std::byte* scratch_;
};

/// Does tasks [begin, end). Called by many threads at once for disjoint ranges; must not allocate or throw. A step that finds
/// bad data (an index out of range) returns a static message, others null.
using StepFunction = std::function<const char*(const Run&, int64_t begin, int64_t end)>;

/// How a constant becomes what a kernel reads. `layout` names the result: equal tensor, layout and scale mean equal bytes.
struct Packing {
  std::string layout;
  int64_t bytes = 0;  // of the result
  int64_t tasks = 1;  // independent parts
  /// Does tasks [begin, end) from the constant's elements, aligned for their type. Absent: the elements are copied.
  std::function<void(const std::byte* source, std::byte* packed, int64_t begin, int64_t end)> fill = {};
  /// When not empty: one factor for every slice of dimension 0 of a float32 constant, applied in double before `fill`.
  std::vector<double> row_scale = {};
};

/// What a session asks of all its plans.
struct LowerOptions {
  bool exact_convolution = false;  // no Winograd: kernels/conv.h
  std::optional<uint64_t> seed = {};  // of nodes that draw numbers and have no seed of their own; none: no two plans draw the same
};

class LowerContext {
 public:
  virtual ~LowerContext() = default;

  const Node& node() const { return *node_; }
  const Attributes& attributes() const { return node_->attributes; }
  const kernels::KernelTable& kernels() const { return *kernels_; }
  const LowerOptions& options() const { return options_; }

  size_t input_count() const { return node_->inputs().size(); }
  bool has_input(size_t i) const { return node_->input(i) != nullptr; }
  bool has_output(size_t i) const { return node_->output(i) != nullptr; }
  const Type& in_type(size_t i) const { return node_->input(i)->type; }
  const Type& out_type(size_t i = 0) const { return node_->output(i)->type; }
  Dims in_dims(size_t i) const { return *in_type(i).shape.concrete(); }
  Dims out_dims(size_t i = 0) const { return *out_type(i).shape.concrete(); }
  /// The known value of an input, else null. Its storage may be unaligned.
  const Tensor* constant(size_t i) const;

  /// Where input i is at run time; absent for an input that is not there. Constants count: their bytes are kept for the plan.
  virtual Buffer in(size_t i) = 0;
  virtual Buffer out(size_t i = 0) = 0;
  /// Arena memory for this node's own steps.
  virtual Buffer temporary(int64_t bytes) = 0;
  /// Constant input i in the layout a kernel wants, aligned to a cache line, made once and shared by all plans of a session.
  /// Filled when the plan is complete, by all threads. The original is not kept for it.
  virtual Buffer packed(size_t i, Packing packing) = 0;
  /// Constant bytes of the plan's own (index tables and the like).
  virtual Buffer table(std::span<const std::byte> bytes) = 0;

  /// Adds a step. `kernel` says what runs, for profiles and plan dumps ("gemm_f32", "conv_3x3"). A call of `run` should have
  /// `grain` tasks at least.
  virtual void emit(std::string kernel, int64_t tasks, StepFunction run, int64_t scratch_bytes = 0, int64_t grain = 1) = 0;

 protected:
  LowerContext(const Node& node, const kernels::KernelTable& kernels, const LowerOptions& options)
      : node_(&node), kernels_(&kernels), options_(options) {}
  const Node* node_;
  const kernels::KernelTable* kernels_;
  LowerOptions options_;
};

}  // namespace svengine
