/* Trains the digits, and says which digit an image of the caller's is.
 *
 *     cc examples/digits.c $(pkg-config --cflags --libs dtnn) -o digits && ./digits */

#include <dtnn.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program where a call has failed; prints warnings otherwise. The report by its address: C does not say
 * whether the call or the second argument comes first. */
static void check(dtnn_status status, dtnn_report** report) {
    fputs(dtnn_report_text(*report), stderr);
    dtnn_report_free(*report);
    if (status != DTNN_DONE) exit(status);
}

static int tell(const dtnn_progress* progress, void* context) {
    (void)context;
    printf("epoch %d of %d: loss %.3f\n", (int)progress->epoch, (int)progress->epochs,
           progress->train.list[0].numbers[0]);
    return 0; /* not 0: the training stops */
}

int main(void) {
    const char* settings[] = {"training.epochs=2", "dataset.train_samples=2000"};
    dtnn_compile_options how = {.size = sizeof how, .settings = settings, .settings_count = 2};
    dtnn_train_options train = {.size = sizeof train, .callback = tell};
    const int64_t dims[] = {1, 1, 28, 28}; /* samples, channels, height, width */
    unsigned char image[28 * 28] = {0};
    dtnn_array input = {.size = sizeof input, .data = image, .dtype = DTNN_U8, .axes_count = 4, .dims = dims};
    float digits[10];
    int row, best = 0, i;
    dtnn_plan* plan;
    dtnn_network* network;
    dtnn_measures test;
    dtnn_report* report = NULL;

    check(dtnn_compile_file("digits_simplecnn", &how, &plan, &report), &report);
    check(dtnn_open(plan, NULL, &network, &report), &report);
    check(dtnn_train(network, &train, NULL, &report), &report);
    check(dtnn_evaluate(network, "test", &test, &report), &report);
    printf("test: %s %.3f\n", test.list[0].name, test.list[0].numbers[0]);

    for (row = 4; row < 24; ++row) image[row * 28 + 14] = image[row * 28 + 13] = 255; /* a stroke */
    check(dtnn_predict(network, &input, 1, digits, DTNN_F32, sizeof digits, &report), &report);
    for (i = 1; i < 10; ++i)
        if (digits[i] > digits[best]) best = i;
    printf("a stroke is a %s (%.2f)\n", dtnn_class_name(network, (size_t)best), digits[best]);
    dtnn_close(network);
    dtnn_plan_free(plan);
    return 0;
}
