/* The header as a C99 program sees it: compiles a job, trains, predicts, and reads what is wrong
 * with another job. */

#include <dtnn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

static const char kJob[] =
    "kind: job\n"
    "model: simplecnn\n"
    "dataset: {kind: dataset, name: few, type: digits, train_samples: 320, test_samples: 64}\n"
    "training: {kind: training, name: short, optimizer: adam, batch_size: 32, epochs: 2,\n"
    "           metrics: [categorical_accuracy]}\n";

static void succeed(dtnn_status status, dtnn_report** report) {
    if (status != DTNN_DONE) printf("%s", dtnn_report_text(*report));
    CHECK(status == DTNN_DONE);
    dtnn_report_free(*report);
}

static int count_epochs(const dtnn_progress* progress, void* context) {
    int* epochs = context;
    CHECK(progress->event == DTNN_EPOCH);
    CHECK(progress->epoch == ++*epochs);
    CHECK(progress->train.count == 2 && strcmp(progress->train.list[0].name, "loss") == 0);
    return 0;
}

static void check_mistake(void) {
    static const char text[] = "kind: job\nmodel: simplecnn\ndataset: digits\ntrainning: adam\n";
    dtnn_plan* plan = NULL;
    dtnn_report* report = NULL;
    dtnn_diagnostic first;
    CHECK(dtnn_compile_text(text, strlen(text), "job.yaml", NULL, &plan, &report) ==
          DTNN_INVALID_SPEC);
    CHECK(plan == NULL && dtnn_report_status(report) == DTNN_INVALID_SPEC);
    CHECK(dtnn_report_count(report) > 0);
    first.size = sizeof first;
    CHECK(dtnn_report_diagnostic(report, 0, &first) == DTNN_DONE);
    CHECK(first.severity == DTNN_ERROR && strcmp(first.file, "job.yaml") == 0 && first.line == 4);
    CHECK(strstr(first.text, "trainning") != NULL && strstr(first.help, "training") != NULL);
    CHECK(dtnn_report_diagnostic(report, 1000, &first) == DTNN_USAGE);
    dtnn_report_free(report);
}

int main(void) {
    dtnn_plan* plan = NULL;
    dtnn_network* network = NULL;
    dtnn_report* report = NULL;
    dtnn_training training;
    dtnn_measures measures;
    dtnn_array_form input;
    dtnn_array array;
    dtnn_train_options options;
    int64_t dims[4] = {5, 1, 28, 28};
    static float images[5 * 28 * 28];
    double predictions[5 * 10], sum = 0;
    int epochs = 0, i;

    check_mistake();
    succeed(dtnn_compile_text(kJob, strlen(kJob), "job.yaml", NULL, &plan, &report), &report);
    succeed(dtnn_open(plan, NULL, &network, &report), &report);
    dtnn_plan_free(plan); /* the network has a copy */

    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.callback = count_epochs;
    options.context = &epochs;
    training.size = sizeof training;
    succeed(dtnn_train(network, &options, &training, &report), &report);
    CHECK(training.ended && training.epoch == 2 && training.step == 20 && epochs == 2);
    succeed(dtnn_evaluate(network, "test", &measures, &report), &report);
    CHECK(measures.samples == 64 && measures.list[0].numbers[0] > 0);

    input.size = sizeof input;
    CHECK(dtnn_input_count(network) == 1 && dtnn_input_form(network, 0, &input) == DTNN_DONE);
    CHECK(input.axes_count == 3 && strcmp(input.axes[0], "channel") == 0 && input.dims[1] == 28);
    memset(&array, 0, sizeof array);
    array.size = sizeof array;
    array.data = images;
    array.dtype = DTNN_F32;
    array.axes_count = 4;
    array.dims = dims;
    succeed(dtnn_predict(network, &array, 1, predictions, DTNN_F64, sizeof predictions, &report),
            &report);
    for (i = 0; i < 10; ++i) {
        sum += predictions[i];
        CHECK(predictions[i] == predictions[10 + i]);
    }
    CHECK(fabs(sum - 1) < 1e-5);
    dtnn_close(network);
    printf("done\n");
    return 0;
}
