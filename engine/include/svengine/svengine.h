/* SVEngine for C programs, and for every language that can call C.
 *
 *     svengine_network* network;
 *     svengine_context* context;
 *     if (svengine_network_load("model.onnx", NULL, &network)) return fail(svengine_last_error());
 *     if (svengine_context_create(network, NULL, &context)) return fail(svengine_last_error());
 *     int64_t shape[2] = {rows, 191};
 *     svengine_tensor x = svengine_dense(SVENGINE_FLOAT64, 2, shape, columns);
 *     svengine_tensor y = {0};                          // no data: memory of the context, good until its next call
 *     if (svengine_run(context, &x, 1, &y, 1)) return fail(svengine_last_error());
 *     const double* drag = y.data;
 *
 * A network is read once and never changes: any number of threads use it at once. A context holds what one call needs (threads, memory,
 * bindings) and belongs to one caller at a time; make one for every thread of yours, or one with a team of threads.
 *
 * Every function that can fail returns a status, SVENGINE_OK being 0; svengine_last_error() says the reason in words. Nothing is printed,
 * nothing ends the program, no exception crosses. Handles that are null, of another kind or freed before are errors, not crashes. The
 * caller's floating-point mode, its flags, its OpenMP settings and its signals are as before after every call. */
#ifndef SVENGINE_SVENGINE_H
#define SVENGINE_SVENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SVENGINE_API
#define SVENGINE_API __attribute__((visibility("default")))
#endif

/* Programs and libraries of the same number work together. Options may grow at their end within a number: a program says the size that it knows,
 * and what it does not have is as by default. */
#define SVENGINE_ABI 2

/* C takes any number for an enum; with its type fixed so does C++, and the library can refuse what it does not know. */
#ifdef __cplusplus
#define SVENGINE_ENUM_TYPE : uint32_t
#else
#define SVENGINE_ENUM_TYPE
#endif

typedef enum svengine_status SVENGINE_ENUM_TYPE {
  SVENGINE_OK = 0,
  SVENGINE_INVALID_HANDLE = 1,   /* null, of another kind, or freed */
  SVENGINE_INVALID_ARGUMENT = 2, /* a null pointer, a count, rank, type, shape or index that cannot be */
  SVENGINE_INVALID_MODEL = 3,    /* the file cannot be read, or is no network that can be run */
  SVENGINE_FAILED = 4,           /* the computation itself: a node's values are impossible, a limit is reached */
  SVENGINE_OUT_OF_MEMORY = 5,
  SVENGINE_UNIMPLEMENTED = 6     /* what was asked for may be right, but this engine lacks it: an operator, a type, a form of either */
} svengine_status;

/* The numbers are those of ONNX (TensorProto.DataType). */
typedef enum svengine_type SVENGINE_ENUM_TYPE {
  SVENGINE_UNKNOWN = 0,
  SVENGINE_FLOAT32 = 1,
  SVENGINE_UINT8 = 2,
  SVENGINE_INT8 = 3,
  SVENGINE_UINT16 = 4,
  SVENGINE_INT16 = 5,
  SVENGINE_INT32 = 6,
  SVENGINE_INT64 = 7,
  SVENGINE_BOOL = 9, /* one byte, 0 or 1 */
  SVENGINE_FLOAT16 = 10,
  SVENGINE_FLOAT64 = 11,
  SVENGINE_UINT32 = 12,
  SVENGINE_UINT64 = 13,
  SVENGINE_BFLOAT16 = 16
} svengine_type;

/* Where the elements of a tensor lie. All pointers are the caller's, and need to last as long as the call.
 *
 *   strides   in elements, one for every dimension; 0 and negative ones are allowed in inputs. NULL: row-major and dense, as C arrays are.
 *             A Fortran array a(n, m) has strides {1, n}.
 *   rows      NULL, or shape[0] numbers that say which rows take part: row i of the tensor is row rows[i] - first_row of `data`, which
 *             has `extent` rows. Rows of an output that are not named are left alone.
 *
 * Inputs and outputs that are dense are read and written in place. Others, and those whose type is converted, are copied once into memory of the
 * context, row by row; it is allocated at the first call with such shapes. */
typedef struct svengine_tensor {
  svengine_type type;
  int32_t rank;
  const int64_t* shape;
  const int64_t* strides;
  const int64_t* rows;
  int64_t extent;
  int64_t first_row;
  void* data;
} svengine_tensor;

static inline svengine_tensor svengine_dense(svengine_type type, int32_t rank, const int64_t* shape, const void* data) {
  svengine_tensor t = {type, rank, shape, NULL, NULL, 0, 0, (void*)data};
  return t;
}

typedef struct svengine_network svengine_network;
typedef struct svengine_context svengine_context;
typedef struct svengine_trainer svengine_trainer;

/* "0.1.0" */
SVENGINE_API const char* svengine_version(void);
/* SVENGINE_ABI of the library. */
SVENGINE_API int32_t svengine_abi(void);
/* Why the last call of this thread that failed did so; "" before the first. Good until the thread's next call. */
SVENGINE_API const char* svengine_last_error(void);

/* ---- Networks ------------------------------------------------------------------------------------------------------------ */

typedef struct svengine_options {
  size_t size;                /* sizeof(svengine_options) */
  const char* kernels;        /* "avx2", "sve512", "reference" (double precision, slow); "openblas": the best there
                                 is, with OpenBLAS's products of matrices; NULL: the best there is */
  const char* cache;          /* a folder for packed weights, which later starts map instead of packing; NULL: none */
  int32_t exact_convolution;  /* 1: never by Winograd's algorithm */
  int32_t convert;            /* 1: floats of 16, 32 and 64 bits are taken for each other, and converted */
  int32_t seeded;             /* 1: nodes that draw numbers and have no seed of their own draw by `seed`: networks with it draw
                                 the same, run by run, in one context or several that take turns */
  uint64_t seed;
} svengine_options;

/* Options begin with these functions, so that what later versions add has its default. They are the program's own, compiled with the size that
 * it knows: a library's would write the size that the library knows. */
static inline svengine_options svengine_options_default(void) {
  svengine_options options = {sizeof(svengine_options), NULL, NULL, 0, 0, 0, 0};
  return options;
}

/* `options` may be NULL. On failure *network is NULL. */
SVENGINE_API svengine_status svengine_network_load(const char* path, const svengine_options* options, svengine_network** network);
/* An ONNX file's bytes, which the call copies; weights in other files are refused. */
SVENGINE_API svengine_status svengine_network_load_memory(const void* bytes, size_t count, const svengine_options* options,
                                                          svengine_network** network);
/* Its contexts may go on. NULL is nothing to free, and no error. */
SVENGINE_API svengine_status svengine_network_free(svengine_network* network);

/* An input or output as the network declares it. Pointers are good while the network is. */
typedef struct svengine_port {
  const char* name;
  svengine_type type;
  int32_t rank;                     /* -1: not known */
  const int64_t* shape;             /* -1: decided by each call */
  const char* const* shape_names;   /* "" where there is none; equal names are equal sizes */
} svengine_port;

/* Either pointer may be NULL. */
SVENGINE_API svengine_status svengine_network_counts(const svengine_network* network, int32_t* inputs, int32_t* outputs);
SVENGINE_API svengine_status svengine_network_input(const svengine_network* network, int32_t index, svengine_port* port);
SVENGINE_API svengine_status svengine_network_output(const svengine_network* network, int32_t index, svengine_port* port);

/* ---- Contexts ------------------------------------------------------------------------------------------------------------ */

typedef struct svengine_context_options {
  size_t size;              /* sizeof(svengine_context_options) */
  int32_t threads;          /* 1: the calling thread alone, also inside its parallel regions; 0: OMP_NUM_THREADS, or every cpu */
  const char* topology;     /* "4x12": groups of threads; NULL: the machine's, with `threads` */
  int32_t keep_denormals;   /* 1: subnormal numbers are not taken for 0 inside calls */
} svengine_context_options;

static inline svengine_context_options svengine_context_options_default(void) {
  svengine_context_options options = {sizeof(svengine_context_options), 1, NULL, 0};
  return options;
}

/* `options` may be NULL: one thread. */
SVENGINE_API svengine_status svengine_context_create(const svengine_network* network, const svengine_context_options* options,
                                                     svengine_context** context);
SVENGINE_API svengine_status svengine_context_free(svengine_context* context);

/* Inputs and outputs in the network's order. An output with data needs the type and shape that the network gives. One without data is filled in:
 * type, rank, shape and data, in memory of the context that is good until its next call. Calls with the shapes of the last one allocate nothing. */
SVENGINE_API svengine_status svengine_run(svengine_context* context, const svengine_tensor* inputs, int32_t input_count,
                                          svengine_tensor* outputs, int32_t output_count);

/* The vector-Jacobian product: what gradients `output_gradients` of the outputs are as gradients of the inputs. For a network with one output of
 * one element, 1 gives the gradient itself: forces, sensitivities, adjoints. An output gradient with type SVENGINE_UNKNOWN is zeros. Outputs and
 * input gradients are filled in as by svengine_run; those of inputs that are no floats stay as they are. `outputs` may be NULL. All arrays have
 * as many entries as the network has inputs or outputs. */
SVENGINE_API svengine_status svengine_run_vjp(svengine_context* context, const svengine_tensor* inputs, int32_t input_count,
                                              const svengine_tensor* output_gradients, svengine_tensor* outputs, int32_t output_count,
                                              svengine_tensor* input_gradients);
/* The Jacobian-vector product: how the outputs change when the inputs change along `input_tangents`; type SVENGINE_UNKNOWN is zeros. */
SVENGINE_API svengine_status svengine_run_jvp(svengine_context* context, const svengine_tensor* inputs, int32_t input_count,
                                              const svengine_tensor* input_tangents, svengine_tensor* outputs, int32_t output_count,
                                              svengine_tensor* output_tangents);

/* ---- Training ------------------------------------------------------------------------------------------------------------ */

typedef struct svengine_trainer_options {
  size_t size;              /* sizeof(svengine_trainer_options) */
  const char* loss;         /* "mse" (the default), "l1", "smooth_l1", "cross_entropy", "nll", "bce_with_logits" */
  const char* optimizer;    /* as in `svengine train --optimizer`: "adam" (the default), "sgd:momentum=0.9", "adamw:weight_decay=0.1" */
  const char* loss_of;      /* the output it is of; NULL: the first */
  double clip_norm;         /* > 0: of all gradients together */
  int64_t accumulate;       /* batches whose mean gradient a step takes */
  int32_t initialise;       /* 1: begin with new weights, drawn by the seed */
  uint64_t seed;
  int32_t threads;          /* 0: OMP_NUM_THREADS, or every cpu */
  const char* kernels;      /* NULL: the best there is */
} svengine_trainer_options;

static inline svengine_trainer_options svengine_trainer_options_default(void) {
  svengine_trainer_options options = {sizeof(svengine_trainer_options), "mse", "adam", NULL, 0, 1, 0, 1, 0, NULL};
  return options;
}

/* Reads a network to train all of its weights. */
SVENGINE_API svengine_status svengine_trainer_load(const char* path, const svengine_trainer_options* options, svengine_trainer** trainer);
SVENGINE_API svengine_status svengine_trainer_free(svengine_trainer* trainer);
/* One batch forward, backward, and into the weights. The leading dimension counts samples. `target`: like the prediction, or labels (int64) of
 * cross_entropy and nll. `rate` is finite, and not negative. `loss` may be NULL. */
SVENGINE_API svengine_status svengine_trainer_step(svengine_trainer* trainer, const svengine_tensor* inputs, int32_t input_count,
                                                   const svengine_tensor* target, double rate, double* loss);
/* The loss in inference mode; changes nothing. */
SVENGINE_API svengine_status svengine_trainer_evaluate(svengine_trainer* trainer, const svengine_tensor* inputs, int32_t input_count,
                                                       const svengine_tensor* target, double* loss);
/* Writes the network with its present weights, in inference mode. */
SVENGINE_API svengine_status svengine_trainer_save(svengine_trainer* trainer, const char* path);
/* The network with its present weights, to be run; later steps do not change it. */
SVENGINE_API svengine_status svengine_trainer_network(svengine_trainer* trainer, const svengine_options* options, svengine_network** network);

#ifdef __cplusplus
}
#endif

#endif
