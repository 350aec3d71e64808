// What the inference functions of operators share: sets of element types, checks that word their errors alike, and arithmetic
// on dimensions that may be symbolic or unknown.
//
// Unknown ranks and dimensions pass every check; they are checked again when the plan is made, all shapes being concrete.
#pragma once
#include <cstdint>
#include <string>

#include "engine/graph/op_def.h"

namespace svengine::ops {

inline constexpr DTypeSet kRealTypes{DType::f32, DType::f64, DType::f16, DType::bf16};  // floating point that is computed with
inline constexpr DTypeSet kSingleTypes{DType::f32, DType::f16, DType::bf16};  // float32, and what is computed in it
inline constexpr DTypeSet kSignedTypes{DType::i8, DType::i16, DType::i32, DType::i64};
inline constexpr DTypeSet kUnsignedTypes{DType::u8, DType::u16, DType::u32, DType::u64};
inline constexpr DTypeSet kIntegerTypes = kSignedTypes | kUnsignedTypes;
inline constexpr DTypeSet kBytes{DType::u8, DType::i8};
inline constexpr DTypeSet kNumericTypes = kRealTypes | kIntegerTypes;
inline constexpr DTypeSet kBool{DType::boolean};
inline constexpr DTypeSet kIndexTypes{DType::i32, DType::i64};
inline constexpr DTypeSet kWideTypes = kRealTypes | kIndexTypes | DTypeSet{DType::u32, DType::u64};
inline constexpr DTypeSet kFloat8Types{DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz};
inline constexpr DTypeSet kStoredTypes = kDenseTypes;  // everything but strings
inline constexpr DTypeSet kAllTypes = kDenseTypes | DTypeSet{DType::string};

Status require_dtype(const InferContext& c, size_t input, DTypeSet allowed);
/// The element type that attribute `name` numbers, `otherwise` where it is absent: one of `allowed`, in which undefined stands for 0.
Result<DType> dtype_attribute(const Attributes& attributes, const char* name, DType otherwise, DTypeSet allowed);
/// All present inputs from `first` on have the type of input `first`.
Status require_same_dtypes(const InferContext& c, size_t first = 0);
Status require_rank(const InferContext& c, size_t input, int64_t rank);
Status require_rank_at_least(const InferContext& c, size_t input, int64_t rank);
/// A scalar, or one element of rank 1.
Status require_single(const InferContext& c, size_t input);

/// OpDef::kernel_types_of where all floating-point inputs have to be of one type: float64 if one of them is, else float32.
DTypeSet one_real_type(const Node& node);

/// A vector with one element for each channel of input 0 (dimension 1).
Status require_per_channel(const InferContext& c, size_t input);

/// Two inputs that are read element by element: no dimension may differ.
Status require_same_shape(const InferContext& c, size_t a, size_t b);

/// `rank` unknown dimensions.
Shape unknown_dims(int64_t rank);

/// Both are numbers, and different ones.
inline bool known_different(const Dim& a, const Dim& b) { return a.is_static() && b.is_static() && a.value() != b.value(); }
/// What is known of a dimension described twice: the number if there is one, else the name.
Dim merge(const Dim& a, const Dim& b);
Dim add(const Dim& a, const Dim& b);
Dim multiply(const Dim& a, const Dim& b);
/// Product of dims [begin, end) of a shape of known rank.
Dim product(const Shape& shape, size_t begin, size_t end);

}  // namespace svengine::ops
