// What kernels ask of their arguments, in a form that can be checked: the words of the family headers as functions.
//
// Kernels check nothing themselves. They are entered through sve/checked.h, where one test of a constant costs nothing beside the
// call; in a process whose environment has SVENGINE_CHECK_CONTRACTS=1, as CTest sets it for all tests, the first call that breaks a
// contract ends the program with a message that names kernel and argument. What only a kernel set knows (its lanes, which functions
// it has for a type) is not looked at. Here are the families of networks' forward passes; attention, recurrent, quantized, data and
// gradient kernels have contract_<family>.h.
#pragma once
#include "engine/kernels/conv.h"
#include "engine/kernels/elementwise.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/norm.h"
#include "engine/kernels/pool.h"
#include "engine/kernels/reduce.h"
#include "engine/kernels/softmax.h"

namespace svengine::kernels {

/// The first rule that a call with these arguments breaks, or null: "elementwise binary: y overlaps a". For calls that have
/// tasks.
const char* violation(const UnaryArgs& args) noexcept;
const char* violation(const BinaryArgs& args) noexcept;
const char* violation(const WhereArgs& args) noexcept;
const char* violation(const CastArgs& args) noexcept;
const char* violation(const PoolArgs& args) noexcept;
const char* violation(const GlobalPoolArgs& args) noexcept;
const char* violation(const ConvArgs& args) noexcept;
const char* violation(const GemmArgs& args) noexcept;
const char* violation(const GemmArgsOf<double>& args) noexcept;
const char* violation(const GemmRowsArgsOf<float>& args) noexcept;
const char* violation(const GemmRowsArgsOf<double>& args) noexcept;
const char* violation(const DenseChainArgsOf<float>& args) noexcept;
const char* violation(const DenseChainArgsOf<double>& args) noexcept;
const char* violation(const RowNormArgs& args) noexcept;
const char* violation(const GroupNormArgs& args) noexcept;
const char* violation(const GroupNormArgsF64& args) noexcept;
const char* violation(const LineNormArgs& args) noexcept;
const char* violation(const LineNormArgsF64& args) noexcept;
const char* violation(const ChannelAffineArgs& args) noexcept;
const char* violation(const LocalResponseArgs& args) noexcept;
const char* violation(const ReduceArgs& args) noexcept;
const char* violation(const ArgReduceArgs& args) noexcept;
const char* violation(const TopKArgs& args) noexcept;
const char* violation(const SoftmaxArgs& args) noexcept;
const char* violation(const SoftmaxArgsF64& args) noexcept;

/// Whether this process checks contracts. It then also poisons the memory of runs (runtime/executor.h), so that what is read before
/// it is written is NaN. Read from the environment before main().
extern const bool contract_checks;

/// Ends the program with the message, if there is one.
void enforce(const char* violation) noexcept;

}  // namespace svengine::kernels
