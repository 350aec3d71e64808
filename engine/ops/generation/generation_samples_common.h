// Bodies of small language models, for the samples of operators that generate text.
#pragma once
#include <string>

namespace svengine::ops {

/// Attributes of a node, with a decoder of six tokens whose caches hold their positions; 5 ends.
std::string decoder_only_sample(const std::string& attributes = "");
/// With an encoder that gives keys and values alone, and five tokens; 4 ends.
std::string encoder_decoder_sample(const std::string& attributes);
/// With an encoder of features [batch, 3, frames] that takes the decoder's first step, and six tokens; 3 ends.
std::string speech_sample(const std::string& attributes);

}  // namespace svengine::ops
