#include "engine/ops/evaluate_strings.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "engine/graph/op_def.h"
#include "engine/ops/host_tensor.h"
#include "engine/ops/run_node.h"

namespace svengine::ops {
namespace {

/// The different strings of all inputs, in order, and the place of each.
class StringRanks {
 public:
  explicit StringRanks(const EvaluateContext& c) {
    sorted_.emplace_back();
    for (size_t i = 0; i < c.input_count(); ++i)
      if (c.has_input(i) && c.input(i).type() == DType::string)
        for (const std::string& s : c.input(i).strings()) sorted_.push_back(s);
    std::sort(sorted_.begin(), sorted_.end());
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
    for (size_t i = 0; i < sorted_.size(); ++i) rank_.emplace(sorted_[i], static_cast<int64_t>(i));
  }

  Result<Tensor> encode(const Tensor& strings) const {
    SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::i64, strings.dims()));
    const std::span<const std::string> from = strings.strings();
    for (size_t i = 0; i < from.size(); ++i) out.data<int64_t>()[i] = rank_.at(from[i]);
    return Result<Tensor>(std::move(out));
  }
  Tensor decode(const Tensor& ranks) const {
    std::vector<std::string> out;
    out.reserve(static_cast<size_t>(ranks.count()));
    for (const int64_t rank : ranks.data<int64_t>()) out.emplace_back(sorted_[static_cast<size_t>(rank)]);
    return Tensor::of_strings(ranks.dims(), std::move(out));
  }

 private:
  std::vector<std::string_view> sorted_;
  std::unordered_map<std::string_view, int64_t> rank_;
};

}  // namespace

Status evaluate_strings(EvaluateContext& c) {
  const StringRanks ranks(c);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < c.input_count(); ++i) {
    const bool is_string = c.has_input(i) && c.input(i).type() == DType::string;
    inputs.push_back(c.has_input(i) ? c.input(i) : Tensor());
    if (!is_string) continue;
    SV_ASSIGN(inputs.back(), ranks.encode(c.input(i)));
  }
  SV_ASSIGN(const std::vector<Tensor> outputs, run_node(c.node(), inputs));
  if (c.node().op().traits.is_view) {
    c.set(0, c.input(0).reshaped(outputs[0].dims()));
    return {};
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!c.has_output(i)) continue;
    const bool is_string = c.node().output(i)->type.dtype == DType::string;
    if (is_string) SV_TRY(check_room_for_strings(outputs[i].dims()));
    c.set(i, is_string ? ranks.decode(outputs[i]) : outputs[i]);
  }
  return {};
}

}  // namespace svengine::ops
