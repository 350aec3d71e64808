// The first four bytes choose the options.
#include "fuzz/support.h"
#include "runtime/dataset/text.h"

namespace svengine::fuzz {
namespace {

void read_samples(const std::optional<DataSetPtr>& set) {
  if (!set) return;
  size_t bytes = 0;
  for (const Field& field : (*set)->fields()) bytes += field.bytes();
  if (bytes > size_t{1} << 20) return;  // lines are padded to what the options say
  std::vector<std::vector<std::byte>> fields;
  std::vector<std::byte*> places;
  for (const Field& field : (*set)->fields()) places.push_back(fields.emplace_back(field.bytes()).data());
  for (int64_t i = 0; i < std::min<int64_t>((*set)->size(), 100); ++i) taken((*set)->read(i, places));
  if (taken((*set)->read((*set)->size(), places))) finding("a sample behind the last one");
}

}  // namespace

void fuzz_tokens(Bytes input) {
  Reader reader(input);
  TokenOptions options;
  options.length = reader.take<uint8_t>() % 40;
  options.pad = reader.take<int8_t>();
  options.vocabulary = reader.take<uint8_t>();
  options.truncate = reader.take<uint8_t>() % 2;
  const MemoryFile file(reader.rest());
  read_samples(taken(open_token_lines(file.path(), options)));
  read_samples(taken(open_token_stream(file.path(), options)));
}

}  // namespace svengine::fuzz
