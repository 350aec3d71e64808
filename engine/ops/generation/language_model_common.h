// The bodies of a generating node as a language model: what they are given in each step, and their caches of keys and values.
//
// Inputs of bodies are told apart by their names, as ONNX Runtime does. B is the number of sequences, S of positions, P of those before, L of
// layers; tokens, positions and masks are int32 or int64.
//
//   decoder only     decoder: input_ids [B, S], position_ids [B, S], attention_mask [B, P + S], past_0.. [2, B, heads, P, size]
//                             -> logits [B, S, vocabulary], present_0..; init_decoder, where it is there, is the first step's
//   encoder-decoder  encoder: encoder_input_ids [batch, tokens], encoder_attention_mask [batch, tokens] (, decoder_input_ids [batch, 1])
//                             -> (logits, encoder_hidden_states, keys and values of each layer's self-attention,) those of its cross-attention
//                    decoder: input_ids, encoder_attention_mask (, encoder_hidden_states), past keys and values of self- and cross-attention
//                             -> logits, keys and values of self-attention
//   speech           as encoder-decoder, without masks; the encoder reads features [batch, bands, frames] and decoder_input_ids
//
// A decoder with an input past_sequence_length has caches of max_length positions, of which so many are used. It may have beam_width and
// cache_indirection [batch, beams, max_length], too: which beam's cache holds a position. Here each beam's own does, for caches are reordered.
#pragma once
#include <memory>

#include "engine/ops/generation/generation_common.h"

namespace svengine::ops {

class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  /// What the sequences of each prompt begin with.
  virtual Result<Sequences> prompts() = 0;
  /// The first step's logits [sequences or batch, positions, vocabulary].
  virtual Result<Tensor> first_logits() = 0;
  /// Those of the next: each sequence has one more token, and continues what row parents[i] was in the step before.
  virtual Result<Tensor> next_logits(const Sequences& sequences, const std::vector<int32_t>& parents) = 0;
};

/// The model of the node's bodies. The context must outlive it.
Result<std::unique_ptr<LanguageModel>> language_model(EvaluateContext& c, const GenerationSettings& s);

/// The two kinds of it.
std::unique_ptr<LanguageModel> decoder_only_model(EvaluateContext& c, const GenerationSettings& s);
std::unique_ptr<LanguageModel> encoder_decoder_model(EvaluateContext& c, const GenerationSettings& s);

/// A body of the node, and what of it is the operator's.
class GenerationBody {
 public:
  GenerationBody(EvaluateContext& c, const char* name);

  bool is_there() const { return graph_ != nullptr; }
  size_t inputs() const { return inputs_; }  // its own, without what it captures
  size_t outputs() const { return graph_->outputs().size(); }
  const Type& input_type(size_t i) const { return graph_->inputs()[i]->type; }
  /// The input of that name, or inputs() where there is none.
  size_t find(std::string_view input) const;
  bool has(std::string_view input) const { return find(input) < inputs_; }
  /// Adds what decoders with whole caches are told of them, as far as this one has inputs for that: `used` positions hold something.
  Status add_cache_inputs(const GenerationSettings& s, int64_t used, std::vector<Tensor>& inputs) const;
  /// Numbers in the element type that input i declares.
  Result<Tensor> integers(size_t input, Dims dims, const std::vector<int32_t>& values) const;
  Result<std::vector<Tensor>> run(std::vector<Tensor> inputs) const;

 private:
  EvaluateContext& context_;
  const char* name_;
  const Graph* graph_ = nullptr;
  size_t inputs_ = 0;
};

/// Rows `parents` along `axis`; the tensor itself where that changes nothing.
Result<Tensor> gathered(const Tensor& t, size_t axis, const std::vector<int32_t>& parents);
/// Each row of dimension 0 `times` times, side by side.
Result<Tensor> repeated(const Tensor& t, int64_t times);
/// Zeros behind what is there along `axis`, `size` in all.
Result<Tensor> extended(const Tensor& t, size_t axis, int64_t size);
Result<Tensor> zeros(DType type, Dims dims);
/// The last tokens of the sequences, one row each.
std::vector<int32_t> last_tokens(const Sequences& sequences);
/// All of them.
std::vector<int32_t> all_tokens(const Sequences& sequences);

}  // namespace svengine::ops
