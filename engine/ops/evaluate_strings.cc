#include "engine/ops/evaluate_strings.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "engine/graph/op_def.h"
#include "engine/ops/host_tensor.h"
#include "engine/ops/run_node.h"

namespace svengine::ops {
namespace {

bool is_strings(const EvaluateContext& c, size_t i) { return c.has_input(i) && c.input(i).type() == DType::string; }

/// A node's inputs with int64 numbers in place of strings, and what the numbers stand for.
class NumberedStrings {
 public:
  explicit NumberedStrings(const EvaluateContext& c) : c_(c) {
    for (size_t i = 0; i < c.input_count(); ++i) inputs_.push_back(c.has_input(i) ? c.input(i) : Tensor());
  }

  /// Only the shapes count. The numbers are whatever the strings' memory holds, which is longer.
  void by_shape() {
    for (Tensor& t : inputs_)
      if (t.type() == DType::string) t = Tensor::wrap(DType::i64, t.dims(), t.raw(), t.owner());
  }

  /// A string's number is its place among all that the node reads.
  Status by_place() {
    return number([this](const std::string& s) {
      texts_.push_back(s);
      return static_cast<int64_t>(texts_.size()) - 1;
    });
  }

  /// Equal strings have equal numbers, and numbers the order of their strings.
  Status by_rank() {
    std::unordered_map<std::string_view, int64_t> ranks{{std::string_view(), 0}};
    for (const Tensor& t : inputs_)
      if (t.type() == DType::string)
        for (const std::string& s : t.strings()) ranks.emplace(s, 0);
    texts_.clear();
    for (const auto& [text, rank] : ranks) texts_.push_back(text);
    std::sort(texts_.begin(), texts_.end());
    for (size_t i = 0; i < texts_.size(); ++i) ranks[texts_[i]] = static_cast<int64_t>(i);
    return number([&](const std::string& s) { return ranks.find(s)->second; });
  }

  const std::vector<Tensor>& inputs() const { return inputs_; }

  Tensor decode(const Tensor& numbers) const {
    std::vector<std::string> out;
    out.reserve(static_cast<size_t>(numbers.count()));
    for (const int64_t i : numbers.data<int64_t>()) out.emplace_back(texts_[static_cast<size_t>(i)]);
    return Tensor::of_strings(numbers.dims(), std::move(out));
  }

 private:
  template <class NumberOf>
  Status number(NumberOf number_of) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!is_strings(c_, i)) continue;
      SV_ASSIGN(MutableTensor numbers, Tensor::allocate(DType::i64, c_.input(i).dims()));
      const std::span<const std::string> from = c_.input(i).strings();
      std::transform(from.begin(), from.end(), numbers.data<int64_t>().begin(), number_of);
      inputs_[i] = std::move(numbers);
    }
    return {};
  }

  const EvaluateContext& c_;
  std::vector<Tensor> inputs_;
  std::vector<std::string_view> texts_{std::string_view()};  // by number; what fills with zero fills with ""
};

}  // namespace

Status evaluate_strings(EvaluateContext& c) {
  NumberedStrings strings(c);
  const OpTraits& traits = c.node().op().traits;
  if (traits.is_view || traits.value_of_types) {
    strings.by_shape();
  } else if (traits.moves_elements && traits.moves_elements(c.node())) {
    SV_TRY(strings.by_place());
  } else {
    SV_TRY(strings.by_rank());
  }
  SV_ASSIGN(const std::vector<Tensor> outputs, run_node(c.node(), strings.inputs()));
  if (traits.is_view) {
    c.set(0, c.input(0).reshaped(outputs[0].dims()));
    return {};
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!c.has_output(i)) continue;
    const bool is_string = c.node().output(i)->type.dtype == DType::string;
    if (is_string) SV_TRY(check_room_for_strings(outputs[i].dims()));
    c.set(i, is_string ? strings.decode(outputs[i]) : outputs[i]);
  }
  return {};
}

}  // namespace svengine::ops
