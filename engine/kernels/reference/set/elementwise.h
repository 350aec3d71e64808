// The parts of the elementwise family, by items (tasks.h); elementwise.cc holds its table.
#pragma once
#include "engine/kernels/elementwise.h"

namespace svengine::kernels::reference {

bool has_unary(UnaryOp op, DType type) noexcept;
int64_t unary_items(const UnaryArgs& args);
void unary_range(const UnaryArgs& args, int64_t begin, int64_t end, void*);

bool has_binary(BinaryOp op, DType type) noexcept;
int64_t binary_items(const BinaryArgs& args);
void binary_range(const BinaryArgs& args, int64_t begin, int64_t end, void*);

int64_t cast_items(const CastArgs& args);
void cast_range(const CastArgs& args, int64_t begin, int64_t end, void*);

}  // namespace svengine::kernels::reference
