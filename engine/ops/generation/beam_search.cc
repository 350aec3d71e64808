// com.microsoft.BeamSearch: the likeliest texts that a language model goes on with, several followed at once. WhisperBeamSearch: of speech.
#include <algorithm>
#include <cmath>

#include "engine/ops/generation/beam_scorer_common.h"
#include "engine/ops/generation/generation_samples_common.h"
#include "engine/ops/generation/language_model_common.h"
#include "engine/ops/generation/logits_processor_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kBeamTokenRules = 6, kDecoderPrompt = 10, kLogitsProcessor = 11, kTemperature = 14;
constexpr size_t kCrossProducts = 3, kNoSpeech = 4;  // outputs of WhisperBeamSearch

Status infer_beams(InferContext& c, size_t most_inputs, ModelType otherwise) {
  SV_TRY(check_generation(c, most_inputs, otherwise));
  const size_t own = own_input_count(c);
  if (own < 5) return error("needs inputs num_beams and num_return_sequences");
  SV_TRY(require_one_int(c, 3));
  SV_TRY(require_one_int(c, 4));
  if (own > 5) SV_TRY(require_one_real(c, 5));
  SV_TRY(check_token_rules(c, kBeamTokenRules));
  if (own > kDecoderPrompt) {
    SV_TRY(require_dtype(c, kDecoderPrompt, {DType::i32}));
    SV_TRY(require_rank(c, kDecoderPrompt, 2));
  }
  if (own > kLogitsProcessor) SV_TRY(require_one_int(c, kLogitsProcessor));
  const Dim batch = c.shape(0).has_rank() ? c.shape(0)[0] : Dim(), beams = known_length(c, 3), returned = known_length(c, 4);
  c.set(0, DType::i32, Shape{batch, returned, known_length(c, 1)});
  c.set(1, DType::f32, Shape{batch, returned});
  c.set(2, DType::f32, Shape{Dim(), batch, beams, Dim()});
  return {};
}

Status infer_beam_search(InferContext& c) { return infer_beams(c, kLogitsProcessor + 1, ModelType::decoder_only); }

Status infer_whisper(InferContext& c) {
  if (c.attributes().get_int("model_type", 2) != 2) return error("model_type is {}, must be 2", c.attributes().get_int("model_type", 2));
  SV_TRY(infer_beams(c, kTemperature + 1, ModelType::speech));
  if (c.attributes().get_int("decoder_output_cross_qk", 0) != 0) return unimplemented("decoder_output_cross_qk is not supported");
  if (own_input_count(c) > kTemperature) SV_TRY(require_one_real(c, kTemperature));
  c.set(kCrossProducts, DType::f32, Shape{Dim(0)});  // there are none without that attribute
  c.set(kNoSpeech, DType::f32, Shape{c.shape(0).has_rank() ? c.shape(0)[0] : Dim()});
  return {};
}

struct BeamSettings {
  GenerationSettings common;
  int64_t returned = 1;
  float length_penalty = 1;
  bool early_stopping = false;
  SpeechTokens speech = {};
  bool has_timestamps = false;
  int64_t no_speech = -1;  // token whose probability is an output
};

Result<BeamSettings> beam_settings(EvaluateContext& c, ModelType otherwise) {
  BeamSettings out;
  GenerationSettings& s = out.common;
  SV_ASSIGN(s, generation_settings(c, kBeamTokenRules, otherwise));
  SV_ASSIGN(s.beams, int_of(c, 3, "num_beams", 1));
  if (s.beams < 1 || s.beams > kMostBeams) return error("num_beams is {}, must be from 1 to {}", s.beams, kMostBeams);
  SV_ASSIGN(out.returned, int_of(c, 4, "num_return_sequences", 1));
  if (out.returned < 1 || out.returned > s.beams) return error("num_return_sequences is {}, must be from 1 to num_beams, {}", out.returned, s.beams);
  SV_ASSIGN(out.length_penalty, real_of(c, 5, "length_penalty", 1));
  if (s.model == ModelType::speech) s.decoder_prompt = optional_input(c, kDecoderPrompt);
  out.early_stopping = c.attributes().get_int("early_stopping", 0) == 1;
  return out;
}

Result<BeamSettings> whisper_settings(EvaluateContext& c) {
  SV_ASSIGN(BeamSettings out, beam_settings(c, ModelType::speech));
  const auto token = [&](const char* name) { return c.attributes().get_int(name, -1); };
  SV_ASSIGN(out.common.temperature, real_of(c, kTemperature, "temperature", 1));
  SV_ASSIGN(const int64_t processor, int_of(c, kLogitsProcessor, "logits_processor", 0));
  if (processor < 0) return error("logits_processor is {}, must not be negative", processor);
  out.has_timestamps = processor == 1;
  out.speech = {token("beginning_timestamp_token_id"), token("no_timestamps_token_id"), token("start_of_lm_token_id"),
                out.common.start_token,                token("translate_token_id"),     token("transcribe_token_id")};
  out.no_speech = c.has_output(kNoSpeech) ? token("no_speech_token_id") : -1;
  if (c.has_output(kNoSpeech) && out.no_speech < 0) return error("output non_speech_probs needs no_speech_token_id");
  return out;
}

/// The probability of one token in the first logits, of each prompt.
Result<Tensor> token_probabilities(const MutableTensor& logits, const GenerationSettings& s, int64_t token) {
  if (token < 0 || token >= logits.dims()[1]) return error("no_speech_token_id is {}, but there are {} tokens", token, logits.dims()[1]);
  SV_ASSIGN(MutableTensor rows, logits.aligned_copy());
  log_softmax_rows(rows);
  std::vector<float> out;
  for (int64_t i = 0; i < s.batch; ++i) out.push_back(std::exp(rows.data<float>()[static_cast<size_t>(i * s.beams * rows.dims()[1] + token)]));
  return Tensor::of<float>({s.batch}, std::span<const float>(out));
}

class BeamSearch {
 public:
  BeamSearch(EvaluateContext& c, BeamSettings settings)
      : context_(c), b_(std::move(settings)), s_(b_.common), scorer_(s_, b_.length_penalty, b_.early_stopping) {}

  Status run() {
    SV_ASSIGN(MutableTensor tokens, padded_sequences(s_, {s_.batch, b_.returned, s_.max_length}));
    SV_ASSIGN(MutableTensor best, Tensor::allocate(DType::f32, {s_.batch, b_.returned}));
    SV_TRY(begin());
    while (sequences_[0].size() < static_cast<size_t>(s_.max_length)) {
      Status done = step();
      if (!done.ok()) return std::move(done).error().in(fmt::format("token {}", sequences_[0].size()));
      if (scorer_.is_done()) break;
    }
    scorer_.finish(sequences_, sums_, b_.returned, tokens.data<int32_t>(), best.data<float>());
    context_.set(0, Tensor(tokens));
    context_.set(1, Tensor(best));
    if (context_.has_output(2)) context_.set(2, Tensor(all_scores_));
    return {};
  }

 private:
  Status begin() {
    SV_TRY(check_room_for_sequences(s_));
    SV_ASSIGN(model_, language_model(context_, s_));
    SV_ASSIGN(const Sequences prompts, model_->prompts());
    SV_TRY(check_prompts(s_, prompts));
    for (const std::vector<int32_t>& prompt : prompts) {
      sequences_.insert(sequences_.end(), static_cast<size_t>(s_.beams), prompt);
      sums_.push_back(0);
      sums_.insert(sums_.end(), static_cast<size_t>(s_.beams - 1), kUnlikely);
    }
    begin_ = static_cast<int64_t>(sequences_[0].size());
    return {};
  }

  Status step() {
    const auto length = static_cast<int64_t>(sequences_[0].size());
    const bool first = length == begin_;
    SV_ASSIGN(const Tensor logits, first ? model_->first_logits() : model_->next_logits(sequences_, parents_));
    SV_ASSIGN(MutableTensor scores, last_logits(logits, s_));
    if (first && b_.no_speech >= 0) {
      SV_ASSIGN(Tensor probabilities, token_probabilities(scores, s_, b_.no_speech));
      context_.set(kNoSpeech, std::move(probabilities));
    }
    if (s_.vocabulary < 2) return error("there is {} token, and no other to end with", s_.vocabulary);
    log_softmax_rows(scores);
    SV_TRY(process_scores(s_, sequences_, first, scores));
    if (b_.has_timestamps) SV_TRY(process_timestamps(b_.speech, s_.end_token, sequences_, scores));
    for (size_t i = 0; i < sums_.size(); ++i)
      for (float& score : scores.data<float>().subspan(i * static_cast<size_t>(s_.vocabulary), static_cast<size_t>(s_.vocabulary))) score += sums_[i];
    if (context_.has_output(2)) SV_TRY(keep_scores(scores, length - begin_));
    advance(scorer_.step(sequences_, scores));
    return {};
  }

  void advance(BeamStep chosen) {
    Sequences next;
    for (size_t i = 0; i < sequences_.size(); ++i) {
      next.push_back(sequences_[static_cast<size_t>(chosen.parents[i])]);
      next.back().push_back(chosen.tokens[i]);
    }
    sequences_ = std::move(next);
    sums_ = std::move(chosen.scores);
    parents_ = std::move(chosen.parents);
  }

  /// [steps, batch, beams, vocabulary]; 0 for steps that are not made.
  Status keep_scores(const MutableTensor& scores, int64_t step) {
    if (step == 0) {
      SV_ASSIGN(all_scores_, Tensor::allocate(DType::f32, {s_.max_length - begin_, s_.batch, s_.beams, s_.vocabulary}));
      std::fill_n(all_scores_.raw(), all_scores_.byte_size(), std::byte{0});
    }
    const auto from = scores.Tensor::data<float>();
    std::copy(from.begin(), from.end(), all_scores_.data<float>().begin() + static_cast<std::ptrdiff_t>(step * scores.count()));
    return {};
  }

  static constexpr float kUnlikely = -1e9f;  // the beams of a prompt begin alike: all but one count as unlikely

  EvaluateContext& context_;
  BeamSettings b_;
  GenerationSettings& s_;
  BeamScorer scorer_;
  std::unique_ptr<LanguageModel> model_;
  Sequences sequences_;
  std::vector<float> sums_;  // of the logarithms of each sequence's probabilities
  std::vector<int32_t> parents_;
  MutableTensor all_scores_;
  int64_t begin_ = 0;  // tokens that the sequences begin with
};

Status evaluate_beam_search(EvaluateContext& c) {
  SV_ASSIGN(BeamSettings settings, beam_settings(c, ModelType::decoder_only));
  return BeamSearch(c, std::move(settings)).run();
}

Status evaluate_whisper(EvaluateContext& c) {
  SV_ASSIGN(BeamSettings settings, whisper_settings(c));
  SV_ASSIGN(Tensor none, zeros(DType::f32, {0}));
  c.set(kCrossProducts, std::move(none));
  return BeamSearch(c, std::move(settings)).run();
}

std::vector<AttributeDef> beam_attributes() {
  std::vector<AttributeDef> out = generation_attributes();
  out.push_back({"early_stopping", AttributeKind::kInt, false, 0});
  return out;
}

std::vector<AttributeDef> whisper_attributes() {
  std::vector<AttributeDef> out = beam_attributes();
  for (AttributeDef& a : out)
    if (a.name == std::string_view("model_type")) a.default_value = 2;
  for (const char* name : {"beginning_timestamp_token_id", "no_timestamps_token_id", "start_of_lm_token_id", "translate_token_id",
                           "transcribe_token_id", "no_speech_token_id"})
    out.push_back({name, AttributeKind::kInt, false, -1});
  out.push_back({"decoder_output_cross_qk", AttributeKind::kInt, false, 0});
  return out;
}

}  // namespace

OpDef define_microsoft_beam_search() {
  return {
      .name = "BeamSearch",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input_ids, max_length, min_length?, num_beams, num_return_sequences, length_penalty?, repetition_penalty?, vocab_mask?, "
                "prefix_vocab_mask?, attention_mask?, decoder_input_ids?, logits_processor?, captured?...",
      .outputs = {1, 3},
      .attributes = beam_attributes(),
      .infer = infer_beam_search,
      .evaluate = evaluate_beam_search,
      .cost = cost_of_generation,
      .samples = "(int32[2, 3] 1 to 5, int32[] 6 to 7, int32[] 0 to 2, int32[] 2 to 3, int32[] 1 to 2) " + decoder_only_sample() + " 3" +
                 "(int32[2, 3] 0 to 4, int32[] 6 to 7, -, int32[] 2 to 2, int32[] 1 to 1, float32[] 1 to 2, -, int32[5] 0 to 1) " +
                 encoder_decoder_sample("model_type = 1, decoder_start_token_id = 1, early_stopping = 1") + " 2",
  };
}

OpDef define_microsoft_whisper_beam_search() {
  return {
      .name = "WhisperBeamSearch",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input_ids, max_length, min_length?, num_beams, num_return_sequences, length_penalty?, repetition_penalty?, vocab_mask?, "
                "prefix_vocab_mask?, attention_mask?, decoder_input_ids?, logits_processor?, cross_qk_layer_head?, extra_decoding_ids?, "
                "temperature?, captured?...",
      .outputs = {1, 5},
      .attributes = whisper_attributes(),
      .infer = infer_whisper,
      .evaluate = evaluate_whisper,
      .cost = cost_of_generation,
      .samples =
          "(float32[2, 3, 4], int32[] 6 to 7, int32[] 0 to 2, int32[] 2 to 3, int32[] 1 to 2, -, -, -, -, -, int32[2, 2] 1 to 2, int32[] 0 to 1) " +
          speech_sample("decoder_start_token_id = 1, no_speech_token_id = 3, beginning_timestamp_token_id = 4") + " 5",
  };
}

}  // namespace svengine::ops
