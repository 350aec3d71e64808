/* Operators of your own, for networks that have nodes which ONNX has not: in C or C++, in the program that runs them or in a plug-in.
 *
 *     static const char* scale(const svengine_call* call, int64_t begin, int64_t end) {
 *       const float* x = call->inputs[0].data;
 *       float* y = call->outputs[0].data;
 *       for (int64_t i = begin; i < end; ++i) y[i] = 2 * x[i];
 *       return NULL;
 *     }
 *     static int64_t elements(const svengine_call* call) { return svengine_elements(&call->inputs[0]); }
 *
 *     static const svengine_operator operators[] = {
 *         {.size = sizeof(svengine_operator), .domain = "my.domain", .name = "Scale", .min_inputs = 1, .max_inputs = 1,
 *          .min_outputs = 1, .max_outputs = 1, .tasks = elements, .compute = scale}};
 *     SVENGINE_PLUGIN(operators)      // or svengine_register_operators(operators, 1) in a program
 *
 * A plug-in is a shared library (cc -shared -fPIC) that needs this header and nothing of SVEngine to be linked: the program loads it
 * (`svengine run --plugin FILE`, svengine_load_plugin()). What is registered is known to the whole process, for as long as it lives.
 *
 * An operator is a function of its inputs and attributes: a node whose inputs are constants may be computed once, equal nodes may become one, and a
 * node whose outputs nobody needs is not computed. All functions may be called by several threads at once. They return NULL, or what went wrong
 * as a text that is never freed (a literal). They let no exception out, and leave the floating-point mode as it is. */
#ifndef SVENGINE_OPERATORS_H
#define SVENGINE_OPERATORS_H

#include "svengine/svengine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plug-ins of one number are taken by libraries of the same number. */
#define SVENGINE_OPERATOR_ABI 1

#define SVENGINE_MOST_DIMENSIONS 8 /* of a shape that svengine_operator::shape gives */
#define SVENGINE_MOST_OPERANDS 64  /* inputs and outputs of a node together */

typedef enum svengine_attribute_kind SVENGINE_ENUM_TYPE {
  SVENGINE_INT = 0,
  SVENGINE_FLOAT = 1,
  SVENGINE_STRING = 2,
  SVENGINE_INTS = 3,
  SVENGINE_FLOATS = 4
} svengine_attribute_kind;

/* An attribute that nodes may have. Others are refused. */
typedef struct svengine_attribute_rule {
  const char* name;
  svengine_attribute_kind kind;
  int32_t required;
} svengine_attribute_rule;

/* An attribute of a node. What it is not of its kind is 0. */
typedef struct svengine_attribute {
  const char* name;
  svengine_attribute_kind kind;
  int32_t present; /* 0: the node does not have it, and all below is 0 */
  int64_t integer;
  double number;
  const char* text;
  const int64_t* integers;
  const float* numbers;
  size_t count; /* of integers or numbers */
} svengine_attribute;

/* An input or output. Elements are row-major and dense, and aligned for their type. */
typedef struct svengine_operand {
  svengine_type type; /* SVENGINE_UNKNOWN: the node does not have it */
  int32_t rank;
  /* In svengine_operator::shape, sizes that are not known yet are negative: equal numbers stand for equal sizes. Hand them on as they are. */
  const int64_t* shape;
  void* data; /* in svengine_operator::compute alone, elsewhere NULL; NULL too where there are no elements. Inputs are not to be written. */
} svengine_operand;

static inline int64_t svengine_elements(const svengine_operand* operand) {
  int64_t n = 1;
  for (int32_t i = 0; i < operand->rank; ++i) n *= operand->shape[i];
  return n;
}

/* A node, as the functions of its operator see it. Later versions may append to it. */
typedef struct svengine_call {
  size_t size;                          /* sizeof(svengine_call) */
  void* user;                           /* svengine_operator::user */
  const svengine_attribute* attributes; /* one for each of svengine_operator::attributes, in that order */
  const svengine_operand* inputs;
  const svengine_operand* outputs; /* in svengine_operator::shape their types alone are known */
  size_t attribute_count;
  int32_t input_count, output_count;
  /* In svengine_operator::compute: svengine_operator::scratch_bytes of this thread's own, aligned to 64 bytes; undefined contents; null for none. */
  void* scratch;
} svengine_call;

typedef struct svengine_shape {
  int32_t rank;
  int64_t sizes[SVENGINE_MOST_DIMENSIONS];
} svengine_shape;

/* Sets of element types, for svengine_operator::input_types. */
#define SVENGINE_TYPE_SET(type) (1u << (type))
/* For svengine_operator::output_types: as input i is. */
#define SVENGINE_TYPE_OF_INPUT(i) (-1 - (i))

/* What is left 0 has the meaning given. */
typedef struct svengine_operator {
  size_t size; /* sizeof(svengine_operator) */
  const char* domain;
  const char* name;
  int32_t since, until; /* opsets of the domain whose form this is; 0: from 1, and without end */

  int32_t min_inputs, max_inputs; /* max -1: any number. Inputs behind the first min_inputs may be absent */
  int32_t min_outputs, max_outputs;
  const svengine_attribute_rule* attributes;
  size_t attribute_count;

  /* What input i may be: entry i, the last entry for all behind it. NULL: every type of svengine_type */
  const uint32_t* input_types;
  size_t input_types_count;
  /* An svengine_type, or SVENGINE_TYPE_OF_INPUT(k); the last entry for all outputs behind it. NULL: output i has the type of input i */
  const int32_t* output_types;
  size_t output_types_count;

  /* Fills `outputs`, output_count of them, which are of rank 0 before; not called while an input's rank is not known. NULL: output i has the shape of
   * input i. */
  const char* (*shape)(const svengine_call* call, svengine_shape* outputs);
  /* How many parts the work has that can be done independently, by shapes and attributes alone; an element, a row, an image. NULL: one. */
  int64_t (*tasks)(const svengine_call* call);
  /* NULL: none. */
  int64_t (*scratch_bytes)(const svengine_call* call);
  /* Does parts [begin, end), for disjoint ranges in several threads at once, and writes every element of its share of the outputs. The cut depends on
   * the number of threads: results must not. */
  const char* (*compute)(const svengine_call* call, int64_t begin, int64_t end);

  /* The operator of the same domain that computes gradients, which may be registered later; NULL: none, and training or derivatives through
   * this one are refused. Its inputs are this one's inputs, outputs and the gradients of the outputs, in this order, as many of each as the
   * node has; its output i is the gradient of input i, of the same type and shape (what is given for inputs that are no floats is not used).
   * Its attributes are this one's. */
  const char* gradient;
  void* user;
} svengine_operator;

/* Makes operators known that are neither the engine's nor known already; all or none. What `operators` points at is copied, but for functions and
 * `user`. Thread-safe. */
SVENGINE_API svengine_status svengine_register_operators(const svengine_operator* operators, size_t count);

/* Loads a shared library and registers what it has. One that is loaded already is no error. Its initialisers run with all rights of the process. */
SVENGINE_API svengine_status svengine_load_plugin(const char* path);

/* What a plug-in exports, under the name svengine_plugin_table. */
typedef struct svengine_plugin {
  int32_t abi;          /* SVENGINE_OPERATOR_ABI */
  size_t operator_size; /* sizeof(svengine_operator) */
  size_t count;
  const svengine_operator* operators;
} svengine_plugin;

/* Once in a plug-in, with an array of its operators. */
#ifdef __cplusplus
#define SVENGINE_PLUGIN(array) \
  extern "C" SVENGINE_API const svengine_plugin svengine_plugin_table = {SVENGINE_OPERATOR_ABI, sizeof(svengine_operator), \
                                                                         sizeof(array) / sizeof(array[0]), array};
#else
#define SVENGINE_PLUGIN(array) \
  SVENGINE_API const svengine_plugin svengine_plugin_table = {SVENGINE_OPERATOR_ABI, sizeof(svengine_operator), \
                                                              sizeof(array) / sizeof(array[0]), array};
#endif

#ifdef __cplusplus
}
#endif

#endif
