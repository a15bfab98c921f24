// Two networks of one plan, trained at once by two threads: the same seed, the same bits.
//
//     c++ -std=c++17 examples/digits.cpp $(pkg-config --cflags --libs dtnn) -pthread -o digits
//     ./digits

#include <dtnn.h>

#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

struct Free {
    void operator()(dtnn_plan* plan) const { dtnn_plan_free(plan); }
    void operator()(dtnn_network* network) const { dtnn_close(network); }
};

// Errors of the library as exceptions.
void check(const std::function<dtnn_status(dtnn_report**)>& call) {
    dtnn_report* report = nullptr;
    const dtnn_status status = call(&report);
    const std::string text = dtnn_report_text(report);
    dtnn_report_free(report);
    if (status != DTNN_DONE) throw std::runtime_error(text);
    std::cerr << text;
}

std::vector<float> trained(const dtnn_plan* plan, const std::vector<float>& images) {
    dtnn_network* opened = nullptr;
    check([&](dtnn_report** report) { return dtnn_open(plan, nullptr, &opened, report); });
    const std::unique_ptr<dtnn_network, Free> network(opened);
    check([&](dtnn_report** report) { return dtnn_train(opened, nullptr, nullptr, report); });
    const std::int64_t dims[] = {std::int64_t(images.size()) / 784, 1, 28, 28};
    const dtnn_array input{sizeof(dtnn_array), images.data(), DTNN_F32, 4, dims, nullptr};
    std::vector<float> answers(std::size_t(dims[0]) * 10);
    check([&](dtnn_report** report) {
        return dtnn_predict(opened, &input, 1, answers.data(), DTNN_F32,
                            answers.size() * sizeof(float), report);
    });
    return answers;
}

}  // namespace

int main() try {
    const char* settings[] = {"training.epochs=1", "dataset.train_samples=1000"};
    dtnn_compile_options how{};
    how.size = sizeof how;
    how.settings = settings;
    how.settings_count = 2;
    how.threads = 1;
    dtnn_plan* compiled = nullptr;
    check([&](dtnn_report** report) {
        return dtnn_compile_file("digits_simplecnn", &how, &compiled, report);
    });
    const std::unique_ptr<dtnn_plan, Free> plan(compiled);
    const std::vector<float> images(100 * 784, 0.5F);
    std::vector<float> first, second;
    std::thread other([&] { second = trained(compiled, images); });
    first = trained(compiled, images);
    other.join();
    std::cout << first.size() / 10 << " predictions, " << (first == second ? "the same" : "others")
              << " twice\n";
    return first == second ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
