// Softmax and LogSoftmax, along one axis or, as before opset 13, over all dimensions from the axis on.
#include "engine/graph/axes.h"
#include "tools/emit/lines.h"
#include "tools/emit/table.h"

namespace svengine::tool::emit {

Status emit_softmax(NodeContext& c) {
  SV_ASSIGN(const Lines lines, lines_of(c));
  const DType type = c.out_type();
  const std::string_view t = c_type(type);
  const bool log = c.node().op().name == std::string_view("LogSoftmax");
  Code& code = c.code();
  code.loop("o", lines.outer);
  code.loop("i", lines.inner);
  for (const auto& [name, pointer] : {std::pair("x", c.in(0)), std::pair("y", c.out())})
    code.line("{}{} *const {} = {} + o * {} + i;", name[0] == 'x' ? "const " : "", t, name, pointer, lines.count * lines.inner);
  const std::string exp = c_function("exp", type);
  code.line("{} most = -INFINITY, sum = 0;", t);
  code.line("for (ptrdiff_t l = 0; l < {0}; ++l) most = x[l * {1}] > most ? x[l * {1}] : most;", lines.count, lines.inner);
  if (log) {
    code.line("for (ptrdiff_t l = 0; l < {}; ++l) sum += {}(x[l * {}] - most);", lines.count, exp, lines.inner);
    code.line("sum = {}(sum);", c_function("log", type));
    code.line("for (ptrdiff_t l = 0; l < {0}; ++l) y[l * {1}] = x[l * {1}] - most - sum;", lines.count, lines.inner);
  } else {
    code.open("for (ptrdiff_t l = 0; l < {}; ++l)", lines.count);
    code.line("y[l * {0}] = {1}(x[l * {0}] - most);", lines.inner, exp);
    code.line("sum += y[l * {}];", lines.inner);
    code.close();
    code.line("for (ptrdiff_t l = 0; l < {}; ++l) y[l * {}] /= sum;", lines.count, lines.inner);
  }
  code.close(2);
  return {};
}

}  // namespace svengine::tool::emit
