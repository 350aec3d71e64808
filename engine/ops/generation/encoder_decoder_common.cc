// Language models of an encoder, whose output every step of the decoder reads: of text, as T5, or of speech, as Whisper.
#include <span>

#include "engine/ops/generation/language_model_common.h"

namespace svengine::ops {
namespace {

class EncoderDecoder : public LanguageModel {
 public:
  EncoderDecoder(EvaluateContext& c, const GenerationSettings& s)
      : settings_(s), source_(c.input(0)), encoder_(c, "encoder"), decoder_(c, "decoder"), has_mask_(s.model == ModelType::encoder_decoder) {}

  Result<Sequences> prompts() override {
    const Tensor& given = settings_.decoder_prompt;
    if (!given.defined()) {
      if (settings_.start_token < 0) return error("needs decoder_start_token_id: the decoder has nothing to begin with");
      return Sequences(static_cast<size_t>(settings_.batch), {settings_.start_token});
    }
    if (given.dims().size() != 2 || given.dims()[0] != settings_.batch || given.dims()[1] < 1)
      return error("decoder_input_ids is {}, needs [{}, tokens]", to_string(given.dims()), settings_.batch);
    return rows_of(given);
  }

  /// Of the encoder, where it takes the decoder's first step; else of the decoder.
  Result<Tensor> first_logits() override {
    SV_ASSIGN(const Sequences starts, prompts());
    SV_TRY(count_layers());
    std::vector<Tensor> inputs{source_};
    if (has_mask_) {
      SV_ASSIGN(mask_, source_mask());
      inputs.push_back(mask_);
    }
    const auto length = static_cast<int64_t>(starts[0].size());
    if (encoder_steps_) {
      SV_ASSIGN(Tensor start, encoder_.integers(inputs.size(), {settings_.batch, length}, all_tokens(starts)));
      inputs.push_back(std::move(start));
    }
    SV_ASSIGN(const std::vector<Tensor> outputs, encoder_.run(std::move(inputs)));
    SV_TRY(keep_encoded(outputs));
    if (encoder_steps_) {
      used_ = length;
      return outputs[0];
    }
    Sequences rows;
    for (const std::vector<int32_t>& start : starts) rows.insert(rows.end(), static_cast<size_t>(settings_.beams), start);
    return step(rows, length);
  }

  Result<Tensor> next_logits(const Sequences& sequences, const std::vector<int32_t>& parents) override {
    for (Tensor& cache : self_) {
      SV_ASSIGN(cache, gathered(cache, 0, parents));
    }
    return step(sequences, 1);
  }

 private:
  /// 1, but for padding to the left where no mask is given.
  Result<Tensor> source_mask() const {
    const Tensor& given = settings_.attention_mask;
    if (given.defined() && given.dims() != source_.dims())
      return error("attention_mask is {}, needs the prompts' {}", to_string(given.dims()), to_string(source_.dims()));
    const auto length = static_cast<size_t>(source_.dims()[1]);
    std::vector<int32_t> mask;
    bool begun = false;
    for (size_t i = 0; i < static_cast<size_t>(source_.count()); ++i) {
      begun = (begun && i % length != 0) || source_.data<int32_t>()[i] != settings_.pad_token;
      mask.push_back(given.defined() ? given.data<int32_t>()[i] : begun);
    }
    return encoder_.integers(1, source_.dims(), mask);
  }

  Status count_layers() {
    if (decoder_.outputs() < 3 || decoder_.outputs() % 2 == 0)
      return error("body 'decoder' has {} outputs, needs logits, and keys and values of each layer", decoder_.outputs());
    layers_ = (decoder_.outputs() - 1) / 2;
    encoder_steps_ = encoder_.has("decoder_input_ids");
    has_states_ = decoder_.has("encoder_hidden_states");
    has_whole_caches_ = decoder_.has("past_sequence_length");
    const size_t needed = encoder_steps_ ? 2 + 4 * layers_ : 2 * layers_;
    if (encoder_.outputs() != needed)
      return error("body 'encoder' has {} outputs, needs {} for the decoder's {} layers", encoder_.outputs(), needed, layers_);
    if (has_states_ && !encoder_steps_) return error("body 'decoder' needs encoder_hidden_states, which body 'encoder' does not give");
    return {};
  }

  /// What each step reads of the encoder's outputs, for all beams, and the caches of self-attention that the first begins with.
  Status keep_encoded(const std::vector<Tensor>& outputs) {
    const size_t first = encoder_steps_ ? 2 : 0, self = encoder_steps_ ? 2 * layers_ : 0;
    if (has_mask_) {
      SV_ASSIGN(mask_, repeated(mask_, settings_.beams));
    }
    if (has_states_) {
      SV_ASSIGN(states_, repeated(outputs[1], settings_.beams));
    }
    for (size_t i = first; i < outputs.size(); ++i) {
      SV_ASSIGN(Tensor cache, repeated(outputs[i], settings_.beams));
      if (cache.dims().size() != 4) return error("a cache of the encoder is {}, needs [sequences, heads, positions, size]", to_string(cache.dims()));
      (i < first + self ? self_ : cross_).push_back(std::move(cache));
    }
    for (size_t i = 0; self_.size() < 2 * layers_; ++i) {  // the encoder took no step
      Dims dims = cross_[i].dims();
      dims[2] = 0;
      SV_ASSIGN(Tensor empty, zeros(cross_[i].type(), std::move(dims)));
      self_.push_back(std::move(empty));
    }
    for (size_t i = 0; has_whole_caches_ && i < self_.size(); ++i) {
      SV_ASSIGN(self_[i], extended(self_[i], 2, settings_.max_length));
    }
    return {};
  }

  /// A decoder whose input_ids are not declared to be of one position reads whole sequences.
  bool reads_one_token() const {
    const Shape& shape = decoder_.input_type(0).shape;
    return shape.has_rank() && shape.rank() == 2 && shape[1].is_static() && shape[1].value() == 1;
  }

  Result<Tensor> step(const Sequences& sequences, int64_t added) {
    const auto rows = static_cast<int64_t>(sequences.size()), length = static_cast<int64_t>(sequences[0].size());
    const bool one = reads_one_token();
    SV_ASSIGN(Tensor tokens, decoder_.integers(0, {rows, one ? 1 : length}, one ? last_tokens(sequences) : all_tokens(sequences)));
    std::vector<Tensor> inputs{std::move(tokens)};
    if (has_mask_) inputs.push_back(mask_);
    if (has_states_) inputs.push_back(states_);
    inputs.insert(inputs.end(), std::make_move_iterator(self_.begin()), std::make_move_iterator(self_.end()));
    inputs.insert(inputs.end(), cross_.begin(), cross_.end());
    self_.clear();
    SV_TRY(decoder_.add_cache_inputs(settings_, used_, inputs));
    used_ += added;
    SV_ASSIGN(std::vector<Tensor> outputs, decoder_.run(std::move(inputs)));
    self_.assign(outputs.begin() + 1, outputs.end());
    return outputs[0];
  }

  const GenerationSettings& settings_;
  Tensor source_;
  GenerationBody encoder_, decoder_;
  bool has_mask_, encoder_steps_ = false, has_states_ = false, has_whole_caches_ = false;
  size_t layers_ = 0;
  Tensor mask_, states_;
  std::vector<Tensor> self_, cross_;  // keys and values of each layer
  int64_t used_ = 0;                  // positions that the caches of self-attention hold
};

}  // namespace

std::unique_ptr<LanguageModel> encoder_decoder_model(EvaluateContext& c, const GenerationSettings& s) {
  return std::make_unique<EncoderDecoder>(c, s);
}

}  // namespace svengine::ops
