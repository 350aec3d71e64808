// The innermost part of products and convolutions: a few rows times a panel of columns, summed up in local arrays that compilers keep in registers.
//
// Operand B comes in panels: [panel][step][columns of a panel], the last one's missing columns 0.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tools/emit/context.h"

namespace svengine::tool::emit {

/// Where the elements of B are before they are packed: batches of [n][steps].
struct PanelSource {
  int64_t batch = 1, n = 0, steps = 0;
  int64_t batch_stride = 0, n_stride = 0, step_stride = 0;
  std::vector<double> scale = {};  // one for each n of each batch; of constants
};

struct Panels {
  std::string name;        // of the pointer
  int64_t rows = 1;        // of A that a tile has
  int64_t columns = 0;     // of a panel
  int64_t count = 0;       // panels of a batch
  int64_t batch_size = 0;  // elements
};

/// Input i in panels: an array where it is constant, else a temporary that code fills.
Panels make_panels(NodeContext& c, size_t i, const PanelSource& source, int64_t rows);

/// A loop over steps, and how far A moves in each.
struct StepLoop {
  int64_t count, stride;
};

struct Tile {
  DType type;
  int64_t columns = 0;
  std::vector<StepLoop> steps;  // outermost first
  std::string panel;            // pointer to the panel
  /// Pointer to the first element of a row of A.
  std::function<std::string(int64_t row)> row = {};
  /// Writes the code that stores column "j" of a row; the sum is the text given.
  std::function<void(int64_t row, const std::string& sum)> store = {};
  int64_t valid = 0;            // columns to be stored, or 0: "width" says it
};

/// The code of `rows` rows at once.
void emit_tile(Code& code, const Tile& tile, int64_t rows);

}  // namespace svengine::tool::emit
