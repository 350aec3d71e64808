# svengine_op_table(OUTPUT file...): writes the registry's table from the names of the operator files, one function call each.
include_guard()

function(svengine_op_table output)
  set(declarations "")
  set(calls "")
  foreach(source IN LISTS ARGN)
    get_filename_component(op ${source} NAME_WE)
    string(APPEND declarations "OpDef define_${op}();\n")
    string(APPEND calls "      ops::define_${op}(),\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
// Made by cmake/SvengineOps.cmake from the files below engine/ops.
#include "engine/ops/registry.h"

namespace svengine {
namespace ops {
@declarations@}  // namespace ops

const OpRegistry& all_ops() {
  static const OpRegistry registry({
@calls@  });
  return registry;
}

}  // namespace svengine
]])
endfunction()
