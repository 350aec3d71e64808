// A part of a model, cut out between values.
//
//   --from b --to d:    a ── N1 ── b ── N2 ── c ── N3 ── d ── N4 ── e         becomes      b ── N2 ── c ── N3 ── d
//                                                  │                                            │
//                            w (initializer) ──────┘                            w ──────────────┘
#pragma once
#include <string>
#include <vector>

#include "importers/onnx/onnx_file.h"

namespace svengine::validate {

/// Keeps what computes the values `to` from the values `from`; graph inputs that are still needed stay inputs. Empty lists mean the graph's
/// own outputs, or inputs. The types of new inputs and outputs are inferred. Fails where a name is no value of the main graph, where a value
/// of `from` is not needed, and where types are needed and the model cannot be imported.
Status extract(onnx::OnnxFile& file, const std::vector<std::string>& from, const std::vector<std::string>& to);

}  // namespace svengine::validate
