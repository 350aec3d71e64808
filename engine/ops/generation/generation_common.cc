#include "engine/ops/generation/generation_common.h"

#include <limits>

#include "engine/base/limits.h"

namespace svengine::ops {
namespace {

constexpr size_t kMostSequences = size_t{1} << 20;

Result<ModelType> model_type(const Attributes& attributes, ModelType otherwise) {
  const int64_t type = attributes.get_int("model_type", static_cast<int64_t>(otherwise));
  if (type < 0 || type > 2) return error("model_type is {}, must be 0 (decoder only), 1 (encoder and decoder) or 2 (speech)", type);
  return static_cast<ModelType>(type);
}

Result<int32_t> token_attribute(const Attributes& attributes, const char* name, bool required) {
  const int64_t token = attributes.get_int(name, -1);
  if (token < (required ? 0 : -1) || token > std::numeric_limits<int32_t>::max()) return error("{} is {}, must be a token", name, token);
  return static_cast<int32_t>(token);
}

template <class T>
Status status_of(Result<T> result) {
  return result.ok() ? Status() : Status(std::move(result).error());
}

Status check_body(const InferContext& c, const char* name, bool required) {
  const Subgraph* body = c.attributes().get<Subgraph>(name);
  if (!body || !*body) return required ? Status(error("has no body '{}', which this model_type needs", name)) : Status();
  const size_t captured = captured_count(c.attributes());
  if ((*body)->inputs().size() < captured) return error("body '{}' has {} inputs, fewer than it captures", name, (*body)->inputs().size());
  return status_of(checked_body(c, name, (*body)->inputs().size() - captured, 1));
}

}  // namespace

std::vector<AttributeDef> generation_attributes() {
  return {{"decoder", AttributeKind::kGraph, true},
          {"encoder", AttributeKind::kGraph},
          {"init_decoder", AttributeKind::kGraph},
          {"model_type", AttributeKind::kInt, false, 0},
          {"eos_token_id", AttributeKind::kInt, true},
          {"pad_token_id", AttributeKind::kInt, true},
          {"decoder_start_token_id", AttributeKind::kInt, false, -1},
          {"no_repeat_ngram_size", AttributeKind::kInt, false, 0},
          {"vocab_size", AttributeKind::kInt, false, -1},
          internal_attribute(kCaptured, AttributeKind::kInt)};
}

Status check_token_rules(const InferContext& c, size_t first) {
  const size_t own = own_input_count(c);
  if (own > first) SV_TRY(require_one_real(c, first));
  for (size_t i = first + 1; i < std::min(first + 4, own); ++i) {  // vocab_mask, prefix_vocab_mask, attention_mask
    SV_TRY(require_dtype(c, i, {DType::i32}));
    SV_TRY(require_rank(c, i, i == first + 1 ? 1 : 2));
  }
  return {};
}

Status require_one_int(const InferContext& c, size_t input) {
  SV_TRY(require_dtype(c, input, {DType::i32}));
  return require_single(c, input);
}

Status require_one_real(const InferContext& c, size_t input) {
  SV_TRY(require_dtype(c, input, {DType::f32}));
  return require_single(c, input);
}

Dim known_length(const InferContext& c, size_t input) {
  if (input >= c.input_count() || !c.has_input(input)) return {};
  const std::optional<std::vector<int64_t>> known = c.integers(input);
  return known && known->size() == 1 && known->front() >= 0 ? Dim(known->front()) : Dim();
}

Status check_generation(const InferContext& c, size_t most_inputs, ModelType otherwise) {
  if (own_input_count(c) > most_inputs) return error("has {} inputs of its own, takes at most {}", own_input_count(c), most_inputs);
  SV_ASSIGN(const ModelType model, model_type(c.attributes(), otherwise));
  SV_TRY(status_of(token_attribute(c.attributes(), "eos_token_id", true)));
  SV_TRY(status_of(token_attribute(c.attributes(), "pad_token_id", true)));
  SV_TRY(status_of(token_attribute(c.attributes(), "decoder_start_token_id", false)));
  if (const int64_t n = c.attributes().get_int("no_repeat_ngram_size", 0); n < 0) return error("no_repeat_ngram_size is {}, must not be negative", n);
  SV_TRY(check_body(c, "decoder", true));
  SV_TRY(check_body(c, "encoder", model != ModelType::decoder_only));
  SV_TRY(check_body(c, "init_decoder", false));
  if (own_input_count(c) < 2) return error("has {} inputs of its own, needs prompts and max_length", own_input_count(c));
  const bool speech = model == ModelType::speech;
  SV_TRY(require_dtype(c, 0, speech ? DTypeSet{DType::f32, DType::f16} : DTypeSet{DType::i32}));
  SV_TRY(require_rank(c, 0, speech ? 3 : 2));
  SV_TRY(require_one_int(c, 1));
  return own_input_count(c) > 2 ? require_one_int(c, 2) : Status();
}

Tensor optional_input(const EvaluateContext& c, size_t input) {
  return input < own_input_count(c) && c.has_input(input) ? c.input(input) : Tensor();
}

Result<int64_t> int_of(const EvaluateContext& c, size_t input, const char* what, int64_t otherwise) {
  const Tensor given = optional_input(c, input);
  if (!given.defined()) return otherwise;
  if (given.count() != 1) return error("{} has {} elements, needs one", what, given.count());
  return int64_t{given.data<int32_t>()[0]};
}

Result<float> real_of(const EvaluateContext& c, size_t input, const char* what, float otherwise) {
  const Tensor given = optional_input(c, input);
  if (!given.defined()) return otherwise;
  if (given.count() != 1) return error("{} has {} elements, needs one", what, given.count());
  return given.data<float>()[0];
}

Result<GenerationSettings> generation_settings(const EvaluateContext& c, size_t token_rules, ModelType otherwise) {
  GenerationSettings s;
  SV_ASSIGN(s.model, model_type(c.attributes(), otherwise));
  s.batch = c.input(0).dims().at(0);
  if (s.batch < 1) return error("there are no prompts");
  SV_ASSIGN(s.max_length, int_of(c, 1, "max_length", kMostTokens));
  if (s.max_length < 1 || s.max_length > kMostTokens) return error("max_length is {}, must be from 1 to {}", s.max_length, kMostTokens);
  SV_ASSIGN(s.min_length, int_of(c, 2, "min_length", 0));
  if (s.min_length >= s.max_length) return error("min_length is {}, must be less than max_length, {}", s.min_length, s.max_length);
  SV_ASSIGN(s.end_token, token_attribute(c.attributes(), "eos_token_id", true));
  SV_ASSIGN(s.pad_token, token_attribute(c.attributes(), "pad_token_id", true));
  SV_ASSIGN(s.start_token, token_attribute(c.attributes(), "decoder_start_token_id", false));
  s.ngram_size = c.attributes().get_int("no_repeat_ngram_size", 0);
  s.vocabulary = std::max<int64_t>(c.attributes().get_int("vocab_size", -1), 0);
  SV_ASSIGN(s.repetition_penalty, real_of(c, token_rules, "repetition_penalty", 1));
  if (!(s.repetition_penalty > 0)) return error("repetition_penalty is {}, must be positive", s.repetition_penalty);
  s.vocabulary_mask = optional_input(c, token_rules + 1);
  s.first_mask = optional_input(c, token_rules + 2);
  s.attention_mask = optional_input(c, token_rules + 3);
  return s;
}

Sequences rows_of(const Tensor& tokens) {
  const auto length = static_cast<size_t>(tokens.dims()[1]);
  Sequences out;
  for (size_t i = 0; i < static_cast<size_t>(tokens.dims()[0]); ++i) {
    const auto row = tokens.data<int32_t>().subspan(i * length, length);
    out.emplace_back(row.begin(), row.end());
  }
  return out;
}

Status check_prompts(const GenerationSettings& s, const Sequences& prompts) {
  if (prompts[0].size() < static_cast<size_t>(s.max_length)) return {};
  return error("max_length is {}, but the prompts have {} tokens already", s.max_length, prompts[0].size());
}

Cost cost_of_generation(const Node& node) {
  const Value* most = node.input(1);
  const bool known = most && most->is_constant() && most->constant().count() == 1;
  const double steps = known ? std::max<double>(1, static_cast<double>(most->constant().as_int64s().front())) : 1;
  const Cost once = cost_of_body(node, "encoder"), each = cost_of_body(node, "decoder");
  return {once.flops + steps * each.flops, once.bytes + steps * each.bytes};
}

Status check_room_for_sequences(const GenerationSettings& s) {
  SV_TRY(check_dims(Dims{s.batch, s.beams, s.max_length}));
  const auto rows = static_cast<size_t>(s.batch * s.beams);
  if (rows > kMostSequences) return unimplemented("{} sequences at once are more than the {} that are supported", rows, kMostSequences);
  const size_t bytes = rows * (sizeof(std::vector<int32_t>) + static_cast<size_t>(s.max_length) * sizeof(int32_t));
  if (!take_memory(bytes)) return error("no memory for {} sequences of {} tokens{}", rows, s.max_length, memory_limit_text(bytes));
  give_back_memory(bytes);
  return {};
}

Result<MutableTensor> padded_sequences(const GenerationSettings& s, Dims dims) {
  SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::i32, std::move(dims)));
  std::fill_n(out.data<int32_t>().begin(), out.count(), s.pad_token);
  return out;
}

}  // namespace svengine::ops
