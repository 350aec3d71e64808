/* An operator that ONNX has not: the derivative of a periodic field along its last axis, by central differences.
 *
 *     y[i] = (x[i + 1] - x[i - 1]) / (2 spacing)          i modulo n
 *
 *     cc -shared -fPIC -O3 -o periodic_difference.so periodic_difference.c $(pkg-config --cflags svengine)
 *     svengine run model.onnx --plugin ./periodic_difference.so
 *
 * Its matrix is antisymmetric, so the gradient with respect to x is minus the derivative of that with respect to y. */
#include <svengine/operators.h>

static int64_t row_length(const svengine_operand* operand) { return operand->rank ? operand->shape[operand->rank - 1] : 1; }

/* A row is a task. */
static int64_t rows(const svengine_call* call) {
  const int64_t n = row_length(&call->inputs[0]);
  return n ? svengine_elements(&call->inputs[0]) / n : 0;
}

static double spacing_of(const svengine_call* call) { return call->attributes[0].present ? call->attributes[0].number : 1.0; }

#define DIFFERENCE(T)                                                                                         \
  static void difference_##T(const T* field, T* out, int64_t begin, int64_t end, int64_t n, double factor) { \
    for (int64_t row = begin; row < end; ++row) {                                                             \
      const T* x = field + row * n;                                                                           \
      T* y = out + row * n;                                                                                   \
      for (int64_t i = 1; i + 1 < n; ++i) y[i] = (T)factor * (x[i + 1] - x[i - 1]);                           \
      y[0] = (T)factor * (x[n > 1 ? 1 : 0] - x[n - 1]);                                                       \
      y[n - 1] = (T)factor * (x[0] - x[n > 1 ? n - 2 : 0]);                                                   \
    }                                                                                                         \
  }
DIFFERENCE(float)
DIFFERENCE(double)

static const char* apply(const svengine_call* call, const svengine_operand* field, double factor, int64_t begin, int64_t end) {
  const int64_t n = row_length(field);
  if (field->type == SVENGINE_FLOAT64) difference_double((const double*)field->data, (double*)call->outputs[0].data, begin, end, n, factor);
  else difference_float((const float*)field->data, (float*)call->outputs[0].data, begin, end, n, factor);
  return NULL;
}

static const char* forward(const svengine_call* call, int64_t begin, int64_t end) {
  const double spacing = spacing_of(call);
  if (!(spacing > 0)) return "spacing must be above 0";
  return apply(call, &call->inputs[0], 0.5 / spacing, begin, end);
}

/* Inputs: x, y and the gradient of y. */
static const char* backward(const svengine_call* call, int64_t begin, int64_t end) {
  return apply(call, &call->inputs[2], -0.5 / spacing_of(call), begin, end);
}

static const svengine_attribute_rule kAttributes[] = {{"spacing", SVENGINE_FLOAT, 0}};
static const uint32_t kTypes[] = {SVENGINE_TYPE_SET(SVENGINE_FLOAT32) | SVENGINE_TYPE_SET(SVENGINE_FLOAT64)};

static const svengine_operator kOperators[] = {
    {.size = sizeof(svengine_operator), .domain = "example.fields", .name = "PeriodicDifference",
     .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1, .attributes = kAttributes, .attribute_count = 1,
     .input_types = kTypes, .input_types_count = 1, .tasks = rows, .compute = forward, .gradient = "PeriodicDifferenceGrad"},
    {.size = sizeof(svengine_operator), .domain = "example.fields", .name = "PeriodicDifferenceGrad",
     .min_inputs = 3, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1, .attributes = kAttributes, .attribute_count = 1,
     .input_types = kTypes, .input_types_count = 1, .tasks = rows, .compute = backward},
};
SVENGINE_PLUGIN(kOperators)
