// Lines of tensors through Fourier transforms.
#include <algorithm>
#include <cmath>

#include "engine/base/round.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/signal/fourier_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kFourierTogether = 8;                   // lines side by side
constexpr int64_t kMostFourierLength = int64_t{1} << 24;  // whose tables are 256 MiB

/// Transforms lines [first, last) of elements of type E.
template <class E>
class FourierRun {
 public:
  FourierRun(const FourierPlan& plan, const FourierLines& job, const Run& run, int64_t first, int64_t last)
      : plan_(plan),
        job_(job),
        first_(first),
        count_(last - first),
        n_(plan.length()),
        x_(run.get<const E>(job.in.buffer)),
        window_(run.get<const E>(job.window)),
        y_(run.get<E>(job.out.buffer)),
        re_(run.scratch<double>()),
        im_(re_ + n_ * count_) {}

  void operator()() {
    std::fill_n(re_, 2 * n_ * count_, 0.0);
    for (int64_t l = 0; l < count_; ++l) load(l);
    double* rest = im_ + n_ * count_;
    job_.inverse ? plan_.transform(im_, re_, count_, rest) : plan_.transform(re_, im_, count_, rest);
    for (int64_t l = 0; l < count_; ++l) store(l);
  }

 private:
  int64_t start(const FourierOperand& operand, int64_t l) const {
    const int64_t line = first_ + l;
    return line / job_.b * operand.stride_a + line % job_.b * operand.stride_b;
  }
  void load(int64_t l) {
    const E* x = x_ + start(job_.in, l);
    const int64_t most = job_.hermitian ? n_ / 2 + 1 : n_;
    for (int64_t k = 0; k < std::min(most, job_.in.count); ++k) {
      const E* from = x + k * job_.in.stride_k;
      const double factor = window_ ? static_cast<double>(window_[k]) : 1.0;
      const double r = static_cast<double>(from[0]) * factor,
                   i = job_.in.parts == 2 ? static_cast<double>(from[1]) * factor : 0.0;
      re_[k * count_ + l] = r, im_[k * count_ + l] = i;
      if (!job_.hermitian || k == 0 || 2 * k == n_) continue;
      re_[(n_ - k) * count_ + l] = r, im_[(n_ - k) * count_ + l] = -i;
    }
  }
  void store(int64_t l) {
    E* y = y_ + start(job_.out, l);
    const double scale = job_.inverse ? 1.0 / static_cast<double>(n_) : 1.0;
    for (int64_t k = 0; k < job_.out.count; ++k) {
      E* to = y + k * job_.out.stride_k;
      to[0] = static_cast<E>(re_[k * count_ + l] * scale);
      if (job_.out.parts == 2) to[1] = static_cast<E>(im_[k * count_ + l] * scale);
    }
  }

  const FourierPlan& plan_;
  const FourierLines& job_;
  int64_t first_, count_, n_;
  const E *x_, *window_;
  E* y_;
  double *re_, *im_;
};

template <class E>
void emit_lines(LowerContext& c, const char* name, std::shared_ptr<const FourierPlan> plan, const FourierLines& job) {
  const int64_t total = job.a * job.b, numbers = 2 * plan->length() * kFourierTogether + plan->scratch_numbers(kFourierTogether);
  c.emit(
      name, ceil_div(total, kFourierTogether),
      [=](const Run& run, int64_t begin, int64_t end) -> const char* {
        for (int64_t task = begin; task < end; ++task)
          FourierRun<E>(*plan, job, run, task * kFourierTogether, std::min(total, (task + 1) * kFourierTogether))();
        return nullptr;
      },
      numbers* static_cast<int64_t>(sizeof(double)));
}

double elements(const Value* v) { return stored_bytes(v->type) / static_cast<double>(size_of(v->type.dtype)); }

}  // namespace

Status emit_fourier(LowerContext& c, const char* name, int64_t n, const FourierLines& job) {
  if (job.a * job.b == 0 || job.out.count == 0) return {};
  if (n > kMostFourierLength) return unimplemented("a transform of length {}; at most {} is computed", n, kMostFourierLength);
  auto plan = std::make_shared<const FourierPlan>(n);
  if (job.type == DType::f64)
    emit_lines<double>(c, name, std::move(plan), job);
  else if (job.type != DType::f32)
    return unimplemented("is computed in float32 or float64, not in {}", name_of(job.type));
  else
    emit_lines<float>(c, name, std::move(plan), job);
  return {};
}

Cost fourier_cost(const Node& node) {
  Cost cost;
  for (const Value* v : node.inputs())
    if (v) cost.bytes += stored_bytes(v->type);
  cost.bytes += stored_bytes(node.output()->type);
  const Shape& y = node.output()->type.shape;
  double n = 2;
  if (y.has_rank() && y.rank() >= 2)
    if (const Dim& d = y[y.dims().size() - 2]; d.is_static()) n = std::max<double>(2, static_cast<double>(d.value()));
  cost.flops = elements(node.output()) / 2 * 5 * std::log2(n);
  return cost;
}

Result<std::optional<int64_t>> fourier_length(const InferContext& c, size_t slot) {
  SV_TRY(require_dtype(c, slot, kIndexTypes));
  SV_TRY(require_single(c, slot));
  const auto given = c.integers(slot);
  if (!given || given->empty()) return std::optional<int64_t>{};
  if (given->at(0) < 1 || given->at(0) > kMostFourierLength)
    return error("{} is {}, must be 1 ... {}", c.described(slot), given->at(0), kMostFourierLength);
  return std::optional<int64_t>(given->at(0));
}

}  // namespace svengine::ops
