/// The functions of the header about networks.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "base/spec_folders.hpp"
#include "runtime/train/learning_rates.hpp"
#include "tools/library/network.hpp"
#include "tools/library/plan.hpp"
#include "tools/library/report.hpp"

namespace plan = dtnn::plan;
namespace runtime = dtnn::runtime;

namespace dtnn::library {
namespace {

/// An array's form as the header gives it, with what its pointers point to.
struct Form {
    Form(std::string its_name, DType dtype, Dims its_dims, const Axes& kinds,
         std::int64_t its_values = 0)
        : name(std::move(its_name)), dims(std::move(its_dims)), values(its_values) {
        type = dtype == DType::f64 ? DTNN_F64 : dtype == DType::i32 ? DTNN_I32 : DTNN_F32;
        for (std::size_t i = 0; i < dims.size(); ++i)
            axes.push_back(kinds.size() == dims.size() ? name_of(kinds[i]) : "");
    }
    dtnn_array_form shown() const {
        return {.size = sizeof(dtnn_array_form),
                .name = name.c_str(),
                .dtype = type,
                .axes_count = dims.size(),
                .dims = dims.data(),
                .axes = axes.data(),
                .values = values};
    }
    std::string name;
    int type;
    Dims dims;
    std::vector<const char*> axes;
    std::int64_t values;
};

/// The loss and the metrics of a pass as the header gives them.
struct Measures {
    void set(const runtime::PassValues& pass) {
        names_.clear();
        numbers_.clear();
        list_.clear();
        for (const runtime::MetricValue& value : pass.values)
            if (pass.samples > 0) add(value.name, value.numbers, value.columns);
        finish(pass.samples);
    }
    /// What is known of an epoch before its end.
    void set(const runtime::MetricSet& running) {
        names_.clear();
        numbers_.clear();
        list_.clear();
        for (std::size_t i = 0; i < running.running_count(); ++i)
            add(running.running_name(i), {running.running_value(i)}, 1);
        finish(running.samples());
    }
    dtnn_measures shown{};

  private:
    void add(const std::string& name, std::vector<double> values, std::int64_t columns) {
        names_.push_back(name);
        numbers_.push_back(std::move(values));
        list_.push_back({nullptr, nullptr, 0, std::size_t(columns)});
    }
    void finish(std::int64_t samples) {
        for (std::size_t i = 0; i < list_.size(); ++i) {
            list_[i].name = names_[i].c_str();
            list_[i].numbers = numbers_[i].data();
            list_[i].count = numbers_[i].size();
        }
        shown = {samples, list_.data(), list_.size()};
    }

    std::vector<std::string> names_;
    std::vector<std::vector<double>> numbers_;
    std::vector<dtnn_measure> list_;
};

struct ElementType {
    runtime::NpyHeader::Kind kind;
    int bytes;
};
ElementType element_type(int dtype) {
    using Kind = runtime::NpyHeader::Kind;
    static constexpr ElementType kTypes[] = {
        {Kind::real, 4},    {Kind::real, 8},    {Kind::natural, 1}, {Kind::integer, 1},
        {Kind::natural, 2}, {Kind::integer, 2}, {Kind::natural, 4}, {Kind::integer, 4},
        {Kind::natural, 8}, {Kind::integer, 8}, {Kind::boolean, 1}};
    if (dtype < 0 || std::size_t(dtype) >= std::size(kTypes))
        throw wrong_argument(fmt::format("{} is no type of elements", dtype),
                             "give arrays of real numbers of 32 or 64 bits, or whole numbers");
    return kTypes[dtype];
}

runtime::GivenArray given_array(const dtnn_array& array) {
    runtime::GivenArray given;
    const ElementType type = element_type(array.dtype);
    given.header.kind = type.kind;
    given.header.item_bytes = type.bytes;
    if (array.axes_count == 0) throw wrong_argument("an input has no axis of samples");
    need(array.dims, "dims");
    given.header.dims.assign(array.dims, array.dims + array.axes_count);
    const Dims& dims = given.header.dims;
    if (std::any_of(dims.begin(), dims.end(), [](std::int64_t extent) { return extent < 0; }))
        throw wrong_argument("an extent of an input is negative");
    if (element_count(dims) > 0) need(array.data, "data");
    // Of no samples no byte is read; it must still be told from arrays of files.
    static constexpr char kNothing = 0;
    given.bytes = array.data == nullptr ? &kNothing : static_cast<const char*>(array.data);
    if (array.strides == nullptr) return given;
    given.strides.assign(array.strides, array.strides + array.axes_count);
    std::int64_t gapless = type.bytes;
    bool plain = true;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        plain = plain && (dims[axis] <= 1 || given.strides[axis] == gapless);
        gapless *= dims[axis];
    }
    if (plain) given.strides.clear();
    return given;
}

std::size_t bytes_of(const plan::Parameter& parameter) {
    return std::size_t(element_count(parameter.dims) * size_of(parameter.dtype));
}

}  // namespace
}  // namespace dtnn::library

using namespace dtnn::library;  // NOLINT(google-build-using-namespace): this file is its C side

struct dtnn_network {
    dtnn_network(const runtime::LoadedPlan& loaded, const OpenRequest& request,
                 Network::Warnings& warnings)
        : network(loaded, request, warnings) {
        for (const plan::Feature& input : network.plan().dataset.inputs) {
            const bool integers = input.kind == plan::LabelKind::classes;
            inputs.emplace_back(input.name, integers ? dtnn::DType::i32 : dtnn::DType::f32,
                                input.stored_dims.empty() ? input.dims : input.stored_dims,
                                input.axes, integers ? input.classes : 0);
        }
        for (const std::size_t i : network.weights()) {
            const plan::Parameter& parameter = network.plan().parameters[i];
            weights.emplace_back(parameter.name, parameter.dtype, parameter.dims, dtnn::Axes());
        }
        if (plan::find_program(network.plan(), plan::ProgramKind::predict) == nullptr) return;
        form = runtime::prediction_form(network.plan());
        prediction.emplace("predictions", network.plan().target.dtype, form.dims, form.axes);
    }
    /// The parameter of this name.
    std::size_t parameter(const char* name) const {
        need(name, "name");
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (weights[i].name == name) return network.weights()[i];
        throw wrong_argument(fmt::format("the plan has no weights `{}`", name),
                             "dtnn_weight_form gives the names of all");
    }

    /// Of its predictions. RunError (exit 5) where the plan has no program that predicts.
    const Form& predicted() const {
        if (!prediction) static_cast<void>(runtime::prediction_form(network.plan()));
        return *prediction;
    }

    Network network;
    std::vector<Form> inputs, weights;
    runtime::PredictionForm form;
    std::optional<Form> prediction;  ///< nothing: the plan has no program that predicts
    Measures evaluated;
};

dtnn_status dtnn_open(const dtnn_plan* plan, const dtnn_open_options* options,
                      dtnn_network** network, dtnn_report** report) {
    return guarded(report, [&](Said& said) {
        need(network, "network");
        *network = nullptr;
        need(plan, "plan");
        const dtnn_open_options given = taken(options);
        if (given.threads < 0) throw wrong_argument("threads is a number of at least 0");
        const auto text = [](const char* word) { return word == nullptr ? "" : word; };
        const OpenRequest request = {given.threads, text(given.weights), text(given.run_folder),
                                     given.replace_run != 0};
        *network = std::make_unique<dtnn_network>(plan->loaded, request, said.warnings).release();
    });
}

void dtnn_close(dtnn_network* network) {
    static_cast<void>(guarded(nullptr, [&](Said&) { delete network; }));
}

int dtnn_threads(const dtnn_network* network) {
    return network == nullptr ? 0 : network->network.threads();
}

size_t dtnn_input_count(const dtnn_network* network) {
    return network == nullptr ? 0 : network->inputs.size();
}

dtnn_status dtnn_input_form(const dtnn_network* network, size_t index, dtnn_array_form* form) {
    return guarded(nullptr, [&](Said&) {
        if (index >= dtnn_input_count(network)) throw wrong_argument("there are fewer inputs");
        give(network->inputs[index].shown(), form);
    });
}

dtnn_status dtnn_output_form(const dtnn_network* network, dtnn_array_form* form) {
    return guarded(nullptr, [&](Said&) {
        need(network, "network");
        give(network->predicted().shown(), form);
    });
}

dtnn_status dtnn_prediction(const dtnn_network* network, dtnn_prediction_form* form) {
    return guarded(nullptr, [&](Said&) {
        need(network, "network");
        static_cast<void>(network->predicted());
        const plan::LabelKind kind = network->form.kind;
        const int meaning = kind == plan::LabelKind::values || kind == plan::LabelKind::input
                                ? DTNN_VALUES
                            : !network->form.probabilities      ? DTNN_SCORES
                            : kind == plan::LabelKind::multiple ? DTNN_LABELS
                                                                : DTNN_PROBABILITIES;
        give({.size = 0, .meaning = meaning, .batch = network->network.plan().training.batch_size},
             form);
    });
}

const char* dtnn_class_name(const dtnn_network* network, size_t index) {
    if (network == nullptr || index >= network->network.class_names().size()) return nullptr;
    return network->network.class_names()[index].c_str();
}

dtnn_status dtnn_predict(dtnn_network* network, const dtnn_array* inputs, size_t inputs_count,
                         void* predictions, int dtype, size_t bytes, dtnn_report** report) {
    return guarded(report, [&](Said&) {
        need(network, "network");
        need(inputs, "inputs");
        if (inputs_count != network->inputs.size())
            throw wrong_argument(fmt::format("{} arrays are given; the network has {} inputs",
                                             inputs_count, network->inputs.size()),
                                 "give an array for each, in the order of dtnn_input_form");
        const Form& form = network->predicted();
        std::vector<runtime::GivenArray> arrays;
        // The caller's version of the struct may be a smaller one.
        const auto* place = reinterpret_cast<const char*>(inputs);
        for (std::size_t i = 0; i < inputs_count; ++i, place += inputs->size)
            arrays.push_back(given_array(taken(reinterpret_cast<const dtnn_array*>(place))));
        const std::int64_t samples = arrays.front().header.dims.front();
        if (dtype != DTNN_F32 && dtype != DTNN_F64)
            throw wrong_argument("predictions are DTNN_F32 or DTNN_F64");
        const std::int64_t numbers = samples * dtnn::element_count(form.dims);
        const std::int64_t wanted = numbers * (dtype == DTNN_F32 ? 4 : 8);
        if (std::int64_t(bytes) != wanted)
            throw wrong_argument(fmt::format(
                "predictions has {} bytes; those of {} samples take {}", bytes, samples, wanted));
        if (wanted > 0) need(predictions, "predictions");
        if (dtype == DTNN_F32)
            network->network.predict(std::move(arrays), std::span(static_cast<float*>(predictions),
                                                                  std::size_t(numbers)));
        else
            network->network.predict(std::move(arrays), std::span(static_cast<double*>(predictions),
                                                                  std::size_t(numbers)));
    });
}

dtnn_status dtnn_evaluate(dtnn_network* network, const char* split, dtnn_measures* measures,
                          dtnn_report** report) {
    return guarded(report, [&](Said& said) {
        need(network, "network");
        need(split, "split");
        need(measures, "measures");
        network->evaluated.set(network->network.evaluate(split, said.warnings));
        *measures = network->evaluated.shown;
    });
}

dtnn_status dtnn_train(dtnn_network* network, const dtnn_train_options* options,
                       dtnn_training* training, dtnn_report** report) {
    return guarded(report, [&](Said& said) {
        need(network, "network");
        const dtnn_train_options given = taken(options);
        if (given.epochs < 0 || given.steps < 0 || (given.epochs > 0 && given.steps > 0))
            throw wrong_argument("a training goes on for some epochs or some steps, not both");
        const Network& its = network->network;
        Measures train, validation;
        TrainListener listener;
        const auto tell = [&](dtnn_progress& progress) {
            progress.size = sizeof progress;
            progress.train = train.shown;
            progress.validation = validation.shown;
            return given.callback(&progress, given.context) != 0;
        };
        if (given.callback != nullptr && given.every_step != 0) {
            listener.step = [&](const runtime::Progress& now) {
                train.set(now.train);
                validation.set(runtime::PassValues());
                dtnn_progress progress{};
                progress.event = DTNN_STEP;
                progress.epoch = now.epoch;
                progress.epochs = now.epochs;
                progress.step = now.step;
                progress.steps = now.steps;
                progress.total_steps = (now.epoch - 1) * now.steps + now.step;
                progress.seconds = now.seconds;
                return tell(progress);
            };
        }
        if (given.callback != nullptr) {
            listener.epoch = [&](const runtime::EpochResult& result) {
                train.set(result.train);
                validation.set(result.validation);
                dtnn_progress progress{};
                progress.event = DTNN_EPOCH;
                progress.epoch = result.epoch;
                progress.epochs = its.plan().training.epochs;
                progress.step = progress.steps = runtime::extent_of(its.plan()).batches;
                progress.total_steps = result.step;
                progress.learning_rate = result.learning_rate;
                progress.samples_per_second = result.samples_per_second;
                progress.seconds = result.seconds;
                return tell(progress);
            };
        }
        const Trained done =
            network->network.train({given.epochs, given.steps}, listener, said.warnings);
        if (training == nullptr) return;
        give({.size = 0,
              .epoch = done.epoch,
              .step = done.step,
              .ended = int(done.ended),
              .stopped = int(done.stopped)},
             training);
    });
}

size_t dtnn_weight_count(const dtnn_network* network) {
    return network == nullptr ? 0 : network->weights.size();
}

dtnn_status dtnn_weight_form(const dtnn_network* network, size_t index, dtnn_array_form* form) {
    return guarded(nullptr, [&](Said&) {
        if (index >= dtnn_weight_count(network)) throw wrong_argument("there are fewer weights");
        give(network->weights[index].shown(), form);
    });
}

namespace {

/// The parameter, if the caller's array is of its size.
std::size_t sized_parameter(const dtnn_network* network, const char* name, const void* data,
                            std::size_t bytes) {
    need(network, "network");
    need(data, "data");
    const std::size_t index = network->parameter(name);
    const std::size_t wanted = bytes_of(network->network.plan().parameters[index]);
    if (bytes != wanted)
        throw wrong_argument(fmt::format("`{}` has {} bytes; {} are given", name, wanted, bytes),
                             "dtnn_weight_form gives its type and dims");
    return index;
}

template <class Real>
bool all_finite(std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Real)) {
        Real value = 0;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        if (!std::isfinite(value)) return false;
    }
    return true;
}

}  // namespace

dtnn_status dtnn_weight_read(dtnn_network* network, const char* name, void* data, size_t bytes,
                             dtnn_report** report) {
    return guarded(report, [&](Said&) {
        const std::size_t index = sized_parameter(network, name, data, bytes);
        network->network.read_weight(index, {static_cast<std::byte*>(data), bytes});
    });
}

dtnn_status dtnn_weight_write(dtnn_network* network, const char* name, const void* data,
                              size_t bytes, dtnn_report** report) {
    return guarded(report, [&](Said&) {
        const std::size_t index = sized_parameter(network, name, data, bytes);
        const std::span from(static_cast<const std::byte*>(data), bytes);
        const bool wide = network->network.plan().parameters[index].dtype == dtnn::DType::f64;
        if (!(wide ? all_finite<double>(from) : all_finite<float>(from)))
            throw runtime::RunError(runtime::Exit::mismatch,
                                    fmt::format("what is given for `{}` is not finite", name),
                                    "weights are finite numbers");
        network->network.write_weight(index, from);
    });
}

dtnn_status dtnn_weights_save(dtnn_network* network, const char* path, dtnn_report** report) {
    return guarded(report, [&](Said&) {
        need(network, "network");
        need(path, "path");
        network->network.save_weights(path);
    });
}

dtnn_status dtnn_weights_load(dtnn_network* network, const char* path,
                              const dtnn_load_options* options, dtnn_report** report) {
    return guarded(report, [&](Said& said) {
        need(network, "network");
        need(path, "path");
        const dtnn_load_options given = taken(options);
        runtime::WeightRequest request;
        request.path = path;
        if (given.map != nullptr) request.map = given.map;
        if (given.layout != nullptr) request.layout = given.layout;
        if (given.match != nullptr && !dtnn::parse_name(given.match, request.match))
            throw wrong_argument(fmt::format("weights are not matched by `{}`", given.match),
                                 "name one of auto, name, order, file_order, name_order");
        request.allow_missing = given.allow_missing != 0;
        request.cast = given.cast != 0;
        request.map_folders = dtnn::spec_folders();
        network->network.load_weights(request, said.warnings);
    });
}
