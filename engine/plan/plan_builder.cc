#include "engine/plan/plan_builder.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "engine/plan/arena.h"

namespace svengine {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 52;  // of one piece of memory: 2^48 elements of any type, and some

/// There is nothing to compute: kernels need not know of empty results.
bool gives_nothing(const Node& node) {
  return std::all_of(node.outputs().begin(), node.outputs().end(), [](const Value* v) { return !v || stored_bytes(v->type) == 0; });
}

/// What a value is a view of, at last; itself where it is none.
const Value* viewed(const Value* value) {
  for (const Node* node = value->producer(); node && node->op().traits.is_view && node->input(0); node = value->producer())
    value = node->input(0);
  return value;
}

}  // namespace

/// LowerContext of one node: hands out the builder's slots and collects steps.
class NodeLowering final : public LowerContext {
 public:
  NodeLowering(const Node& node, PlanBuilder& builder) : LowerContext(node, builder.kernels_, builder.options_), builder_(builder) {}

  Buffer in(size_t i) override { return has_input(i) ? builder_.buffer_of(node_->input(i)) : Buffer{}; }
  Buffer out(size_t i) override {
    if (!has_output(i)) return {};
    written_.insert(i);
    return builder_.output_buffer(node_->output(i));
  }

  Buffer temporary(int64_t bytes) override {
    check_size(bytes, "temporary memory");
    Slot slot;
    slot.bytes = bytes;
    slot.name = node_->name() + " (temporary)";
    const int32_t id = builder_.add_slot(std::move(slot));
    temporaries_.push_back(id);
    return {id, 0};
  }

  Buffer packed(size_t i, Packing packing) override {
    const Tensor& tensor = node_->input(i)->constant();
    const int64_t bytes = packing.bytes;
    const std::string name = node_->input(i)->name() + ":" + packing.layout;
    std::shared_ptr<const std::byte> data = builder_.weights_.get(tensor, std::move(packing));
    if (!data) {
      status_ = error("no memory for {} bytes of packed weights", bytes);
      return {};
    }
    const std::byte* raw = data.get();
    return builder_.add_constant_slot(std::move(data), raw, bytes, name);
  }

  Buffer table(std::span<const std::byte> bytes) override {
    std::shared_ptr<std::byte> copy = allocate_aligned(bytes.size());
    if (!copy) {
      status_ = error("no memory for a table of {} bytes", bytes.size());
      return {};
    }
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    const std::byte* raw = copy.get();
    return builder_.add_constant_slot(std::move(copy), raw, static_cast<int64_t>(bytes.size()), node_->name() + ":table");
  }

  void emit(std::string kernel, int64_t tasks, StepFunction run, int64_t scratch_bytes, int64_t grain) override {
    if (tasks <= 0) return;
    check_size(scratch_bytes, "scratch memory");
    builder_.plan_->steps.push_back(
        {std::move(kernel), node_->name(), node_->op().name, tasks, grain, scratch_bytes, std::move(run), Cost{}});
  }

  Status finish(int32_t first_step) {
    SV_TRY(std::move(status_));
    for (size_t i = 0; i < node_->outputs().size(); ++i)
      if (!written_.contains(i) && is_read(node_->output(i)))
        return error("output {} is read, but no step writes it: a defect of this operator's lowering, please report it", i);
    const int32_t last = std::max(first_step, builder_.step_now() - 1);
    for (int32_t id : temporaries_) {
      builder_.plan_->slots[static_cast<size_t>(id)].first_step = first_step;
      builder_.plan_->slots[static_cast<size_t>(id)].last_step = last;
    }
    if (builder_.step_now() > first_step) builder_.plan_->steps.back().cost = cost_of(*node_);
    return {};
  }

 private:
  void check_size(int64_t bytes, const char* what) {
    if (bytes < 0 || bytes > kMostBytes) status_ = error("needs more {} than any machine has", what);
  }

  bool is_read(const Value* v) const {
    if (!v || stored_bytes(v->type) == 0) return false;
    const auto& outputs = builder_.outputs_;
    return !v->users().empty() || std::any_of(outputs.begin(), outputs.end(), [&](const auto& o) { return o.value == v; });
  }

  PlanBuilder& builder_;
  std::vector<int32_t> temporaries_;
  std::set<size_t> written_;  // outputs that lowering has asked for
  Status status_;
};

PlanBuilder::PlanBuilder(const kernels::KernelTable& kernels, WeightStore& weights, const LowerOptions& options)
    : kernels_(kernels), weights_(weights), options_(options), plan_(std::make_shared<Plan>()) {
  plan_->kernel_set = kernels.name;
}

int32_t PlanBuilder::add_slot(Slot slot) {
  slot.first_step = slot.last_step = step_now();
  plan_->slots.push_back(std::move(slot));
  return static_cast<int32_t>(plan_->slots.size() - 1);
}

void PlanBuilder::add_input(const Value& value) {
  Slot slot;
  slot.kind = SlotKind::input;
  slot.index = plan_->inputs.size();
  slot.name = value.name();
  plan_->inputs.push_back({value.name(), value.type.dtype, *value.type.shape.concrete()});
  buffers_[&value] = {add_slot(std::move(slot)), 0};
}

void PlanBuilder::add_output(const Value& value) {
  Slot slot;
  slot.kind = SlotKind::output;
  slot.index = plan_->outputs.size();
  slot.name = value.name();
  plan_->outputs.push_back({value.name(), value.type.dtype, *value.type.shape.concrete()});
  const int32_t id = add_slot(std::move(slot));
  const Value* written = viewed(&value);
  const bool in_place = written->producer() && !buffers_.count(written) && stored_bytes(written->type) == stored_bytes(value.type);
  if (in_place) buffers_[&value] = buffers_[written] = {id, 0};
  outputs_.push_back({&value, id, in_place});
}

Buffer PlanBuilder::add_constant_slot(std::shared_ptr<const void> owner, const std::byte* data, int64_t bytes, std::string name) {
  if (auto it = constants_.find(data); it != constants_.end() && plan_->slots[static_cast<size_t>(it->second.base)].bytes == bytes)
    return it->second;
  Slot slot;
  slot.kind = SlotKind::constant;
  slot.bytes = bytes;
  slot.constant = data;
  slot.name = std::move(name);
  plan_->constant_bytes += bytes;
  plan_->owners.push_back(std::move(owner));
  return constants_[data] = {add_slot(std::move(slot)), 0};
}

Buffer PlanBuilder::constant_buffer(const Tensor& tensor, const std::string& name) {
  if (tensor.is_aligned()) {
    return add_constant_slot(tensor.owner(), tensor.raw(), static_cast<int64_t>(tensor.byte_size()), name);
  }
  const auto bytes = static_cast<int64_t>(tensor.byte_size());
  std::shared_ptr<const std::byte> copy = weights_.get(tensor, {.layout = "aligned", .bytes = bytes});
  if (!copy) {
    status_ = error("no memory for an aligned copy of '{}' of {} bytes", name, bytes);
    return {};
  }
  const std::byte* raw = copy.get();
  return add_constant_slot(std::move(copy), raw, bytes, name);
}

Buffer PlanBuilder::buffer_of(const Value* value) {
  if (auto it = buffers_.find(value); it != buffers_.end()) return it->second;
  assert(value->is_constant());
  return buffers_[value] = constant_buffer(value->constant(), value->name());
}

Buffer PlanBuilder::output_buffer(const Value* value) {
  if (auto it = buffers_.find(value); it != buffers_.end()) return it->second;
  Slot slot;
  slot.bytes = static_cast<int64_t>(stored_bytes(value->type));
  slot.name = value->name();
  return buffers_[value] = {add_slot(std::move(slot)), 0};
}

bool PlanBuilder::try_overwrite(const Node& node) {
  const Value *in = node.input(0), *out = node.output();
  if (!node.op().traits.may_overwrite || buffers_.count(out) || !in || in->is_constant()) return false;
  if (in->type.block != out->type.block || stored_bytes(in->type) != stored_bytes(out->type)) return false;
  const Buffer source = buffers_.at(in);
  if (plan_->slots[static_cast<size_t>(source.base)].kind != SlotKind::arena) return false;
  size_t uses_here = 0;
  for (const Value* v : node.inputs()) {
    if (!v || v->is_constant() || buffers_.at(v).base != source.base) continue;
    if (!(v->type == in->type)) return false;  // read in another order than it is overwritten
    ++uses_here;
  }
  if (slot_readers_[source.base] != uses_here || (node.op().traits.reads_others_late && uses_here > 1)) return false;
  buffers_[out] = source;
  return true;
}

void PlanBuilder::alias_outputs(const Node& node) {
  const Value *in = node.input(0), *out = node.output();
  if (node.op().traits.is_view && in && out && !buffers_.count(out)) buffers_[out] = buffer_of(in);
  else try_overwrite(node);
  for (const Value* v : node.outputs()) {
    if (!v) continue;
    const Buffer b = output_buffer(v);
    Slot& slot = plan_->slots[static_cast<size_t>(b.base)];
    slot.first_step = std::min(slot.first_step, step_now());
    slot_readers_[b.base] += v->users().size();
    for (const PendingOutput& o : outputs_)  // copied out at the end: one more reader
      if (o.value == v && !o.written) ++slot_readers_[b.base];
  }
}

/// Inference may have known the result's shape without the input that decides it, and the operand's own not at all.
Status check_view(const Node& node) {
  const Value *in = node.input(0), *out = node.output();
  if (!node.op().traits.is_view || !in || !out || is_handle(in->type.dtype)) return {};
  const std::optional<Dims> from = in->type.shape.concrete(), to = out->type.shape.concrete();
  if (from && to && element_count(*from) == element_count(*to)) return {};
  return error("{}: {} cannot have the elements of {}", describe(node), to_string(out->type.shape), to_string(in->type.shape));
}

Status PlanBuilder::lower(const Node& node) {
  const int32_t first_step = step_now();
  for (const Value* v : node.outputs())
    if (v && !is_handle(v->type.dtype) && !v->type.shape.is_static())
      return error("{}: its result is {}: the shape must be known where memory is planned", describe(node), to_string(v->type));
  SV_TRY(check_view(node));
  if (node.op().traits.is_view && node.input(0)) buffer_of(node.input(0));
  if (!status_.ok()) return std::move(status_).error().in(describe(node));
  alias_outputs(node);
  for (const Value* v : node.inputs())
    if (v && is_handle(v->type.dtype)) return unimplemented("{}: nothing computes it on values of type {}", describe(node), name_of(v->type.dtype));
  if (!types_to_widen(node).empty())
    return error("{}: its kernels do not compute its inputs' types, and pass widen_types has not run", describe(node));
  const bool is_empty = gives_nothing(node);
  const auto lower = is_empty ? node.op().check_values : node.op().lower;
  if (!node.op().traits.is_view && (lower || !is_empty)) {
    if (!lower) return error("{}: cannot be part of a plan", describe(node));
    NodeLowering context(node, *this);
    Status status = lower(context);
    if (status.ok()) status = context.finish(first_step);
    if (status.ok()) status = std::move(status_);
    if (!status.ok()) return std::move(status).error().in(describe(node));
  }
  const int32_t last = std::max(first_step, step_now() - 1);
  const auto extend = [&](const Value* v) {
    if (auto it = buffers_.find(v); it != buffers_.end()) {
      Slot& slot = plan_->slots[static_cast<size_t>(it->second.base)];
      slot.last_step = std::max(slot.last_step, last);
    }
  };
  for (const Value* v : node.inputs()) {
    if (!v) continue;
    extend(v);
    if (auto it = buffers_.find(v); it != buffers_.end() && slot_readers_[it->second.base] > 0) --slot_readers_[it->second.base];
  }
  for (const Value* v : node.outputs())
    if (v) extend(v);
  return {};
}

Result<std::shared_ptr<const Plan>> PlanBuilder::finish() {
  for (const PendingOutput& o : outputs_) {
    if (o.written) continue;
    const Buffer from = buffer_of(o.value), to{o.slot, 0};
    SV_TRY(std::move(status_));
    const auto bytes = static_cast<int64_t>(stored_bytes(o.value->type));
    Slot& source = plan_->slots[static_cast<size_t>(from.base)];
    source.last_step = std::max(source.last_step, step_now());
    plan_->steps.push_back({"copy", o.value->name(), "Output", 1, 1, 0,
                            [=](const Run& run, int64_t, int64_t) -> const char* {
                              std::memcpy(run.get<std::byte>(to), run.get<std::byte>(from), static_cast<size_t>(bytes));
                              return nullptr;
                            },
                            Cost{0, 2.0 * static_cast<double>(bytes)}});
  }
  SV_TRY(std::move(status_));
  for (const Step& s : plan_->steps) plan_->scratch_bytes = std::max(plan_->scratch_bytes, s.scratch_bytes);
  plan_->scratch_bytes = round_up(plan_->scratch_bytes, kCacheLine);
  double all_bytes = 0;
  for (const Slot& s : plan_->slots) all_bytes += static_cast<double>(s.bytes);
  if (all_bytes > 0x1p60) return error("the network needs {:.3g} bytes of memory, more than any machine has", all_bytes);
  plan_->arena_bytes = assign_arena_offsets(plan_->slots);
  return std::shared_ptr<const Plan>(plan_);
}

}  // namespace svengine
