// What the gradient rules of element-by-element operators share.
#pragma once
#include "engine/graph/gradient.h"

namespace svengine::ops {

/// Input 0 gets dy f'(v): `function` is a name of svengine.ActivationGrad, v the input or the output as that function wants it.
Status set_activation_gradient(GradientContext& c, const char* function, Value* v, float alpha = 0, float beta = 0);

/// Min and Max: an element's gradient goes to the operand it was taken from, in equal shares where several are equal (as in
/// PyTorch).
Status extremum_gradient(GradientContext& c);

}  // namespace svengine::ops
