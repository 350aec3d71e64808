# svengine_op_table(OUTPUT file...): writes the registry's table, every "OpDef define_<operator>()" that the operator files
# define: one each, or several where small operators of a kind share a file.
include_guard()

function(svengine_op_table output)
  set(declarations "")
  set(definitions "")
  foreach(source IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} lines REGEX "^OpDef define_[a-z0-9_]+\\(\\) {")
    if(NOT lines)
      message(FATAL_ERROR "${source} defines no operator: OpDef define_<operator>() { ... }")
    endif()
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^OpDef (define_[a-z0-9_]+).*" "\\1" function "${line}")
      string(APPEND declarations "OpDef ${function}();\n")
      string(APPEND definitions "    ops::${function},\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT [[
// Made by cmake/SvengineOps.cmake from the files below engine/ops.
#include "engine/ops/custom_operator.h"
#include "engine/ops/registry.h"

namespace svengine {
namespace ops {
@declarations@}  // namespace ops

namespace {

/// One after the other: a list in braces would be copied.
std::vector<OpDef> definitions() {
  constexpr OpDef (*kDefinitions[])() = {
@definitions@  };
  std::vector<OpDef> made;
  made.reserve(std::size(kDefinitions));
  for (const auto define : kDefinitions) made.push_back(define());
  return made;
}

}  // namespace

const OpRegistry& all_ops() {
  static const OpRegistry registry(definitions(), {find_custom_operator, newest_custom_opset});
  return registry;
}

}  // namespace svengine
]])
endfunction()
