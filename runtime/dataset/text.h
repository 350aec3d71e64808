// Tokenised text: integers, in a text file one sequence a line, or in arrays.
//
//   17 4 256 3        separated by blanks, tabs or commas; numbers of -2^31 to 2^31-1; a line may be empty: a sequence of none
//   9,12
#pragma once
#include "engine/base/tensor.h"
#include "runtime/dataset/dataset.h"

namespace svengine {

struct TokenOptions {
  int64_t length = 0;      // tokens of a sample; 0: of the longest line (not for streams)
  int64_t pad = 0;         // what fills shorter lines
  int64_t vocabulary = 0;  // > 0: tokens must be in 0 .. vocabulary-1
  bool truncate = false;   // cut longer lines; otherwise they are refused
};

/// One sample a line. Fields: tokens int64 [length]; length int64 [], how many of them are not padding.
/// Tokens are kept in memory with 4 bytes each. Errors name file, line and column.
Result<DataSetPtr> open_token_lines(const std::string& path, const TokenOptions& options = {});

/// All tokens of a file, one line after the other, as one text that is cut into samples for a language model. Fields:
/// tokens int64 [length], samples following one another without overlap, and targets int64 [length]: the token after each.
/// A rest that does not fill a sample is left out.
Result<DataSetPtr> open_token_stream(const std::string& path, const TokenOptions& options);

/// The same for a rank-1 array of integers, as a .npy file holds it (importers/tensor).
Result<DataSetPtr> make_token_stream(const Tensor& tokens, const TokenOptions& options);

}  // namespace svengine
