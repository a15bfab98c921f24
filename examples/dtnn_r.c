/* What digits.R calls: the functions of libdtnn that it needs, with R's values.
 *
 *     PKG_CPPFLAGS="$(pkg-config --cflags dtnn)" PKG_LIBS="$(pkg-config --libs dtnn)" \
 *         R CMD SHLIB -o dtnn_r.so examples/dtnn_r.c */

#include <R.h>
#include <Rinternals.h>
#include <dtnn.h>
#include <string.h>

/* R's error where the call has failed, which does not come back; R's warning of its warnings. */
static void check(dtnn_status status, dtnn_report* report) {
    const char* said = dtnn_report_text(report);
    char* text = R_alloc(strlen(said) + 1, 1);
    strcpy(text, said);
    dtnn_report_free(report);
    if (status != DTNN_DONE) Rf_error("%s", text);
    if (*text) Rf_warning("%s", text);
}

static void free_plan(SEXP handle) {
    dtnn_plan_free(R_ExternalPtrAddr(handle));
    R_ClearExternalPtr(handle);
}

static void close_network(SEXP handle) {
    dtnn_close(R_ExternalPtrAddr(handle));
    R_ClearExternalPtr(handle);
}

static SEXP owned(void* address, R_CFinalizer_t finalizer) {
    SEXP handle = PROTECT(R_MakeExternalPtr(address, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(handle, finalizer, TRUE);
    UNPROTECT(1);
    return handle;
}

/* The plan of a job with settings such as "training.epochs=2". */
SEXP compile(SEXP job, SEXP settings) {
    const char** list = (const char**)R_alloc((size_t)LENGTH(settings), sizeof *list);
    dtnn_compile_options how = {
        .size = sizeof how, .settings = list, .settings_count = (size_t)LENGTH(settings)};
    dtnn_plan* plan = NULL;
    dtnn_report* report = NULL;
    int i;
    for (i = 0; i < LENGTH(settings); ++i)
        list[i] = CHAR(STRING_ELT(settings, i));
    dtnn_status status = dtnn_compile_file(CHAR(STRING_ELT(job, 0)), &how, &plan, &report);
    check(status, report);
    return owned(plan, free_plan);
}

SEXP network_of(SEXP plan) {
    dtnn_network* network = NULL;
    dtnn_report* report = NULL;
    dtnn_status status = dtnn_open(R_ExternalPtrAddr(plan), NULL, &network, &report);
    check(status, report);
    return owned(network, close_network);
}

/* R's function is called with the epoch and its loss. An error in it stops the training, as R must
 * not leap over the library's frames. */
static int tell(const dtnn_progress* progress, void* told) {
    int failed = 0;
    SEXP epoch = PROTECT(Rf_ScalarInteger((int)progress->epoch));
    SEXP loss = PROTECT(Rf_ScalarReal(progress->train.list[0].numbers[0]));
    SEXP call = PROTECT(Rf_lang3(told, epoch, loss));
    R_tryEval(call, R_GlobalEnv, &failed);
    UNPROTECT(3);
    return failed;
}

SEXP train(SEXP network, SEXP told) {
    dtnn_train_options how = {.size = sizeof how, .callback = tell, .context = told};
    dtnn_report* report = NULL;
    dtnn_status status = dtnn_train(R_ExternalPtrAddr(network), &how, NULL, &report);
    check(status, report);
    return R_NilValue;
}

/* The loss and the metrics that are one number, by their names. */
SEXP evaluate(SEXP network, SEXP split) {
    dtnn_measures measures;
    dtnn_report* report = NULL;
    dtnn_status status =
        dtnn_evaluate(R_ExternalPtrAddr(network), CHAR(STRING_ELT(split, 0)), &measures, &report);
    int count = 0, i;
    check(status, report);
    SEXP numbers = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)measures.count));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)measures.count));
    for (i = 0; i < (int)measures.count; ++i) {
        if (measures.list[i].count != 1) continue;
        REAL(numbers)[count] = measures.list[i].numbers[0];
        SET_STRING_ELT(names, count++, Rf_mkChar(measures.list[i].name));
    }
    SEXP made = PROTECT(Rf_lengthgets(numbers, count));
    Rf_setAttrib(made, R_NamesSymbol, Rf_lengthgets(names, count));
    UNPROTECT(3);
    return made;
}

/* The probabilities of samples, a column for each: R's arrays, whose first axis goes fastest, are
 * read where they lie. */
SEXP predict(SEXP network, SEXP samples) {
    dtnn_network* of = R_ExternalPtrAddr(network);
    SEXP extents = PROTECT(Rf_coerceVector(Rf_getAttrib(samples, R_DimSymbol), INTSXP));
    int64_t* dims = (int64_t*)R_alloc((size_t)LENGTH(extents), sizeof *dims);
    int64_t* strides = (int64_t*)R_alloc((size_t)LENGTH(extents), sizeof *strides);
    dtnn_array input = {.size = sizeof input,
                        .data = REAL(samples),
                        .dtype = DTNN_F64,
                        .axes_count = (size_t)LENGTH(extents),
                        .dims = dims,
                        .strides = strides};
    dtnn_array_form form = {.size = sizeof form};
    dtnn_report* report = NULL;
    int64_t step = sizeof(double);
    int i, classes = 1;
    if (LENGTH(extents) == 0) Rf_error("samples are an array with dim()");
    for (i = 0; i < LENGTH(extents); ++i) {
        dims[i] = INTEGER(extents)[i];
        strides[i] = step;
        step *= dims[i];
    }
    if (dtnn_output_form(of, &form) != DTNN_DONE) Rf_error("the network predicts nothing");
    for (i = 0; i < (int)form.axes_count; ++i)
        classes *= (int)form.dims[i];
    SEXP made = PROTECT(Rf_allocMatrix(REALSXP, classes, (int)dims[0]));
    dtnn_status status = dtnn_predict(of, &input, 1, REAL(made), DTNN_F64,
                                      sizeof(double) * (size_t)XLENGTH(made), &report);
    check(status, report);
    SEXP names = PROTECT(Rf_allocVector(VECSXP, 2)),
         words = PROTECT(Rf_allocVector(STRSXP, classes));
    for (i = 0; i < classes; ++i) {
        const char* name = dtnn_class_name(of, (size_t)i);
        SET_STRING_ELT(words, i, Rf_mkChar(name ? name : ""));
    }
    SET_VECTOR_ELT(names, 0, words);
    Rf_setAttrib(made, R_DimNamesSymbol, names);
    UNPROTECT(4);
    return made;
}
