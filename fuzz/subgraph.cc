// Nested bodies, which capture what is around them: checked, imported, written and read again, run.
#include "fuzz/graph_maker.h"
#include "fuzz/support.h"
#include "fuzz/under_limits.h"
#include "importers/onnx/import.h"
#include "importers/onnx/onnx_file.h"
#include "validate/check/check.h"

namespace svengine::fuzz {

void fuzz_subgraph(Bytes input) {
  Reader in(input);
  const auto owner = std::make_shared<std::string>(GraphMaker(in).model().SerializeAsString());
  const Bytes bytes = std::as_bytes(std::span(owner->data(), owner->size()));
  const UnderLimits limits;
  if (const auto file = taken(onnx::OnnxFile::parse(bytes, owner, "m.onnx"))) taken(validate::check_model(*file));
  std::optional<Model> model = taken(import_onnx(bytes, owner, "m.onnx"));
  if (!model) return;
  export_and_read(model->graph);
  run_small(std::move(model->graph));
}

}  // namespace svengine::fuzz
