#ifndef DTNN_H
#define DTNN_H
/* libdtnn: compiles jobs to execution plans and runs plans in the process that calls, as the
 * programs dtnnc and dtnn-run do, by the same functions. docs/library.md has examples.
 *
 * Handles. A plan, a network and a report are opaque. A handle belongs to one thread at a time;
 * different handles are used at once by any threads, networks of the same plan, too. A function
 * that gives a handle gives NULL where it fails. Every *_free takes NULL.
 *
 * Errors. Functions return a status, which is the exit code of the programs. `report` may be NULL;
 * otherwise it becomes a report of what is to be said (the error, diagnostics, warnings), or NULL
 * where there is nothing; the caller frees it. No exception leaves the library, nothing ends the
 * process, nothing is printed. What a call was to write is not to be read after an error.
 *
 * Texts are UTF-8. What the library gives as `char**` is freed by dtnn_free; what it gives as
 * `const char*` belongs to the handle that it was asked of.
 *
 * Structs with a `size` are filled in by the caller with sizeof of the struct, so that later
 * versions may add members; all else of an options struct may be zero, which is the default.
 *
 * Threads and the process. A network computes on the calling thread and on threads of its own,
 * which end with it. Calls compute in the default floating point environment (subnormal numbers
 * as the plan says) and leave the caller's as it was. The library has no signal handlers, changes
 * neither locale nor environment, and never pins threads: a plan's `pin_threads` is not obeyed.
 * Of the environment it reads what the programs read: OMP_NUM_THREADS, DTNN_SPEC_PATH,
 * DTNN_TUNING, DTNN_CODEGEN, DTNN_CACHE_DIR. A process that forks frees its networks before. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(DTNN_BUILDS_LIBRARY)
#define DTNN_API __attribute__((visibility("default")))
#else
#define DTNN_API
#endif

/* The exit codes of the programs (docs/commands). */
typedef int dtnn_status;
enum {
    DTNN_DONE = 0,
    DTNN_FAILED = 1,       /* the run failed, or a file cannot be read or written */
    DTNN_USAGE = 2,        /* an argument is wrong */
    DTNN_INVALID_SPEC = 3, /* a spec is invalid */
    DTNN_OVER_BUDGET = 4,  /* the plan does not fit the memory budget */
    DTNN_MISMATCH = 5,     /* plan, machine or weights do not match */
    DTNN_DIVERGED = 6,     /* a loss or a prediction is not a number */
    DTNN_INTERNAL = 70     /* an error of the library: please report it */
};

typedef struct dtnn_plan dtnn_plan;
typedef struct dtnn_network dtnn_network;
typedef struct dtnn_report dtnn_report;

/* "0.2.0" */
DTNN_API const char* dtnn_version(void);
/* The folder of what is shipped with the library (share/dtnn/specs); NULL: it was not found. */
DTNN_API const char* dtnn_specs(void);
DTNN_API void dtnn_free(char* text);

/* ---- Reports ---- */

enum { DTNN_ERROR = 0, DTNN_WARNING = 1 };

typedef struct dtnn_diagnostic {
    size_t size;
    int severity;
    const char* code; /* "unknown-field", as `dtnnc explain` has it; "" where there is none */
    const char* file; /* "" where it is about no place */
    int line, column; /* from 1; 0: no place */
    int width;        /* columns that are meant */
    const char* text; /* the fact, then the rule */
    const char* help; /* the remedy; "" where there is none */
} dtnn_diagnostic;

DTNN_API void dtnn_report_free(dtnn_report* report);
DTNN_API dtnn_status dtnn_report_status(const dtnn_report* report);
/* All of it as people read it, with the lines of specs that it is about. */
DTNN_API const char* dtnn_report_text(const dtnn_report* report);
/* {"version": 1, "errors", "warnings", "diagnostics": [...]}, as `dtnnc check --format json`. */
DTNN_API const char* dtnn_report_json(const dtnn_report* report);
DTNN_API size_t dtnn_report_count(const dtnn_report* report);
/* DTNN_USAGE for an index of none. */
DTNN_API dtnn_status dtnn_report_diagnostic(const dtnn_report* report, size_t index,
                                            dtnn_diagnostic* diagnostic);

/* ---- Plans ---- */

typedef struct dtnn_compile_options {
    size_t size;
    const char* const* settings; /* "training.epochs=3", as --set has them */
    size_t settings_count;
    const char* const* spec_path; /* folders, before DTNN_SPEC_PATH and the shipped specs */
    size_t spec_path_count;
    const char* device;    /* NULL: "cpu" */
    const char* isa;       /* NULL: the job's machine's, else this processor's */
    int threads;           /* 0: the job's, else this machine's cores */
    int ranks;             /* that the plan is for; 0: as the job says */
    int64_t memory_budget; /* bytes of a rank; 0: the job's */
    int without_tuning;    /* not 0: kernels are chosen without measured times */
} dtnn_compile_options;

/* The plan of a job, or of a model alone, as `dtnnc compile` writes it. `options` may be NULL. */
DTNN_API dtnn_status dtnn_compile_file(const char* path, const dtnn_compile_options* options,
                                       dtnn_plan** plan, dtnn_report** report);
/* The same of a text of YAML; `name` stands for its file in messages, and says in which folder the
 * files that it names are looked for. */
DTNN_API dtnn_status dtnn_compile_text(const char* text, size_t bytes, const char* name,
                                       const dtnn_compile_options* options, dtnn_plan** plan,
                                       dtnn_report** report);
/* A plan is verified and audited when it is read. */
DTNN_API dtnn_status dtnn_plan_read(const char* path, dtnn_plan** plan, dtnn_report** report);
DTNN_API dtnn_status dtnn_plan_parse(const char* text, size_t bytes, const char* name,
                                     dtnn_plan** plan, dtnn_report** report);
DTNN_API void dtnn_plan_free(dtnn_plan* plan);

/* The plan's file form: the same bytes for the same plan. Belongs to the plan. */
DTNN_API const char* dtnn_plan_text(const dtnn_plan* plan, size_t* bytes);
DTNN_API dtnn_status dtnn_plan_write(const dtnn_plan* plan, const char* path,
                                     dtnn_report** report);
DTNN_API const char* dtnn_plan_name(const dtnn_plan* plan);
/* The plan's identity: 32 hexadecimal digits. */
DTNN_API const char* dtnn_plan_checksum(const dtnn_plan* plan);
/* The job with everything resolved, as one document of YAML. */
DTNN_API const char* dtnn_plan_resolved(const dtnn_plan* plan);

/* The layer table, parameters, memory and work: `form` is table, markdown, csv or json; `width` of
 * a table in characters, 0: 120. */
DTNN_API dtnn_status dtnn_plan_summary(const dtnn_plan* plan, const char* form, int width,
                                       char** text, dtnn_report** report);
/* What differs from `a` to `b`, and what it means for the run; `form` is text or json. `changes`
 * (may be NULL) becomes 0 where nothing differs, 2 where the mathematics does, else 1. Datasets are
 * not read. */
DTNN_API dtnn_status dtnn_plan_diff(const dtnn_plan* a, const dtnn_plan* b, const char* form,
                                    char** text, int* changes, dtnn_report** report);
/* What the job takes on a machine, as `dtnnc forecast --format json` says it. `machine` is a spec's
 * file or name, NULL: the job's own; without `ranks` for the numbers of ranks that it has. */
DTNN_API dtnn_status dtnn_plan_forecast(const dtnn_plan* plan, const char* machine,
                                        const int* ranks, size_t ranks_count, char** json,
                                        dtnn_report** report);

/* Bytes of a rank. */
typedef struct dtnn_memory {
    size_t size;
    int64_t host;    /* of the machine's memory, in all, at most */
    int64_t certain; /* the part of it that is taken in any case */
    int64_t device;  /* of a device's own memory; 0: it has none */
    /* What these are of: */
    int64_t arena, parameters, optimizer, transient, staging, samples;
} dtnn_memory;
DTNN_API dtnn_status dtnn_plan_memory(const dtnn_plan* plan, dtnn_memory* memory);

/* ---- Networks: plans that are run ---- */

enum {
    DTNN_F32 = 0,
    DTNN_F64 = 1,
    DTNN_U8 = 2,
    DTNN_I8 = 3,
    DTNN_U16 = 4,
    DTNN_I16 = 5,
    DTNN_U32 = 6,
    DTNN_I32 = 7,
    DTNN_U64 = 8,
    DTNN_I64 = 9,
    DTNN_BOOL = 10 /* bytes of 0 and 1 */
};

typedef struct dtnn_open_options {
    size_t size;
    int threads;            /* 0: OMP_NUM_THREADS, else the plan's; never more than the plan's */
    const char* weights;    /* a file to begin with; NULL: first values by the plan's seed */
    const char* run_folder; /* where a training writes what dtnn-run does; NULL: nowhere */
    int replace_run;        /* not 0: a run that the folder holds is replaced */
} dtnn_open_options;

/* The plan is copied. The dataset is opened by the first call that needs it, so that predicting
 * does without. `options` may be NULL. */
DTNN_API dtnn_status dtnn_open(const dtnn_plan* plan, const dtnn_open_options* options,
                               dtnn_network** network, dtnn_report** report);
DTNN_API void dtnn_close(dtnn_network* network);
DTNN_API int dtnn_threads(const dtnn_network* network);

/* What an input, the predictions or a weight are. */
typedef struct dtnn_array_form {
    size_t size;
    const char* name;  /* "" for the only input */
    int dtype;         /* of predictions and weights; of an input DTNN_F32, or DTNN_I32 where it
                        * takes integers */
    size_t axes_count; /* without the axis of samples */
    const int64_t* dims;     /* of an input as it is given, before transforms; 0: of any extent */
    const char* const* axes; /* what they are: "channel", "space", "step", "feature"; "" unknown */
    int64_t values;          /* of integers: how many there are, from 0; else 0 */
} dtnn_array_form;

DTNN_API size_t dtnn_input_count(const dtnn_network* network);
DTNN_API dtnn_status dtnn_input_form(const dtnn_network* network, size_t index,
                                     dtnn_array_form* form);

/* What a number of a prediction means. */
enum {
    DTNN_PROBABILITIES = 0, /* of classes: along the channels or features they add up to 1 */
    DTNN_LABELS = 1,        /* probabilities of labels, of which a sample has any number */
    DTNN_SCORES = 2,        /* of classes or labels: the larger, the likelier */
    DTNN_VALUES = 3         /* real numbers */
};
typedef struct dtnn_prediction_form {
    size_t size;
    int meaning;
    int64_t batch; /* samples that are computed at once; a call of fewer costs as much */
} dtnn_prediction_form;
/* A plan without a program that predicts is a mismatch, here and in the next two. */
DTNN_API dtnn_status dtnn_prediction(const dtnn_network* network, dtnn_prediction_form* form);
/* The predictions of a sample. */
DTNN_API dtnn_status dtnn_output_form(const dtnn_network* network, dtnn_array_form* form);
/* The class, or the label, of this number; NULL: it has no name. */
DTNN_API const char* dtnn_class_name(const dtnn_network* network, size_t index);

/* An array of the caller's, which is read where it lies: samples along the first axis, then the
 * input's axes in logical order (an image's are channels, height, width). */
typedef struct dtnn_array {
    size_t size;
    const void* data;
    int dtype;
    size_t axes_count;
    const int64_t* dims;
    const int64_t* strides; /* bytes from one element to the next along each axis; NULL: row-major */
} dtnn_array;

/* Predicts for all samples of the arrays, one for each input, in batches of the plan's; what a
 * sample's prediction is depends on no other sample. Inputs become what `dtnn-run predict` makes of
 * a .npy file: bytes of images are divided by 255, other numbers are taken as they are and must be
 * finite, then the dataset's transforms (without augmentations) are applied. `predictions` has room
 * for [samples, dims] of `dtype` (DTNN_F32 or DTNN_F64), `bytes` of it in all, row-major. */
DTNN_API dtnn_status dtnn_predict(dtnn_network* network, const dtnn_array* inputs,
                                  size_t inputs_count, void* predictions, int dtype, size_t bytes,
                                  dtnn_report** report);

/* The loss, or a metric, of a pass over samples. */
typedef struct dtnn_measure {
    const char* name;
    const double* numbers; /* one; one for each class; or a matrix, row by row */
    size_t count;
    size_t columns; /* of a matrix; else 1 */
} dtnn_measure;
typedef struct dtnn_measures {
    int64_t samples; /* 0: there was no such pass, and there are none */
    const dtnn_measure* list;
    size_t count; /* the loss first, then the plan's metrics */
} dtnn_measures;

/* The loss and the metrics on a split of the plan's dataset: train, validation or test. What
 * `measures` points to is the network's, until its next call. */
DTNN_API dtnn_status dtnn_evaluate(dtnn_network* network, const char* split,
                                   dtnn_measures* measures, dtnn_report** report);

enum { DTNN_STEP = 0, DTNN_EPOCH = 1 };
typedef struct dtnn_progress {
    size_t size;
    int event;             /* after a step: `train` is the epoch so far; or after an epoch */
    int64_t epoch, epochs; /* from 1 */
    int64_t step, steps;   /* of the epoch, from 1 */
    int64_t total_steps;   /* since the training began */
    double learning_rate;  /* after an epoch; else 0 */
    double samples_per_second; /* likewise */
    double seconds;            /* since the epoch began */
    dtnn_measures train;
    dtnn_measures validation; /* after an epoch */
} dtnn_progress;
/* Called on the thread that trains. Not 0: the training stops after the update that it is at; it
 * can be gone on with. What `progress` points to is good for the call. The network must not be
 * used, and no exception thrown. */
typedef int (*dtnn_callback)(const dtnn_progress* progress, void* context);

typedef struct dtnn_train_options {
    size_t size;
    int64_t epochs; /* so many more; 0: all that are left */
    int64_t steps;  /* so many more, to the end of an update; 0: as `epochs` says. Not both */
    dtnn_callback callback; /* may be NULL */
    void* context;
    int every_step; /* not 0: the callback is also told of steps */
} dtnn_train_options;

typedef struct dtnn_training {
    size_t size;
    int64_t epoch; /* epochs done */
    int64_t step;  /* steps done */
    int ended;     /* not 0: the training is over; further calls change nothing */
    int stopped;   /* not 0: the callback has stopped it */
} dtnn_training;

/* Trains on from where the network is, to the bits of `dtnn-run` with the same plan, whatever it is
 * cut into. With `options` NULL to its end. When the training ends, best weights come back where
 * the plan says so, and a run folder gets its last files; `training` may be NULL. */
DTNN_API dtnn_status dtnn_train(dtnn_network* network, const dtnn_train_options* options,
                                dtnn_training* training, dtnn_report** report);

/* Weights and moving statistics by the plan's names, in logical shape, row-major. */
DTNN_API size_t dtnn_weight_count(const dtnn_network* network);
DTNN_API dtnn_status dtnn_weight_form(const dtnn_network* network, size_t index,
                                      dtnn_array_form* form);
/* `bytes` is the size of the whole array. */
DTNN_API dtnn_status dtnn_weight_read(dtnn_network* network, const char* name, void* data,
                                      size_t bytes, dtnn_report** report);
DTNN_API dtnn_status dtnn_weight_write(dtnn_network* network, const char* name, const void* data,
                                       size_t bytes, dtnn_report** report);
/* A safetensors file, as a run's weights.safetensors. */
DTNN_API dtnn_status dtnn_weights_save(dtnn_network* network, const char* path,
                                       dtnn_report** report);

typedef struct dtnn_load_options {
    size_t size;
    const char* map;    /* NULL: a shipped one where it fits, as --map */
    const char* layout; /* NULL: "auto", as --layout */
    const char* match;  /* NULL: "auto", as --match */
    int allow_missing;  /* as --allow-missing */
    int cast;           /* as --cast */
} dtnn_load_options;
/* A safetensors or .npz file. Where there is an error, nothing has been changed. */
DTNN_API dtnn_status dtnn_weights_load(dtnn_network* network, const char* path,
                                       const dtnn_load_options* options, dtnn_report** report);

#ifdef __cplusplus
}
#endif
#endif
