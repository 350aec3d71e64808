// com.microsoft.GreedySearch: text by the likeliest token, again and again. Sampling: by one of the likely tokens, drawn.
#include <algorithm>

#include "engine/ops/generation/generation_samples_common.h"
#include "engine/ops/generation/language_model_common.h"
#include "engine/ops/generation/logits_processor_common.h"
#include "engine/ops/generation/token_sampler_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kGreedyTokenRules = 3, kPresenceMask = 7, kSeed = 8;

Status infer_tokens(InferContext& c, size_t most_inputs) {
  SV_TRY(check_generation(c, most_inputs));
  const size_t own = own_input_count(c);
  SV_TRY(check_token_rules(c, kGreedyTokenRules));
  if (own > kPresenceMask) {
    SV_TRY(require_dtype(c, kPresenceMask, {DType::i32}));
    SV_TRY(require_rank(c, kPresenceMask, 2));
  }
  if (own > kSeed) SV_TRY(require_one_int(c, kSeed));
  const Dim batch = c.shape(0).has_rank() ? c.shape(0)[0] : Dim();
  c.set(0, DType::i32, Shape{batch, known_length(c, 1)});
  return {};
}

Status infer_greedy(InferContext& c) { return infer_tokens(c, kPresenceMask); }

Status infer_sampling(InferContext& c) {
  SV_TRY(infer_tokens(c, kSeed + 1));
  if (c.attributes().get_int("min_tokens_to_keep", 0) < 0)
    return error("min_tokens_to_keep is {}, must not be negative", c.attributes().get_int("min_tokens_to_keep", 0));
  c.set(1, DType::f32, Shape{c.shape(0).has_rank() ? c.shape(0)[0] : Dim(), Dim()});
  return {};
}

/// `choose` takes the scores that have been processed, and gives a token for each sequence.
template <class Choose>
Status generate(EvaluateContext& c, GenerationSettings& s, const Choose& choose) {
  SV_TRY(check_room_for_sequences(s));
  SV_ASSIGN(MutableTensor out, padded_sequences(s, {s.batch, s.max_length}));
  SV_ASSIGN(const std::unique_ptr<LanguageModel> model, language_model(c, s));
  SV_ASSIGN(Sequences sequences, model->prompts());
  const auto most = static_cast<size_t>(s.max_length), begin = sequences[0].size();
  SV_TRY(check_prompts(s, sequences));
  std::vector<int32_t> parents(sequences.size());
  for (size_t i = 0; i < parents.size(); ++i) parents[i] = static_cast<int32_t>(i);
  std::vector<bool> ended(sequences.size());
  while (sequences[0].size() < most) {
    const bool first = sequences[0].size() == begin;
    Result<Tensor> logits = first ? model->first_logits() : model->next_logits(sequences, parents);
    if (!logits.ok()) return std::move(logits).error().in(fmt::format("token {}", sequences[0].size()));
    SV_ASSIGN(MutableTensor scores, last_logits(*logits, s));
    SV_TRY(process_scores(s, sequences, first, scores));
    const std::vector<int32_t> tokens = choose(scores);
    for (size_t i = 0; i < tokens.size(); ++i) {
      ended[i] = ended[i] || tokens[i] == s.end_token;
      sequences[i].push_back(ended[i] ? s.pad_token : tokens[i]);
    }
    if (std::find(ended.begin(), ended.end(), false) == ended.end()) break;
  }
  for (size_t i = 0; i < sequences.size(); ++i)
    std::copy(sequences[i].begin(), sequences[i].end(), out.data<int32_t>().begin() + static_cast<std::ptrdiff_t>(i * most));
  c.set(0, Tensor(out));
  return {};
}

std::vector<int32_t> likeliest(const MutableTensor& scores) {
  const auto width = static_cast<size_t>(scores.dims()[1]);
  std::vector<int32_t> out;
  for (size_t i = 0; i < static_cast<size_t>(scores.dims()[0]); ++i) {
    const auto row = scores.Tensor::data<float>().subspan(i * width, width);
    out.push_back(static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  return out;
}

Status evaluate_greedy(EvaluateContext& c) {
  SV_ASSIGN(GenerationSettings s, generation_settings(c, kGreedyTokenRules));
  return generate(c, s, likeliest);
}

Status evaluate_sampling(EvaluateContext& c) {
  SV_ASSIGN(GenerationSettings s, generation_settings(c, kGreedyTokenRules));
  s.temperature = c.attributes().get_float("temperature", 1);
  s.presence_penalty = c.attributes().get_float("presence_penalty", 0);
  s.presence_mask = optional_input(c, kPresenceMask);
  SV_ASSIGN(const int64_t seed, int_of(c, kSeed, "seed", 0));
  TokenSampler sampler({.top_p = c.attributes().get_float("top_p", 0),
                        .filter_value = c.attributes().get_float("filter_value", TokenSampler::kFilterValue),
                        .min_tokens = static_cast<size_t>(c.attributes().get_int("min_tokens_to_keep", 0)),
                        .is_descending = c.attributes().get_int("custom", 0) != 0},
                       static_cast<uint32_t>(seed));
  Tensor last;
  SV_TRY(generate(c, s, [&](MutableTensor& scores) {
    std::vector<int32_t> tokens = sampler.draw(scores);
    last = scores;
    return tokens;
  }));
  c.set(1, std::move(last));
  return {};
}

}  // namespace

OpDef define_microsoft_greedy_search() {
  return {
      .name = "GreedySearch",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input_ids, max_length, min_length?, repetition_penalty?, vocab_mask?, prefix_vocab_mask?, attention_mask?, captured?...",
      .attributes = generation_attributes(),
      .infer = infer_greedy,
      .evaluate = evaluate_greedy,
      .cost = cost_of_generation,
      .samples = "(int32[2, 3] 1 to 5, int32[] 6 to 7) " + decoder_only_sample() +
                 "(int32[1, 2] 1 to 5, int32[1] 4 to 4, int32[] 0 to 3, float32[] 1 to 2, int32[6] 0 to 1, -, int32[1, 2] 0 to 1) " +
                 decoder_only_sample(),
  };
}

OpDef define_microsoft_sampling() {
  std::vector<AttributeDef> attributes = generation_attributes();
  attributes.insert(attributes.end(), {{"temperature", AttributeKind::kFloat, false, 1.0f},
                                       {"top_p", AttributeKind::kFloat, false, 0.0f},
                                       {"filter_value", AttributeKind::kFloat, false, TokenSampler::kFilterValue},
                                       {"min_tokens_to_keep", AttributeKind::kInt, false, 0},
                                       {"presence_penalty", AttributeKind::kFloat, false, 0.0f},
                                       {"custom", AttributeKind::kInt, false, 0}});
  return {
      .name = "Sampling",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input_ids, max_length, min_length?, repetition_penalty?, vocab_mask?, prefix_vocab_mask?, attention_mask?, presence_mask?, "
                "seed?, captured?...",
      .outputs = {1, 2},
      .attributes = std::move(attributes),
      .infer = infer_sampling,
      .evaluate = evaluate_sampling,
      .cost = cost_of_generation,
      .samples = "(int32[2, 3] 1 to 5, int32[] 6 to 7) " + decoder_only_sample("top_p = 0.5, temperature = 0.5") +
                 "(int32[2, 1] 1 to 5, int32[] 4 to 4, -, -, -, int32[2, 6] 0 to 1, -, int32[2, 6] 0 to 3, int32[] 0 to 9) " +
                 decoder_only_sample("custom = 1, presence_penalty = 0.25") + " 2",
  };
}

}  // namespace svengine::ops
