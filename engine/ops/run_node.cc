#include "engine/ops/run_node.h"

#include "engine/graph/evaluate_context.h"
#include "engine/graph/op_def.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {
namespace {

/// Emits steps into memory of its own.
class HostLowering final : public LowerContext {
 public:
  explicit HostLowering(const Node& node) : LowerContext(node, *kernels::all_kernel_sets().front(), {}) {}

  /// Memory that the caller keeps.
  Buffer add(const std::byte* data) {
    bases_.push_back(const_cast<std::byte*>(data));  // inputs are only read
    return {static_cast<int32_t>(bases_.size()) - 1, 0};
  }
  void bind(std::vector<Buffer> inputs, std::vector<Buffer> outputs) {
    inputs_ = std::move(inputs);
    outputs_ = std::move(outputs);
  }

  Buffer in(size_t i) override { return i < inputs_.size() ? inputs_[i] : Buffer(); }
  Buffer out(size_t i) override { return i < outputs_.size() ? outputs_[i] : Buffer(); }
  Buffer temporary(int64_t bytes) override { return keep(bytes); }
  Buffer packed(size_t i, Packing packing) override {
    const Buffer to = keep(packing.bytes);
    if (!to) return to;
    const std::byte* source = bases_[static_cast<size_t>(inputs_[i].base)];
    std::byte* data = bases_.back();
    if (packing.fill)
      packing.fill(source, data, 0, packing.tasks);
    else
      std::memcpy(data, source, static_cast<size_t>(packing.bytes));
    return to;
  }
  Buffer table(std::span<const std::byte> bytes) override {
    const Buffer to = keep(static_cast<int64_t>(bytes.size()));
    if (to && !bytes.empty()) std::memcpy(bases_.back(), bytes.data(), bytes.size());
    return to;
  }
  void emit(std::string, int64_t tasks, StepFunction run, int64_t scratch_bytes, int64_t) override {
    if (tasks > 0) steps_.push_back({tasks, scratch_bytes, std::move(run)});
  }

  Status run() {
    int64_t scratch_bytes = 0;
    for (const HostStep& s : steps_) scratch_bytes = std::max(scratch_bytes, s.scratch_bytes);
    const std::shared_ptr<std::byte> scratch = allocate_aligned(static_cast<size_t>(scratch_bytes));
    if (no_memory_ || !scratch) return error("no memory");
    const Run run(bases_.data(), scratch.get());
    for (const HostStep& s : steps_)
      if (const char* problem = s.run(run.for_step(s.scratch_bytes), 0, s.tasks)) return error("{}", problem);
    return {};
  }

 private:
  struct HostStep {
    int64_t tasks, scratch_bytes;
    StepFunction run;
  };

  Buffer keep(int64_t bytes) {
    std::shared_ptr<std::byte> memory = bytes < 0 ? nullptr : allocate_aligned(static_cast<size_t>(bytes));
    if (!memory) {
      no_memory_ = true;
      return {};
    }
    const Buffer to = add(memory.get());
    memory_.push_back(std::move(memory));
    return to;
  }

  std::vector<std::byte*> bases_;
  std::vector<std::shared_ptr<std::byte>> memory_;
  std::vector<Buffer> inputs_, outputs_;
  std::vector<HostStep> steps_;
  bool no_memory_ = false;
};

/// Of nodes without bodies.
class PlainContext final : public EvaluateContext {
 public:
  using EvaluateContext::EvaluateContext;
  Result<std::vector<Tensor>> run_body(std::string_view name, std::vector<Tensor>) override {
    return error("has no body '{}'", name);
  }
};

/// Output shapes that follow from the inputs.
Result<std::vector<Dims>> output_shapes(const Node& node) {
  std::vector<Dims> shapes;
  for (const Value* v : node.outputs()) {
    const auto dims = v->type.shape.concrete();
    if (!dims) return error("an output's shape does not follow from the inputs");
    shapes.push_back(*dims);
  }
  return shapes;
}

}  // namespace

Result<std::vector<Tensor>> run_node(const Node& node, const std::vector<Tensor>& inputs) {
  Graph graph;
  std::vector<Value*> values;
  for (const Tensor& t : inputs) values.push_back(t.defined() ? graph.add_constant("x", t) : nullptr);
  Node* copy = graph.add_node(node.op(), node.name(), std::move(values), node.outputs().size(), node.attributes);
  SV_TRY(infer_types(*copy));
  if (runs_on_host(*copy)) {
    PlainContext context(*copy, inputs);
    return evaluate_on_host(context);
  }
  SV_ASSIGN(const std::vector<Dims> shapes, output_shapes(*copy));
  if (node.op().traits.is_view) return std::vector<Tensor>{inputs[0].reshaped(shapes[0])};

  HostLowering lowering(*copy);
  std::vector<MutableTensor> results;
  std::vector<Buffer> from, to;
  for (const Tensor& t : inputs) from.push_back(t.defined() ? lowering.add(t.raw()) : Buffer());
  for (size_t i = 0; i < shapes.size(); ++i) {
    SV_ASSIGN(MutableTensor t, Tensor::allocate(copy->output(i)->type.dtype, shapes[i]));
    to.push_back(lowering.add(t.raw()));
    results.push_back(std::move(t));
  }
  lowering.bind(std::move(from), std::move(to));
  SV_TRY(node.op().lower(lowering));
  SV_TRY(lowering.run());
  return std::vector<Tensor>(results.begin(), results.end());
}

}  // namespace svengine::ops
