// Scores of the next token as they come out of a language model, and what a node asks to be changed of them.
#pragma once
#include "engine/ops/generation/generation_common.h"

namespace svengine::ops {

/// The special tokens of Whisper, which tell where speech begins and ends in time. Those from `first_timestamp` on are timestamps.
struct SpeechTokens {
  int64_t first_timestamp = -1;
  int64_t no_timestamps = -1, start_of_model = -1, start = -1, translate = -1, transcribe = -1;
};

/// Scores [sequences, vocabulary] of the next token, from a body's logits [sequences or batch, positions, at least vocabulary], of which the last
/// position counts; where there is one of a prompt, all its beams have that. `vocabulary` 0 is set to all of them.
Result<MutableTensor> last_logits(const Tensor& logits, GenerationSettings& s);

/// Changes scores as the settings ask, in ONNX Runtime's order. `first`: nothing has been generated yet. What may not be chosen becomes the
/// lowest number.
Status process_scores(const GenerationSettings& s, const Sequences& sequences, bool first, MutableTensor& scores);

/// What Whisper's timestamps ask for: they come in pairs, do not decrease, and begin early; one is chosen where all of them together are likelier
/// than any word. `scores` are logarithms of probabilities.
Status process_timestamps(const SpeechTokens& tokens, int32_t end_token, const Sequences& sequences, MutableTensor& scores);

/// Rows become logarithms of their softmax.
void log_softmax_rows(MutableTensor& scores);

}  // namespace svengine::ops
