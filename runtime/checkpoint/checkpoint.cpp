#include "runtime/checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/file_limits.hpp"
#include "base/formats.hpp"
#include "base/json.hpp"
#include "base/saturating.hpp"
#include "plan/rules/staging.hpp"
#include "runtime/base/checksum.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/checkpoint/parameter_tensors.hpp"
#include "runtime/checkpoint/training_identity.hpp"

namespace dtnn::runtime {
namespace {

constexpr const char* kParameters = "parameters.safetensors";
constexpr const char* kState = "state.json";
constexpr const char* kSums = "sums of the epoch";
constexpr const char* kCounts = "counts of the epoch";
constexpr const char* kOwnStates = "states of the other ranks";
constexpr const char* kCarriedStates = "states between batches";

Json number_json(double value) {
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

double number_of(const Json& json) {
    const double infinity = std::numeric_limits<double>::infinity();
    if (!json.is_string()) return json.get<double>();
    return json.get<std::string>() == "inf" ? infinity : -infinity;
}

Json content_of(const Checkpoint& checkpoint) {
    const TrainingState& state = checkpoint.state;
    Json schedules = Json::array();
    for (const std::vector<double>& numbers : state.schedules) {
        Json list = Json::array();
        for (const double number : numbers)
            list.push_back(number_json(number));
        schedules.push_back(std::move(list));
    }
    return {{"version", formats::kCheckpoint.number},
            {"writer", "dtnn-run " DTNN_VERSION},
            {"model", checkpoint.model},
            {"plan", checkpoint.plan},
            {"training", checkpoint.training},
            {"dataset", checkpoint.dataset},
            {"threads", checkpoint.threads},
            {"ranks", state.ranks},
            {"epoch", state.epoch},
            {"batch", state.batch},
            {"step", state.step},
            {"update", state.update},
            {"epoch_seconds", state.epoch_seconds},
            {"seconds", state.seconds},
            {"stop", state.stop},
            {"schedules", std::move(schedules)},
            {"history_bytes", checkpoint.history_bytes}};
}

/// Epochs, steps, bytes: far from where sums of them overflow. What a plan allows of them is for
/// those who read them.
std::int64_t count_of(const Json& content, const char* name) {
    constexpr std::int64_t kMost = std::int64_t{1} << 53;
    return whole_number_of(content.at(name), -kMost, kMost);
}

/// Threads, ranks.
int small_count_of(const Json& content, const char* name) {
    constexpr int kMost = std::numeric_limits<int>::max();
    return int(whole_number_of(content.at(name), -kMost, kMost));
}

Checkpoint checkpoint_of(const Json& content) {
    Checkpoint checkpoint;
    TrainingState& state = checkpoint.state;
    checkpoint.model = content.at("model").get<std::string>();
    checkpoint.plan = content.at("plan").get<std::string>();
    // Earlier ones do not say it.
    checkpoint.training = content.value("training", std::string());
    checkpoint.dataset = content.at("dataset").get<std::string>();
    checkpoint.threads = small_count_of(content, "threads");
    checkpoint.history_bytes = count_of(content, "history_bytes");
    // Those of one rank have not always said so.
    if (content.contains("ranks")) state.ranks = small_count_of(content, "ranks");
    if (state.ranks < 1) state.ranks = 1;
    // Earlier ones do not say it: they are gone on from by plans of the same batch.
    if (content.contains("batch_size")) state.batch_size = count_of(content, "batch_size");
    state.epoch = count_of(content, "epoch");
    state.batch = count_of(content, "batch");
    state.step = count_of(content, "step");
    state.update = count_of(content, "update");
    state.epoch_seconds = content.at("epoch_seconds").get<double>();
    state.seconds = content.at("seconds").get<double>();
    state.stop = content.at("stop").get<std::string>();
    for (const Json& list : content.at("schedules")) {
        std::vector<double>& numbers = state.schedules.emplace_back();
        for (const Json& number : list)
            numbers.push_back(number_of(number));
    }
    return checkpoint;
}

[[noreturn]] void damaged(const std::string& folder, const std::string& fact) {
    throw DamagedCheckpoint(Exit::mismatch,
                            fmt::format("the checkpoint {} is damaged: {}", folder, fact),
                            "go on from another one, or begin the training again");
}

/// A file of the checkpoint. One that is not there is damage; one that the system does not hand out
/// (permissions, a stalled disk) may be whole, and says so itself.
std::string read_part(const std::string& folder, const char* name, std::int64_t most) {
    const std::string path = folder + "/" + name;
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !error)
        damaged(folder, fmt::format("{} is missing", name));
    const RegularFile file(path);
    if (file.size() > most) damaged(folder, fmt::format("{} has {} bytes", name, file.size()));
    return file.read_all(most, name);
}

/// state.json: its content, and before it the checksum of the content's bytes.
std::string state_text(std::string_view content) {
    return fmt::format("{{\"checksum\": \"{}\", \"content\":\n{}}}\n", checksum_text(content),
                       content);
}

/// The content of state.json: nothing looks into it before its bytes are known to be those that
/// were written.
Json read_state(const std::string& folder) {
    const std::string text = read_part(folder, kState, kMostSmallFileBytes);
    const std::size_t begin = state_text("").find('\n') + 1, end = text.rfind('}');
    std::string_view inside;
    if (begin < text.size() && end != std::string::npos && end > begin)
        inside = std::string_view(text).substr(begin, end - begin);
    Json content = text == state_text(inside) ? parse_json_or_discard(inside) : Json();
    if (!content.is_object())
        damaged(folder, fmt::format("{} is not the text that was written", kState));
    const Json number = content.value("version", Json());
    if (number != formats::kCheckpoint.number) {
        const Json writer = content.value("writer", Json());
        throw RunError(Exit::mismatch,
                       fmt::format("{}: {}", folder,
                                   other_format(formats::kCheckpoint, write_json(number),
                                                writer.is_string() ? writer.get<std::string>()
                                                                   : std::string())),
                       "go on with the release that the training began with");
    }
    return content;
}

/// The facts that keep the tensors from being the plan's parameters; empty: none.
std::vector<std::string> differences(const plan::Plan& plan, const Safetensors& file) {
    std::vector<std::string> found;
    std::size_t known = 0;
    const auto compare = [&](const std::string& name, DType dtype, const Dims& dims) {
        const StoredTensor* tensor = file.find(name);
        if (tensor == nullptr) {
            found.push_back(fmt::format("`{}` is not in the checkpoint", name));
            return;
        }
        ++known;
        if (tensor->dtype == dtype && tensor->dims == dims) return;
        found.push_back(fmt::format("`{}` is {} in the checkpoint and {} in the plan", name,
                                    describe_tensor(tensor->dtype, tensor->dims),
                                    describe_tensor(dtype, dims)));
    };
    for (const std::size_t i : unsharded_parameters(plan))
        compare(plan.parameters[i].name, plan.parameters[i].dtype, plan.parameters[i].dims);
    for (const ShardTensor& piece : shard_tensors(plan))
        compare(piece.name, plan.parameters[piece.state].dtype, dims_of(plan, piece));
    std::size_t others = 0;
    for (const char* name : {kSums, kCounts, kOwnStates, kCarriedStates})
        if (file.find(name) != nullptr) ++others;
    if (known + others < file.tensors.size()) {
        found.push_back(fmt::format("{} tensors of the checkpoint are not in the plan",
                                    file.tensors.size() - known - others));
    }
    return found;
}

/// Of what is carried between batches, where the training stands between two of an epoch.
std::int64_t carried_bytes(const plan::Plan& plan, const TrainingState& state) {
    if (state.batch <= 0) return 0;
    const std::int64_t batch = plan.training.batch_size;
    std::int64_t bytes = 0;
    for (const plan::Tensor* one : plan::carried_states(plan))
        bytes += element_count(one->dims) * size_of(one->dtype) / batch;
    return saturating_product(
        {bytes, state.batch_size > 0 ? state.batch_size : batch, state.ranks});
}

}  // namespace

void write_checkpoint(const std::string& folder, const Executor& executor,
                      const Checkpoint& checkpoint) {
    ParameterTensors tensors;
    const plan::Plan& plan = executor.plan();
    for (const std::size_t i : unsharded_parameters(plan))
        tensors.add(executor, i, plan.parameters[i].name);
    if (executor.shard_states().empty() && executor.shard_states().wanted())
        throw RunError(Exit::internal, "the states that ranks have in parts were not gathered",
                       "please report this");
    for (const ShardTensor& piece : shard_tensors(plan))
        tensors.add(executor, piece);
    std::vector<StoredTensor> all(tensors.all().begin(), tensors.all().end());
    const auto add = [&all](const char* name, const std::vector<std::byte>& part) {
        all.push_back({name, DType::u8, {std::int64_t(part.size())}, part});
    };
    add(kSums, checkpoint.state.sums);
    if (!checkpoint.state.counts.empty()) add(kCounts, checkpoint.state.counts);
    if (!checkpoint.state.own_states.empty()) add(kOwnStates, checkpoint.state.own_states);
    if (!checkpoint.state.carried.empty()) add(kCarriedStates, checkpoint.state.carried);
    std::int64_t bytes = 0;
    for (const StoredTensor& tensor : all)
        bytes += std::int64_t(tensor.bytes.size());
    const std::string checksum = write_safetensors(folder + "/" + kParameters, all,
                                                   own_metadata(checkpoint.model, checkpoint.plan));

    Json content = content_of(checkpoint);
    content["batch_size"] = plan.training.batch_size;
    content["files"] = {{kParameters, {{"data_bytes", bytes}, {"checksum", checksum}}}};
    write_file(folder + "/" + kState, state_text(write_json(content)));
}

Checkpoint read_checkpoint(const std::string& folder, Executor& executor,
                           const std::string& plan_checksum,
                           const std::vector<std::string>& ended) {
    const Json content = read_state(folder);
    const plan::Plan& plan = executor.plan();
    Checkpoint checkpoint;
    std::string checksum;
    try {
        checkpoint = checkpoint_of(content);
        checksum = content.at("files").at(kParameters).at("checksum").get<std::string>();
    } catch (const Json::exception& error) {
        damaged(folder, error.what());
    }
    std::string bytes = read_part(folder, kParameters, kMostTensorBytes);
    if (checksum_text(bytes) != checksum)
        damaged(folder, fmt::format("{} is not the bytes that were written", kParameters));
    const std::string path = folder + "/" + kParameters;
    const Safetensors file = parse_safetensors(std::move(bytes), path);
    const std::vector<std::string> found = differences(plan, file);
    const bool same_training =
        checkpoint.plan == plan_checksum || checkpoint.training == training_identity(plan) ||
        std::find(ended.begin(), ended.end(), checkpoint.training) != ended.end();
    if (!same_training || !found.empty()) {
        constexpr std::size_t kShown = 10;
        std::vector<std::string> lines;
        if (!same_training) {
            lines.push_back(fmt::format("its plan is {}, the plan given is {}", checkpoint.plan,
                                        plan_checksum));
        }
        if (checkpoint.model != plan.model) {
            lines.push_back(
                fmt::format("its model is `{}`, the plan's is `{}`", checkpoint.model, plan.model));
        }
        lines.insert(lines.end(), found.begin(),
                     found.begin() + std::ptrdiff_t(std::min(found.size(), kShown)));
        if (found.size() > kShown) lines.push_back(fmt::format("... {} in all", found.size()));
        throw RunError(Exit::mismatch, fmt::format("the checkpoint {} is of another plan", folder),
                       "go on with the plan that the training began with, or begin a new training "
                       "with its weights (--weights)",
                       fmt::format("{}", fmt::join(lines, "\n  ")));
    }
    const StoredTensor* sums = file.find(kSums);
    if (sums == nullptr) damaged(folder, fmt::format("`{}` is missing", kSums));
    checkpoint.state.sums.assign(sums->bytes.begin(), sums->bytes.end());
    if (const StoredTensor* counts = file.find(kCounts))
        checkpoint.state.counts.assign(counts->bytes.begin(), counts->bytes.end());
    if (const StoredTensor* own = file.find(kOwnStates))
        checkpoint.state.own_states.assign(own->bytes.begin(), own->bytes.end());
    if (const std::int64_t wanted = carried_bytes(plan, checkpoint.state); wanted > 0) {
        const StoredTensor* carried = file.find(kCarriedStates);
        if (carried == nullptr || std::int64_t(carried->bytes.size()) != wanted)
            damaged(folder, fmt::format("`{}` is not of {} bytes", kCarriedStates, wanted));
        checkpoint.state.carried.assign(carried->bytes.begin(), carried->bytes.end());
    }
    for (const std::size_t i : unsharded_parameters(plan))
        set_parameter(executor, i, file.find(plan.parameters[i].name)->bytes);
    executor.shard_states().make_room();
    for (const ShardTensor& piece : shard_tensors(plan))
        set_shard_tensor(executor, piece, file.find(piece.name)->bytes);
    return checkpoint;
}

}  // namespace dtnn::runtime
