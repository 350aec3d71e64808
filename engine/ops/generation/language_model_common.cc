#include "engine/ops/generation/language_model_common.h"

#include <cstring>
#include <numeric>
#include <span>

#include "engine/ops/host_tensor.h"

namespace svengine::ops {

GenerationBody::GenerationBody(EvaluateContext& c, const char* name) : context_(c), name_(name) {
  const Subgraph* body = c.attributes().get<Subgraph>(name);
  if (!body || !*body) return;
  graph_ = body->get();
  inputs_ = graph_->inputs().size() - captured_count(c.attributes());
}

size_t GenerationBody::find(std::string_view input) const {
  size_t i = 0;
  while (i < inputs_ && graph_->inputs()[i]->name() != input) ++i;
  return i;
}

Status GenerationBody::add_cache_inputs(const GenerationSettings& s, int64_t used, std::vector<Tensor>& inputs) const {
  const auto add = [&](const char* name, Dims dims, const std::vector<int32_t>& values) -> Status {
    if (!has(name)) return {};
    SV_ASSIGN(Tensor input, integers(find(name), std::move(dims), values));
    inputs.push_back(std::move(input));
    return {};
  };
  SV_TRY(add("past_sequence_length", {1}, {static_cast<int32_t>(used)}));
  SV_TRY(add("beam_width", {1}, {static_cast<int32_t>(s.beams)}));
  if (!has("cache_indirection")) return {};
  std::vector<int32_t> own;
  for (int64_t i = 0; i < s.batch * s.beams; ++i) own.insert(own.end(), static_cast<size_t>(s.max_length), static_cast<int32_t>(i % s.beams));
  return add("cache_indirection", {s.batch, s.beams, s.max_length}, own);
}

Result<Tensor> GenerationBody::integers(size_t input, Dims dims, const std::vector<int32_t>& values) const {
  if (input >= inputs_) return error("body '{}' has {} inputs, needs one more", name_, inputs_);
  const DType type = input_type(input).dtype;
  if (type == DType::i32) return Tensor::of<int32_t>(std::move(dims), std::span<const int32_t>(values));
  if (type != DType::i64)
    return error("input '{}' of body '{}' is {}, needs int32 or int64", graph_->inputs()[input]->name(), name_, name_of(type));
  const std::vector<int64_t> wide(values.begin(), values.end());
  return Tensor::of<int64_t>(std::move(dims), std::span<const int64_t>(wide));
}

Result<std::vector<Tensor>> GenerationBody::run(std::vector<Tensor> inputs) const {
  if (inputs.size() != inputs_) return error("body '{}' has {} inputs, but its model gives it {}", name_, inputs_, inputs.size());
  const std::vector<Tensor> captured = captured_inputs(context_);
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  return context_.run_body(name_, std::move(inputs));
}

Result<Tensor> gathered(const Tensor& t, size_t axis, const std::vector<int32_t>& parents) {
  if (t.dims().size() <= axis || t.dims()[axis] != static_cast<int64_t>(parents.size()))
    return error("a cache is {}, needs {} sequences in dimension {}", to_string(t.dims()), parents.size(), axis);
  std::vector<int32_t> same(parents.size());
  std::iota(same.begin(), same.end(), 0);
  if (parents == same) return t;
  SV_ASSIGN(MutableTensor out, Tensor::allocate(t.type(), t.dims()));
  const auto outer = static_cast<size_t>(element_count(std::span(t.dims()).first(axis)));
  const size_t row = static_cast<size_t>(element_count(std::span(t.dims()).subspan(axis + 1))) * size_of(t.type()), rows = parents.size();
  for (size_t o = 0; row > 0 && o < outer; ++o)
    for (size_t i = 0; i < rows; ++i)
      std::memcpy(out.raw() + (o * rows + i) * row, t.raw() + (o * rows + static_cast<size_t>(parents[i])) * row, row);
  return Tensor(out);
}

Result<Tensor> repeated(const Tensor& t, int64_t times) {
  if (times == 1) return t;
  Dims dims = t.dims();
  if (dims.empty()) return error("a tensor without dimensions has no rows");
  const auto rows = static_cast<size_t>(dims[0]);
  dims[0] *= times;
  SV_ASSIGN(MutableTensor out, Tensor::allocate(t.type(), std::move(dims)));
  const size_t row = rows == 0 ? 0 : t.byte_size() / rows;
  std::byte* to = out.raw();
  for (size_t i = 0; row > 0 && i < rows; ++i)
    for (int64_t k = 0; k < times; ++k, to += row) std::memcpy(to, t.raw() + i * row, row);
  return Tensor(out);
}

Result<Tensor> zeros(DType type, Dims dims) {
  SV_ASSIGN(MutableTensor out, Tensor::allocate(type, std::move(dims)));
  std::fill_n(out.raw(), out.byte_size(), std::byte{0});
  return Tensor(out);
}

Result<Tensor> extended(const Tensor& t, size_t axis, int64_t size) {
  Dims dims = t.dims();
  if (dims.size() <= axis || dims[axis] > size)
    return error("a cache is {}, needs at most {} positions in dimension {}", to_string(dims), size, axis);
  dims[axis] = size - dims[axis];
  SV_ASSIGN(Tensor rest, zeros(t.type(), std::move(dims)));
  const std::vector<Tensor> parts{t, std::move(rest)};
  return joined(parts, axis);
}

std::vector<int32_t> last_tokens(const Sequences& sequences) {
  std::vector<int32_t> out;
  for (const std::vector<int32_t>& sequence : sequences) out.push_back(sequence.back());
  return out;
}

std::vector<int32_t> all_tokens(const Sequences& sequences) {
  std::vector<int32_t> out;
  for (const std::vector<int32_t>& sequence : sequences) out.insert(out.end(), sequence.begin(), sequence.end());
  return out;
}

Result<std::unique_ptr<LanguageModel>> language_model(EvaluateContext& c, const GenerationSettings& s) {
  return s.model == ModelType::decoder_only ? decoder_only_model(c, s) : encoder_decoder_model(c, s);
}

}  // namespace svengine::ops
