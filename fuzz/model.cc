// An ONNX file: what the checker says of it, what the importer makes of it, whether that runs, and whether it can be written again.
#include "fuzz/support.h"
#include "fuzz/under_limits.h"
#include "importers/onnx/import.h"
#include "importers/onnx/onnx_file.h"
#include "validate/check/check.h"

namespace svengine::fuzz {

void fuzz_model(Bytes input) {
  // Of its own size, so that reading behind it is seen.
  const auto owner = std::make_shared<std::vector<std::byte>>(input.begin(), input.end());
  const UnderLimits limits;
  if (const auto file = taken(onnx::OnnxFile::parse(*owner, owner, "m.onnx"))) taken(validate::check_model(*file, {.opset = 13}));
  std::optional<Model> model = taken(import_onnx(*owner, owner, "m.onnx"));
  if (!model) return;
  export_and_read(model->graph);
  run_small(std::move(model->graph));
}

}  // namespace svengine::fuzz
