/// Calls of the C interface in any order, with any arguments that keep to the header: each is done
/// or says why not, none is an internal error, and what one call has made another can take.
///
/// An input is a list of calls (choices.hpp). Structs are as long as their `size` says and not a
/// byte longer, arrays lie anywhere in a buffer with any strides that stay inside it.

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "include/dtnn.h"
#include "tests/fuzz/json_edits.hpp"
#include "tests/fuzz/sample_plans.hpp"

namespace {

using dtnn::fuzz::Choices;
using dtnn::fuzz::fail;

constexpr const char* kJobs[] = {
    "kind: job\n"
    "model: {kind: model, name: net, input: {shape: [1, 28, 28]}, layers: [{max_pool2d: 7},\n"
    "  flatten, {dense: {name: head, units: 10}}, softmax]}\n"
    "dataset: {kind: dataset, name: few, type: digits, train_samples: 40, test_samples: 20}\n"
    "training: {kind: training, name: short, optimizer: adam, batch_size: 8, epochs: 2,\n"
    "  validation_split: 0.2, metrics: [categorical_accuracy, confusion_matrix]}\n",
    "kind: model\nname: row\ninput: {shape: [5]}\nlayers: [{dense: {units: 3}}, tanh]\n",
};
/// What settings begin with; a few characters of the input follow.
constexpr const char* kSettings[] = {
    "training.batch_size=", "training.epochs=",      "model.input.shape=",
    "training.optimizer=",  "dataset.test_samples=", ""};
constexpr const char* kForms[] = {"table", "markdown", "csv", "json", "text", "", "xml"};
constexpr const char* kSplits[] = {"train", "validation", "test", "", "all"};
constexpr const char* kDevices[] = {nullptr, "cpu", "cuda", "tpu"};
constexpr const char* kSets[] = {nullptr, "baseline", "avx2", "mmx"};

constexpr std::int64_t kMostMemory = std::int64_t{8} << 20;
constexpr std::size_t kMostCalls = 12, kMostPlans = 3, kMostNetworks = 2;

/// A report of the caller's, which is checked and freed.
class Report {
  public:
    operator dtnn_report**() { return &report_; }  // NOLINT: as the calls take it
    dtnn_status of(dtnn_status status) {
        if (status == DTNN_INTERNAL) fail(dtnn_report_text(report_));
        if (status != DTNN_DONE && report_ == nullptr) fail("a failure without a report");
        if (report_ != nullptr) {
            if (dtnn_report_status(report_) != status) fail("a report of another status");
            if (status != DTNN_DONE && dtnn_report_text(report_)[0] == 0)
                fail("a failure without words");
            (void)dtnn::parse_json(dtnn_report_json(report_));
            dtnn_diagnostic one{};
            one.size = sizeof one;
            const std::size_t count = dtnn_report_count(report_);
            for (std::size_t i = 0; i <= count; ++i)
                if ((dtnn_report_diagnostic(report_, i, &one) == DTNN_DONE) != (i < count))
                    fail("another number of diagnostics");
        }
        dtnn_report_free(report_);
        report_ = nullptr;
        return status;
    }

  private:
    dtnn_report* report_ = nullptr;
};

/// A struct of the interface in a buffer as long as its `size` says.
template <typename Struct>
class Sized {
  public:
    Sized(const Struct& value, Choices& choices) {
        constexpr std::size_t kSizes[] = {sizeof(Struct),     sizeof(Struct),
                                          sizeof(Struct),     sizeof(Struct) + 8,
                                          sizeof(Struct) - 8, sizeof(std::size_t)};
        const std::size_t size = kSizes[choices.below(std::size(kSizes))];
        bytes_.reset(new std::byte[size]());
        std::memcpy(bytes_.get(), &value, std::min(size, sizeof value));
        std::memcpy(bytes_.get(), &size, sizeof size);
    }
    Struct* get() { return reinterpret_cast<Struct*>(bytes_.get()); }

  private:
    std::unique_ptr<std::byte[]> bytes_;  // `new` aligns it for any struct
};

struct Plan {
    dtnn_plan* plan;
    bool compiled;  ///< not edited: its dataset is small
};

class Caller {
  public:
    explicit Caller(Choices choices) : choices_(choices) {}
    ~Caller() {
        for (dtnn_network* network : networks_)
            dtnn_close(network);
        for (const Plan& plan : plans_)
            dtnn_plan_free(plan.plan);
    }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    void call() {
        static constexpr void (Caller::*kCalls[])() = {
            &Caller::compile,  &Caller::parse,    &Caller::summarise, &Caller::diff,
            &Caller::forecast, &Caller::open,     &Caller::predict,   &Caller::predict,
            &Caller::train,    &Caller::evaluate, &Caller::weights};
        if (plans_.empty()) compile();
        if (!plans_.empty()) (this->*kCalls[choices_.below(std::size(kCalls))])();
    }

  private:
    std::int64_t whole() {
        constexpr std::int64_t kWholes[] = {0, 1, 2, 3, 8, 28, -1, INT32_MAX, INT64_MAX, INT64_MIN};
        return kWholes[choices_.below(std::size(kWholes))];
    }
    int small() { return int(whole()); }
    const Plan& plan() { return plans_[choices_.below(plans_.size())]; }

    void keep(dtnn_plan* made, dtnn_status status, bool compiled) {
        if ((status == DTNN_DONE) != (made != nullptr)) fail("a plan that was not promised");
        if (made == nullptr) return;
        if (plans_.size() == kMostPlans) {
            dtnn_plan_free(plans_.front().plan);
            plans_.erase(plans_.begin());
        }
        plans_.push_back({made, compiled});
        std::size_t bytes = 0;
        const char* const text = dtnn_plan_text(made, &bytes);
        if (bytes != std::strlen(text)) fail("a plan's text has another length");
        if (std::strlen(dtnn_plan_checksum(made)) != 32) fail("a checksum of another length");
        if (dtnn_plan_name(made) == nullptr) fail("a plan without a name");
        (void)dtnn_plan_resolved(made);
    }

    void compile() {
        const std::string job = kJobs[choices_.below(std::size(kJobs))];
        std::vector<std::string> settings(choices_.below(3));
        std::vector<const char*> pointers;
        for (std::string& setting : settings) {
            setting = kSettings[choices_.below(std::size(kSettings))];
            for (std::size_t i = choices_.below(8); i > 0; --i)
                setting += char(choices_.below(127) + 1);
            pointers.push_back(setting.c_str());
        }
        dtnn_compile_options options{};
        options.settings = pointers.data();
        options.settings_count = pointers.size();
        options.device = kDevices[choices_.below(std::size(kDevices))];
        options.isa = kSets[choices_.below(std::size(kSets))];
        options.threads = std::min(small(), 3);
        options.ranks = std::min(small(), 3);
        options.memory_budget = whole();
        Sized<dtnn_compile_options> sized(options, choices_);
        dtnn_plan* made = nullptr;
        Report report;
        const bool plain = choices_.below(4) == 0;
        const dtnn_status status = report.of(dtnn_compile_text(
            job.data(), job.size(), "job.yaml", plain ? nullptr : sized.get(), &made, report));
        keep(made, status, settings.empty());
    }

    void parse() {
        std::size_t bytes = 0;
        const char* const text = dtnn_plan_text(plan().plan, &bytes);
        dtnn::Json content = dtnn::parse_json(std::string_view(text, bytes));
        for (const char* of_first_line : {"format", "version", "checksum"})
            content.erase(of_first_line);
        dtnn::fuzz::edit(content, choices_, 2);
        const std::string edited = dtnn::fuzz::plan_text(content);
        dtnn_plan* made = nullptr;
        Report report;
        const dtnn_status status =
            report.of(dtnn_plan_parse(edited.data(), edited.size(), "edited.json", &made, report));
        keep(made, status, false);
    }

    void check_text(dtnn_status status, char* text) {
        if ((status == DTNN_DONE) != (text != nullptr)) fail("a text that was not promised");
        dtnn_free(text);
    }

    void summarise() {
        char* text = nullptr;
        Report report;
        const dtnn_status status =
            report.of(dtnn_plan_summary(plan().plan, kForms[choices_.below(std::size(kForms))],
                                        int(choices_.below(400)) - 10, &text, report));
        check_text(status, text);
        Sized<dtnn_memory> memory({}, choices_);
        (void)dtnn_plan_memory(plan().plan, memory.get());
    }

    void diff() {
        char* text = nullptr;
        int changes = -1;
        Report report;
        const dtnn_plan* const a = plan().plan;
        const dtnn_plan* const b = plan().plan;
        const dtnn_status status = report.of(dtnn_plan_diff(
            a, b, kForms[choices_.below(std::size(kForms))], &text, &changes, report));
        if (status == DTNN_DONE && a == b && changes != 0) fail("a plan differs from itself");
        check_text(status, text);
    }

    void forecast() {
        std::vector<int> ranks(choices_.below(3));
        for (int& one : ranks)
            one = small();
        char* text = nullptr;
        Report report;
        const dtnn_status status = report.of(
            dtnn_plan_forecast(plan().plan, nullptr, ranks.data(), ranks.size(), &text, report));
        check_text(status, text);
    }

    void open() {
        const Plan& of = plan();
        dtnn_memory memory{};
        memory.size = sizeof memory;
        if (dtnn_plan_memory(of.plan, &memory) != DTNN_DONE) return;
        if (memory.host > 2 * kMostMemory + memory.arena || memory.arena > kMostMemory ||
            memory.staging > kMostMemory)
            return;
        dtnn_open_options options{};
        options.threads = std::min(small(), 3);
        options.weights = choices_.below(8) == 1 ? "/nonexistent" : nullptr;
        Sized<dtnn_open_options> sized(options, choices_);
        dtnn_network* network = nullptr;
        Report report;
        const dtnn_status status = report.of(
            dtnn_open(of.plan, choices_.below(4) == 0 ? nullptr : sized.get(), &network, report));
        if ((status == DTNN_DONE) != (network != nullptr)) fail("a network that was not promised");
        if (network == nullptr) return;
        if (networks_.size() == kMostNetworks) {
            dtnn_close(networks_.front());
            networks_.erase(networks_.begin());
            trains_.erase(trains_.begin());
        }
        networks_.push_back(network);
        trains_.push_back(of.compiled);
    }

    /// A network, opened where there is none; null where none can be.
    dtnn_network* network() {
        if (networks_.empty()) open();
        if (networks_.empty()) return nullptr;
        chosen_ = choices_.below(networks_.size());
        return networks_[chosen_];
    }

    void predict() {
        dtnn_network* const on = network();
        if (on == nullptr) return;
        constexpr std::size_t kMostAxes = 5, kMostInputs = 2;
        std::array<std::array<std::int64_t, kMostAxes>, kMostInputs> dims{}, strides{};
        std::vector<std::vector<std::byte>> buffers;
        std::vector<dtnn_array> arrays(choices_.below(kMostInputs + 1));
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            dtnn_array& array = arrays[i];
            array.size = sizeof array;
            array.dtype = int(choices_.below(13)) - 1;
            dtnn_array_form form{};
            form.size = sizeof form;
            const bool fits = choices_.below(4) != 0 &&
                              dtnn_input_form(on, i, &form) == DTNN_DONE &&
                              form.axes_count < kMostAxes;
            array.axes_count = fits ? form.axes_count + 1 : choices_.below(kMostAxes + 1);
            constexpr std::int64_t kExtents[] = {1, 0, 2, 5, 28, 9, -1};
            constexpr std::int64_t kStrides[] = {8, 1, 4, 0, -4, 28, 224, -8, 3};
            std::int64_t least = 0, most = 16, bytes = 8;
            for (std::size_t axis = 0; axis < array.axes_count; ++axis) {
                dims[i][axis] = fits && axis > 0 ? form.dims[axis - 1]
                                                 : kExtents[choices_.below(std::size(kExtents))];
                const std::int64_t extent = dims[i][axis];
                if (extent < 0) bytes = 0;
                strides[i][axis] = kStrides[choices_.below(std::size(kStrides))];
                bytes *= std::max<std::int64_t>(extent, 1);
                const std::int64_t reach = strides[i][axis] * std::max<std::int64_t>(extent - 1, 0);
                (reach < 0 ? least : most) += reach;
            }
            array.dims = dims[i].data();
            if (choices_.below(2) == 0) {
                array.strides = nullptr;
                least = 0;
                most = bytes + 8;
            } else {
                array.strides = strides[i].data();
            }
            if (most - least > kMostMemory) return;
            buffers.emplace_back(std::size_t(most - least));
            for (std::size_t b = 0; b < std::min<std::size_t>(buffers.back().size(), 32); ++b)
                buffers.back()[b] = std::byte(choices_.number(1));
            array.data = buffers.back().data() - least;
        }
        dtnn_array_form output{};
        output.size = sizeof output;
        std::int64_t each = 1;
        if (dtnn_output_form(on, &output) == DTNN_DONE)
            for (std::size_t axis = 0; axis < output.axes_count; ++axis)
                each *= output.dims[axis];
        const int dtype = int(choices_.below(3));
        const std::int64_t samples =
            arrays.empty() || arrays[0].axes_count == 0 ? 1 : std::max<std::int64_t>(dims[0][0], 0);
        const std::int64_t exact = samples * each * (dtype == DTNN_F64 ? 8 : 4);
        if (exact > kMostMemory) return;
        std::vector<std::byte> predictions(std::size_t(choices_.below(8) == 1 ? exact / 2 : exact));
        Report report;
        (void)report.of(dtnn_predict(on, arrays.data(), arrays.size(), predictions.data(), dtype,
                                     predictions.size(), report));
    }

    static int stop_after(const dtnn_progress* progress, void* context) {
        auto& left = *static_cast<std::int64_t*>(context);
        if (progress->train.count > 0 && progress->train.list[0].name == nullptr)
            fail("a measure without a name");
        return --left < 0;
    }

    void train() {
        dtnn_network* const on = network();
        if (on == nullptr || !trains_[chosen_]) return;
        std::int64_t left = std::int64_t(choices_.below(6));
        dtnn_train_options options{};
        options.epochs = whole();
        options.steps = choices_.below(2) == 0 ? 0 : whole();
        options.callback = stop_after;
        options.context = &left;
        options.every_step = int(choices_.below(2));
        Sized<dtnn_train_options> sized(options, choices_);
        Sized<dtnn_training> training({}, choices_);
        Report report;
        (void)report.of(dtnn_train(on, sized.get(), training.get(), report));
    }

    void evaluate() {
        dtnn_network* const on = network();
        if (on == nullptr || !trains_[chosen_]) return;
        dtnn_measures measures{};
        Report report;
        if (report.of(dtnn_evaluate(on, kSplits[choices_.below(std::size(kSplits))], &measures,
                                    report)) != DTNN_DONE)
            return;
        double sum = 0;
        for (std::size_t m = 0; m < measures.count; ++m)
            for (std::size_t i = 0; i < measures.list[m].count; ++i)
                sum += measures.list[m].numbers[i];
        if (measures.count > 0 && measures.samples == 0) fail("measures of no samples");
        (void)sum;
    }

    void weights() {
        dtnn_network* const on = network();
        if (on == nullptr) return;
        dtnn_array_form form{};
        form.size = sizeof form;
        const std::size_t index = choices_.below(dtnn_weight_count(on) + 1);
        if (dtnn_weight_form(on, index, &form) != DTNN_DONE) {
            if (index < dtnn_weight_count(on)) fail("a weight without a form");
            return;
        }
        std::int64_t bytes = form.dtype == DTNN_F64 ? 8 : 4;
        for (std::size_t axis = 0; axis < form.axes_count; ++axis)
            bytes *= form.dims[axis];
        const std::string name = choices_.below(8) == 1 ? "none" : form.name;
        std::vector<std::byte> data(std::size_t(choices_.below(8) == 1 ? bytes / 2 : bytes)),
            again(data.size());
        for (std::size_t b = 0; b < std::min<std::size_t>(data.size(), 16); ++b)
            data[b] = std::byte(choices_.number(1));
        Report report;
        if (report.of(dtnn_weight_write(on, name.c_str(), data.data(), data.size(), report)) !=
            DTNN_DONE)
            return;
        if (report.of(dtnn_weight_read(on, name.c_str(), again.data(), again.size(), report)) !=
                DTNN_DONE ||
            data != again)
            fail("a weight is read as something else");
    }

    Choices choices_;
    std::vector<Plan> plans_;
    std::vector<dtnn_network*> networks_;
    std::vector<bool> trains_;  ///< of the networks: datasets are small
    std::size_t chosen_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Caller caller(Choices(data, size));
    // One call more than there are choices left would be the same as before.
    for (std::size_t i = 0; i < std::min(kMostCalls, size / 2 + 1); ++i)
        caller.call();
    return 0;
}
