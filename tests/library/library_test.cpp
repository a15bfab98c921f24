/// libdtnn beside the programs: what is wrong is told, what is right is the same bits.

#include <doctest/doctest.h>
#include <dtnn.h>
#include <fmt/format.h>

#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace library_test {
namespace {

namespace fs = std::filesystem;

const std::string kModel =
    "model: {kind: model, name: tiny, input: {shape: [1, 28, 28]}, layers: [\n"
    "  conv2d: {filters: 4, kernel: 3, stride: 2, padding: 1}, batch_norm, relu, flatten,\n"
    "  dropout: {rate: 0.2}, dense: {units: 10}, softmax]}\n"
    "dataset: {kind: dataset, name: few, type: digits, train_samples: 300, test_samples: 70}\n";
const std::string kJob =
    "kind: job\nname: tiny\n" + kModel +
    "training: {kind: training, name: short, optimizer: adam, batch_size: 64, epochs: 3,\n"
    "  validation_split: 0.1, metrics: [categorical_accuracy, confusion_matrix]}\n";
/// Batches that share an update, and the best weights at the end.
const std::string kOther =
    "kind: job\nname: other\n" + kModel +
    "training: {kind: training, name: longer, optimizer: sgd, batch_size: 32, epochs: 4,\n"
    "  accumulation: 3, validation_split: 0.1, metrics: [categorical_accuracy],\n"
    "  schedules: [{early_stopping: {metric: validation.loss, patience: 1, restore_best: "
    "true}}]}\n";

struct Free {
    void operator()(dtnn_plan* plan) const { dtnn_plan_free(plan); }
    void operator()(dtnn_network* network) const { dtnn_close(network); }
    void operator()(dtnn_report* report) const { dtnn_report_free(report); }
    void operator()(char* text) const { dtnn_free(text); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

/// Throws the report of a call that has failed.
template <class Call>
void must(const Call& call) {
    dtnn_report* report = nullptr;
    const dtnn_status status = call(&report);
    const Owned<dtnn_report> owned(report);
    if (status != DTNN_DONE)
        throw std::runtime_error(fmt::format("{}: {}", status, dtnn_report_text(report)));
}

/// A call that fails: its report.
template <class Call>
Owned<dtnn_report> refused(dtnn_status wanted, const Call& call) {
    dtnn_report* report = nullptr;
    CHECK(call(&report) == wanted);
    REQUIRE(report != nullptr);
    CHECK(dtnn_report_status(report) == wanted);
    return Owned<dtnn_report>(report);
}

bool says(const Owned<dtnn_report>& report, const std::string& text) {
    const bool found = std::string(dtnn_report_text(report.get())).find(text) != std::string::npos;
    if (!found) MESSAGE(std::string(dtnn_report_text(report.get())));
    return found;
}

Owned<dtnn_plan> compiled(const std::string& job, int threads = 2) {
    dtnn_compile_options options{};
    options.size = sizeof options;
    options.threads = threads;
    options.without_tuning = 1;
    dtnn_plan* plan = nullptr;
    must([&](dtnn_report** report) {
        return dtnn_compile_text(job.data(), job.size(), "job.yaml", &options, &plan, report);
    });
    return Owned<dtnn_plan>(plan);
}

Owned<dtnn_network> opened(const Owned<dtnn_plan>& plan, const std::string& folder = "") {
    dtnn_open_options options{};
    options.size = sizeof options;
    options.run_folder = folder.empty() ? nullptr : folder.c_str();
    dtnn_network* network = nullptr;
    must([&](dtnn_report** report) { return dtnn_open(plan.get(), &options, &network, report); });
    return Owned<dtnn_network>(network);
}

dtnn_training train(const Owned<dtnn_network>& network, dtnn_train_options options = {}) {
    options.size = sizeof options;
    dtnn_training training{};
    training.size = sizeof training;
    must([&](dtnn_report** report) {
        return dtnn_train(network.get(), &options, &training, report);
    });
    return training;
}

dtnn_array array_of(const std::vector<float>& values, const std::vector<std::int64_t>& dims) {
    dtnn_array array{};
    array.size = sizeof array;
    array.data = values.data();
    array.dtype = DTNN_F32;
    array.axes_count = dims.size();
    array.dims = dims.data();
    return array;
}

std::vector<float> predicted(const Owned<dtnn_network>& network, const dtnn_array& array) {
    std::vector<float> result(std::size_t(array.dims[0]) * 10);
    must([&](dtnn_report** report) {
        return dtnn_predict(network.get(), &array, 1, result.data(), DTNN_F32,
                            result.size() * sizeof(float), report);
    });
    return result;
}

/// Made-up images.
std::vector<float> images(std::int64_t samples) {
    std::vector<float> values(std::size_t(samples * 28 * 28));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = float((i * 2654435761u) % 1000) / 1000;
    return values;
}

std::vector<std::byte> weights_of(const Owned<dtnn_network>& network) {
    std::vector<std::byte> all;
    for (std::size_t i = 0; i < dtnn_weight_count(network.get()); ++i) {
        dtnn_array_form form{};
        form.size = sizeof form;
        REQUIRE(dtnn_weight_form(network.get(), i, &form) == DTNN_DONE);
        std::size_t bytes = form.dtype == DTNN_F64 ? 8 : 4;
        for (std::size_t axis = 0; axis < form.axes_count; ++axis)
            bytes *= std::size_t(form.dims[axis]);
        const std::size_t before = all.size();
        all.resize(before + bytes);
        must([&](dtnn_report** report) {
            return dtnn_weight_read(network.get(), form.name, all.data() + before, bytes, report);
        });
    }
    return all;
}

class Folder {
  public:
    Folder() {
        std::string path = (fs::temp_directory_path() / "dtnn-library-XXXXXX").string();
        REQUIRE(mkdtemp(path.data()) != nullptr);
        path_ = path;
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs one of the programs; what it prints goes to standard output.
void run_program(const std::string& command) {
    const std::string line = std::string("DTNN_TUNING= " DTNN_PROGRAMS "/") + command;
    REQUIRE_MESSAGE(std::system(line.c_str()) == 0, line);
}

std::string written(const Owned<dtnn_plan>& plan, const std::string& path) {
    must([&](dtnn_report** report) { return dtnn_plan_write(plan.get(), path.c_str(), report); });
    return path;
}

/// Asks to stop behind an event.
struct Stop {
    int event;
    std::int64_t after;
    std::int64_t calls = 0;
    static int tell(const dtnn_progress* progress, void* context) {
        auto* stop = static_cast<Stop*>(context);
        return int(progress->event == stop->event && ++stop->calls == stop->after);
    }
};

TEST_CASE("a plan is the one that dtnnc writes, and comes back from its text") {
    const Folder folder;
    std::ofstream(folder / "job.yaml") << kJob;
    run_program(fmt::format("dtnnc compile {0}/job.yaml --threads 2 -o {0}/plan.json 2>/dev/null",
                            folder / "."));
    dtnn_compile_options options{};
    options.size = sizeof options;
    options.threads = 2;
    options.without_tuning = 1;
    dtnn_plan* plan = nullptr;
    const std::string job = folder / "./job.yaml";
    must([&](dtnn_report** report) {
        return dtnn_compile_file(job.c_str(), &options, &plan, report);
    });
    const Owned<dtnn_plan> owned(plan);
    std::size_t bytes = 0;
    const char* text = dtnn_plan_text(plan, &bytes);
    CHECK(text_of(folder / "plan.json") == std::string(text, bytes));
    dtnn_plan* again = nullptr;
    must(
        [&](dtnn_report** report) { return dtnn_plan_parse(text, bytes, "plan", &again, report); });
    const Owned<dtnn_plan> read(again);
    CHECK(std::string(dtnn_plan_checksum(again)) == dtnn_plan_checksum(plan));
    CHECK(std::string(dtnn_plan_name(again)) == "tiny");

    char* summary = nullptr;
    must(
        [&](dtnn_report** report) { return dtnn_plan_summary(plan, "json", 0, &summary, report); });
    CHECK(std::string(Owned<char>(summary).get()).find("\"conv2d_1\"") != std::string::npos);
    dtnn_memory memory{};
    memory.size = sizeof memory;
    REQUIRE(dtnn_plan_memory(plan, &memory) == DTNN_DONE);
    CHECK(memory.arena > memory.parameters);
    CHECK(memory.host >= memory.arena);
    char* forecast = nullptr;
    const int ranks[] = {1};
    must([&](dtnn_report** report) {
        return dtnn_plan_forecast(plan, "cluster_100g", ranks, 1, &forecast, report);
    });
    CHECK(std::string(Owned<char>(forecast).get()).find("\"step_seconds\"") != std::string::npos);
}

TEST_CASE("what differs is told, and whether it changes the mathematics") {
    const auto a = compiled(kJob), b = compiled(kOther), c = compiled(kJob, 1);
    const auto changes = [](const Owned<dtnn_plan>& x, const Owned<dtnn_plan>& y) {
        int result = -1;
        char* text = nullptr;
        must([&](dtnn_report** report) {
            return dtnn_plan_diff(x.get(), y.get(), "json", &text, &result, report);
        });
        const Owned<char> owned(text);
        CHECK(std::string(text).find("\"chosen\"") != std::string::npos);
        return result;
    };
    CHECK(changes(a, a) == 0);
    CHECK(changes(a, b) == 2);
    CHECK(changes(a, c) == 1);
}

TEST_CASE("mistakes are told with place, fact and remedy") {
    dtnn_plan* plan = nullptr;
    const std::string bad = "kind: job\nmodel: simplecnn\ndataset: digits\ntraining: {epoch: 3}\n";
    const auto spec = refused(DTNN_INVALID_SPEC, [&](dtnn_report** report) {
        return dtnn_compile_text(bad.data(), bad.size(), "bad.yaml", nullptr, &plan, report);
    });
    CHECK(plan == nullptr);
    dtnn_diagnostic one{};
    one.size = sizeof one;
    REQUIRE(dtnn_report_diagnostic(spec.get(), 0, &one) == DTNN_DONE);
    CHECK(std::string(one.code) == "unknown-field");
    CHECK(std::string(one.file) == "bad.yaml");
    CHECK(one.line == 4);
    CHECK(one.column == 12);
    CHECK(std::string(one.help).find("epochs") != std::string::npos);
    CHECK(std::string(dtnn_report_json(spec.get())).find("\"unknown-field\"") != std::string::npos);

    const auto missing = refused(DTNN_USAGE, [&](dtnn_report** report) {
        return dtnn_compile_file("not/there.yaml", nullptr, &plan, report);
    });
    CHECK(says(missing, "not/there.yaml"));
    const auto no_plan = refused(DTNN_MISMATCH, [&](dtnn_report** report) {
        return dtnn_plan_parse("{\"format\": \"dtnn-plan\"", 22, "broken", &plan, report);
    });
    CHECK(says(no_plan, "broken"));
    refused(DTNN_USAGE, [&](dtnn_report** report) {
        return dtnn_compile_text(nullptr, 0, "x", nullptr, &plan, report);
    });
    refused(DTNN_USAGE,
            [&](dtnn_report** report) { return dtnn_compile_file("x", nullptr, nullptr, report); });
    dtnn_compile_options options{};  // without its size
    refused(DTNN_USAGE, [&](dtnn_report** report) {
        return dtnn_compile_text(bad.data(), bad.size(), "x", &options, &plan, report);
    });
    options.size = sizeof options;
    options.isa = "avx3";
    CHECK(says(refused(DTNN_USAGE,
                       [&](dtnn_report** report) {
                           return dtnn_compile_text(bad.data(), bad.size(), "x", &options, &plan,
                                                    report);
                       }),
               "avx2"));
    dtnn_network* network = nullptr;
    refused(DTNN_USAGE,
            [&](dtnn_report** report) { return dtnn_open(nullptr, nullptr, &network, report); });
    CHECK(dtnn_train(nullptr, nullptr, nullptr, nullptr) == DTNN_USAGE);
    CHECK(dtnn_weight_count(nullptr) == 0);
    dtnn_close(nullptr);
    dtnn_report_free(nullptr);
    dtnn_plan_free(nullptr);
}

TEST_CASE("arrays that do not fit are refused, and the network goes on") {
    const auto plan = compiled(kJob);
    const auto network = opened(plan);
    const std::vector<float> values = images(3);
    std::vector<float> room(30);
    const auto refuses = [&](dtnn_status wanted, const dtnn_array& array, std::size_t bytes,
                             const std::string& text) {
        CHECK(says(refused(wanted,
                           [&](dtnn_report** report) {
                               return dtnn_predict(network.get(), &array, 1, room.data(), DTNN_F32,
                                                   bytes, report);
                           }),
                   text));
    };
    const std::vector<std::int64_t> good = {3, 1, 28, 28}, wide = {3, 1, 28, 29}, flat = {3, 784};
    refuses(DTNN_FAILED, array_of(values, wide), 120, "(3,1,28,29)");
    refuses(DTNN_FAILED, array_of(values, flat), 120, "(3,784)");
    refuses(DTNN_USAGE, array_of(values, good), 119, "120");
    dtnn_array odd = array_of(values, good);
    odd.dtype = 99;
    refuses(DTNN_USAGE, odd, 120, "99");
    std::vector<float> spoilt = values;
    spoilt[1000] = std::numeric_limits<float>::quiet_NaN();
    refuses(DTNN_FAILED, array_of(spoilt, good), 120, "not a finite number");
    CHECK(says(refused(DTNN_USAGE,
                       [&](dtnn_report** report) {
                           dtnn_measures measures;
                           return dtnn_evaluate(network.get(), "tset", &measures, report);
                       }),
               "tset"));
    CHECK(says(refused(DTNN_USAGE,
                       [&](dtnn_report** report) {
                           return dtnn_weight_write(network.get(), "nobody", room.data(), 4,
                                                    report);
                       }),
               "nobody"));
    CHECK(predicted(network, array_of(values, good)).size() == 30);
    CHECK(predicted(network, array_of({}, {0, 1, 28, 28})).empty());
}

TEST_CASE("a training has the bits of dtnn-run, whatever it is cut into") {
    for (const std::string& job : {kJob, kOther}) {
        const Folder folder;
        const auto plan = compiled(job);
        written(plan, folder / "plan.json");
        run_program(fmt::format(
            "dtnn-run {0}/plan.json -o {0}/run --progress none > /dev/null 2>&1", folder / "."));
        const std::string wanted = text_of(folder / "run/weights.safetensors");
        const auto saved = [&](const Owned<dtnn_network>& network) {
            const std::string path = folder / "saved.safetensors";
            must([&](dtnn_report** report) {
                return dtnn_weights_save(network.get(), path.c_str(), report);
            });
            return text_of(path);
        };
        const auto whole = opened(plan);
        CHECK(train(whole).ended == 1);
        CHECK(saved(whole) == wanted);

        const auto pieces = opened(plan);
        const std::vector<float> values = images(2);
        int calls = 0;
        for (dtnn_train_options some{}; train(pieces, some).ended == 0 && calls < 100; ++calls) {
            some.steps = 1 + calls % 3;
            // What is done in between changes nothing.
            predicted(pieces, array_of(values, {2, 1, 28, 28}));
            dtnn_measures measures{};
            must([&](dtnn_report** report) {
                return dtnn_evaluate(pieces.get(), "validation", &measures, report);
            });
            CHECK(measures.samples == 30);
            if (calls == 0) {
                dtnn_train_options nothing{};
                nothing.epochs = nothing.steps = 1;
                nothing.size = sizeof nothing;
                refused(DTNN_USAGE, [&](dtnn_report** report) {
                    return dtnn_train(pieces.get(), &nothing, nullptr, report);
                });
            }
        }
        CHECK(saved(pieces) == wanted);
    }
}

TEST_CASE("the callback stops a training, which can be gone on with") {
    const auto plan = compiled(kJob);
    const auto whole = opened(plan);
    train(whole);
    for (const int event : {DTNN_STEP, DTNN_EPOCH}) {
        const auto network = opened(plan);
        Stop stop{event, 2};
        dtnn_train_options options{};
        options.callback = Stop::tell;
        options.context = &stop;
        options.every_step = 1;
        const dtnn_training first = train(network, options);
        CHECK(first.stopped == 1);
        CHECK(first.ended == 0);
        CHECK(first.epoch == (event == DTNN_STEP ? 0 : 2));
        CHECK(first.step == (event == DTNN_STEP ? 2 : 10));
        CHECK(train(network).ended == 1);
        CHECK(weights_of(network) == weights_of(whole));
    }
}

TEST_CASE("predictions are those of dtnn-run") {
    const Folder folder;
    const auto plan = compiled(kJob);
    written(plan, folder / "plan.json");
    const auto network = opened(plan);
    train(network);
    const std::string weights = folder / "w.safetensors";
    must([&](dtnn_report** report) {
        return dtnn_weights_save(network.get(), weights.c_str(), report);
    });
    // More than two batches, and a tail.
    const std::vector<std::int64_t> dims = {131, 1, 28, 28};
    const std::vector<float> values = images(dims[0]);
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (131, 1, 28, 28), }";
    header.resize(117, ' ');
    header += '\n';
    std::ofstream(folder / "x.npy", std::ios::binary)
        << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header
        << std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4);
    run_program(
        fmt::format("dtnn-run predict {0}/plan.json --weights {0}/w.safetensors --input "
                    "{0}/x.npy -o {0}/p.csv --progress none 2> /dev/null",
                    folder / "."));
    std::ifstream lines(folder / "p.csv");
    std::string line;
    std::getline(lines, line);
    std::vector<float> wanted;
    while (std::getline(lines, line)) {
        std::vector<std::string> cells;
        std::stringstream stream(line);
        for (std::string cell; std::getline(stream, cell, ',');)
            cells.push_back(cell);
        for (std::size_t i = cells.size() - 10; i < cells.size(); ++i)
            wanted.push_back(std::strtof(cells[i].c_str(), nullptr));
    }
    REQUIRE(wanted.size() == 1310);
    const std::vector<float> found = predicted(network, array_of(values, dims));
    CHECK(found == wanted);
    // Again, without what depends on weights alone; then as strided memory, rows of doubled width.
    CHECK(predicted(network, array_of(values, dims)) == wanted);
    std::vector<float> gaps(values.size() * 2, -7);
    for (std::size_t i = 0; i < values.size(); ++i)
        gaps[2 * i] = values[i];
    dtnn_array strided = array_of(gaps, dims);
    const std::vector<std::int64_t> strides = {2 * 4 * 784, 2 * 4 * 784, 2 * 4 * 28, 2 * 4};
    strided.strides = strides.data();
    CHECK(predicted(network, strided) == wanted);
    // Weights that come from the file, into another network.
    const auto other = opened(plan);
    CHECK(predicted(other, array_of(values, dims)) != wanted);
    must([&](dtnn_report** report) {
        return dtnn_weights_load(other.get(), weights.c_str(), nullptr, report);
    });
    CHECK(predicted(other, array_of(values, dims)) == wanted);
    // One of them changed, and back.
    std::vector<float> bias(10), changed(10, 1.5F);
    must([&](dtnn_report** report) {
        return dtnn_weight_read(other.get(), "dense_1.bias", bias.data(), 40, report);
    });
    changed[3] = 9;
    const auto write = [&](const std::vector<float>& numbers) {
        must([&](dtnn_report** report) {
            return dtnn_weight_write(other.get(), "dense_1.bias", numbers.data(), 40, report);
        });
    };
    write(changed);
    CHECK(predicted(other, array_of(values, dims)) != wanted);
    write(bias);
    CHECK(predicted(other, array_of(values, dims)) == wanted);
}

TEST_CASE("a run's folder is as dtnn-run leaves it, and can be gone on with there") {
    const Folder folder;
    const auto plan = compiled(kJob);
    written(plan, folder / "plan.json");
    run_program(fmt::format("dtnn-run {0}/plan.json -o {0}/whole --progress none > /dev/null 2>&1",
                            folder / "."));
    const std::string wanted = text_of(folder / "whole/weights.safetensors");
    {
        const auto network = opened(plan, folder / "own");
        CHECK(train(network).ended == 1);
    }
    CHECK(text_of(folder / "own/weights.safetensors") == wanted);
    {
        const auto network = opened(plan, folder / "cut");
        dtnn_train_options some{};
        some.steps = 7;
        CHECK(train(network, some).step == 7);
    }
    run_program(
        fmt::format("dtnn-run --resume {} --progress none > /dev/null 2>&1", folder / "cut"));
    CHECK(text_of(folder / "cut/weights.safetensors") == wanted);
    dtnn_open_options options{};
    options.size = sizeof options;
    const std::string own = folder / "own";
    options.run_folder = own.c_str();
    dtnn_network* network = nullptr;
    refused(DTNN_FAILED, [&](dtnn_report** report) {
        return dtnn_open(plan.get(), &options, &network, report);
    });
    CHECK(network == nullptr);
}

TEST_CASE("four threads compile, train and predict two plans at once") {
    const std::vector<float> values = images(70);
    const std::vector<std::int64_t> dims = {70, 1, 28, 28};
    const auto work = [&](const std::string& job) {
        const auto plan = compiled(job, 1);
        const auto network = opened(plan);
        train(network);
        return predicted(network, array_of(values, dims));
    };
    const std::vector<float> wanted[] = {work(kJob), work(kOther)};
    std::vector<float> found[4];
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] { found[i] = work(i % 2 == 0 ? kJob : kOther); });
    for (std::thread& thread : threads)
        thread.join();
    for (int i = 0; i < 4; ++i)
        CHECK(found[i] == wanted[i % 2]);
}

TEST_CASE("the caller's arithmetic, signals and locale are left alone") {
    const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE};
    const auto handler = [](int signal) {
        struct sigaction now {};
        sigaction(signal, nullptr, &now);
        return reinterpret_cast<std::uintptr_t>(now.sa_handler);
    };
    std::vector<std::uintptr_t> before;
    for (const int signal : signals)
        before.push_back(handler(signal));
    std::fesetround(FE_UPWARD);
    const auto plan = compiled(kJob, 1);
    const auto network = opened(plan);
    train(network);
    CHECK(std::fegetround() == FE_UPWARD);
    std::fesetround(FE_TONEAREST);
    const auto other = opened(plan);
    train(other);
    CHECK(weights_of(network) == weights_of(other));
    for (std::size_t i = 0; i < before.size(); ++i)
        CHECK(handler(signals[i]) == before[i]);
}

}  // namespace
}  // namespace library_test
