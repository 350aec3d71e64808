// Language models of a decoder alone, as GPT-2.
#include <span>

#include "engine/ops/generation/language_model_common.h"

namespace svengine::ops {
namespace {

class DecoderOnly : public LanguageModel {
 public:
  DecoderOnly(EvaluateContext& c, const GenerationSettings& s)
      : settings_(s), prompt_(c.input(0)), decoder_(c, "decoder"), first_(c, "init_decoder") {}

  Result<Sequences> prompts() override {
    if (prompt_.dims()[1] < 1) return error("the prompts are empty");
    return rows_of(prompt_);
  }

  Result<Tensor> first_logits() override {
    SV_ASSIGN(const Sequences rows, prompts());
    SV_TRY(mask_prompts(rows));
    const GenerationBody& body = first_.is_there() ? first_ : decoder_;
    const auto length = static_cast<int64_t>(rows[0].size());
    std::vector<int32_t> tokens, positions;
    for (size_t i = 0; i < rows.size(); ++i)
      for (int64_t k = 0; k < settings_.beams; ++k) {
        tokens.insert(tokens.end(), rows[i].begin(), rows[i].end());
        int32_t position = 0;  // padding has none, whatever attention_mask says, as ONNX Runtime has it
        for (const int32_t token : rows[i]) positions.push_back(token != settings_.pad_token ? position++ : 0);
        position_.push_back(position);
      }
    SV_ASSIGN(const std::vector<Tensor> pasts, first_pasts(body));
    return step(body, length, tokens, positions, pasts);
  }

  Result<Tensor> next_logits(const Sequences& sequences, const std::vector<int32_t>& parents) override {
    std::vector<Tensor> pasts;
    for (const Tensor& present : presents_) {
      SV_ASSIGN(Tensor past, gathered(present, 1, parents));
      pasts.push_back(std::move(past));
    }
    presents_.clear();
    for (std::vector<int32_t>& row : mask_) row.push_back(1);
    const std::vector<int32_t> positions = position_;
    for (int32_t& position : position_) ++position;
    return step(decoder_, 1, last_tokens(sequences), positions, pasts);
  }

 private:
  /// Given, or 0 for padding.
  Status mask_prompts(const Sequences& rows) {
    const Tensor& given = settings_.attention_mask;
    if (given.defined() && given.dims() != prompt_.dims())
      return error("attention_mask is {}, needs the prompts' {}", to_string(given.dims()), to_string(prompt_.dims()));
    size_t at = 0;
    for (const std::vector<int32_t>& row : rows) {
      std::vector<int32_t> mask;
      for (const int32_t token : row) mask.push_back(given.defined() ? given.data<int32_t>()[at++] : token != settings_.pad_token);
      mask_.push_back(std::move(mask));
    }
    return {};
  }

  size_t caches(const GenerationBody& body) const { return body.outputs() - 1; }

  /// Nothing yet, in caches of no positions, or of max_length.
  Result<std::vector<Tensor>> first_pasts(const GenerationBody& body) const {
    std::vector<Tensor> out;
    for (size_t i = 0; i < caches(body) && kFirstPast + i < body.inputs(); ++i) {
      const Type& type = body.input_type(kFirstPast + i);
      if (!type.shape.has_rank() || type.shape.rank() != 5 || !type.shape[2].is_static() || !type.shape[4].is_static())
        return error("past {} is {}, needs [2, sequences, heads, positions, size] of known heads and size", i, to_string(type));
      const int64_t rows = settings_.batch * settings_.beams, positions = body.has("past_sequence_length") ? settings_.max_length : 0;
      SV_ASSIGN(Tensor past, zeros(type.dtype, {2, rows, type.shape[2].value(), positions, type.shape[4].value()}));
      out.push_back(std::move(past));
    }
    return out;
  }

  Result<Tensor> step(const GenerationBody& body, int64_t length, const std::vector<int32_t>& tokens, const std::vector<int32_t>& positions,
                      const std::vector<Tensor>& pasts) {
    const int64_t rows = settings_.batch * settings_.beams, before = used_;
    used_ += length;
    std::vector<int32_t> mask;
    for (const std::vector<int32_t>& row : mask_)
      for (int64_t k = 0; k < settings_.beams; ++k) mask.insert(mask.end(), row.begin(), row.end());
    SV_ASSIGN(Tensor input_ids, body.integers(0, {rows, length}, tokens));
    SV_ASSIGN(Tensor position_ids, body.integers(1, {rows, length}, positions));
    SV_ASSIGN(Tensor attention_mask, body.integers(2, {rows, used_}, mask));
    std::vector<Tensor> inputs{std::move(input_ids), std::move(position_ids), std::move(attention_mask)};
    inputs.insert(inputs.end(), pasts.begin(), pasts.end());
    SV_TRY(body.add_cache_inputs(settings_, before, inputs));
    SV_ASSIGN(std::vector<Tensor> outputs, body.run(std::move(inputs)));
    presents_.assign(outputs.begin() + 1, outputs.end());
    return outputs[0];
  }

  static constexpr size_t kFirstPast = 3;

  const GenerationSettings& settings_;
  Tensor prompt_;
  GenerationBody decoder_, first_;
  Sequences mask_;                 // of each prompt: which tokens are looked at
  std::vector<int32_t> position_;  // of each sequence's next token
  std::vector<Tensor> presents_;
  int64_t used_ = 0;  // positions that the caches hold
};

}  // namespace

std::unique_ptr<LanguageModel> decoder_only_model(EvaluateContext& c, const GenerationSettings& s) { return std::make_unique<DecoderOnly>(c, s); }

}  // namespace svengine::ops
