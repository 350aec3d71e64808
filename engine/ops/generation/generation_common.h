// What com.microsoft's operators that generate text share: what they are asked for, and the sequences of tokens.
//
//   prompts --> language model (bodies of the node) --> logits --> LogitsProcessor --> a token for each sequence --+
//                     ^                                                                                            |
//                     +--------------------------- until every sequence has ended ---------------------------------+
//
// The specification is ONNX Runtime's list of contributed operators, and where that is silent what its kernels for processors do.
#pragma once
#include <vector>

#include "engine/ops/control/control_common.h"

namespace svengine::ops {

/// Tokens of each sequence so far, prompt included; all are of one length. Those of one prompt (its beams) lie side by side.
using Sequences = std::vector<std::vector<int32_t>>;

enum class ModelType : int8_t { decoder_only, encoder_decoder, speech };  // as GPT-2, T5 and Whisper; attribute model_type

/// What a node is asked for. Undefined tensors are absent inputs.
struct GenerationSettings {
  ModelType model = ModelType::decoder_only;
  int64_t batch = 0;  // prompts
  int64_t beams = 1;  // sequences of each prompt that are followed at once
  int64_t min_length = 0, max_length = 0;
  int64_t vocabulary = 0;  // tokens that may be chosen, the first of those that have logits; 0: all of them
  int32_t end_token = 0, pad_token = 0, start_token = -1;
  int64_t ngram_size = 0;  // no n tokens twice in a sequence; 0: any
  float repetition_penalty = 1, temperature = 1, presence_penalty = 0;
  Tensor vocabulary_mask, first_mask, presence_mask, attention_mask, decoder_prompt;
};

/// Longest sequences, and most beams: those of ONNX Runtime's kernels.
inline constexpr int64_t kMostTokens = 4096;
inline constexpr int64_t kMostBeams = 128;

/// The attributes that all have.
std::vector<AttributeDef> generation_attributes();

/// Checks attributes and bodies, how many inputs there are, and the first three: prompts or features of speech, max_length and min_length.
/// `otherwise`: without attribute model_type.
Status check_generation(const InferContext& c, size_t most_inputs, ModelType otherwise = ModelType::decoder_only);
/// The inputs that all have behind one another from `first` on: repetition_penalty, vocab_mask, prefix_vocab_mask, attention_mask.
Status check_token_rules(const InferContext& c, size_t first);
/// Has one element, of type int32 or float32.
Status require_one_int(const InferContext& c, size_t input);
Status require_one_real(const InferContext& c, size_t input);
/// The element where it is known, as a dimension.
Dim known_length(const InferContext& c, size_t input);

/// Reads attributes, inputs 0 to 2, and those of check_token_rules(); the others are the operator's.
Result<GenerationSettings> generation_settings(const EvaluateContext& c, size_t token_rules, ModelType otherwise = ModelType::decoder_only);
/// The element of an input of one; `otherwise` where the input is absent.
Result<int64_t> int_of(const EvaluateContext& c, size_t input, const char* what, int64_t otherwise);
Result<float> real_of(const EvaluateContext& c, size_t input, const char* what, float otherwise);
/// The input, or an undefined tensor.
Tensor optional_input(const EvaluateContext& c, size_t input);

/// Of the encoder once, and of the decoder once a token, as far as it is known how many there are.
Cost cost_of_generation(const Node& node);

/// The rows of tokens [batch, length].
Sequences rows_of(const Tensor& tokens);
/// Refuses prompts that leave no room for a token.
Status check_prompts(const GenerationSettings& s, const Sequences& prompts);
/// Refuses more sequences than there is memory for, or than the limit that is set (engine/base/limits.h) leaves: they are not counted.
Status check_room_for_sequences(const GenerationSettings& s);
/// Room for sequences, filled with padding.
Result<MutableTensor> padded_sequences(const GenerationSettings& s, Dims dims);

}  // namespace svengine::ops
