#include "runtime/checkpoint/run_checkpoints.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/folders.hpp"
#include "runtime/base/checksum.hpp"
#include "runtime/base/files.hpp"
#include "runtime/checkpoint/parameter_tensors.hpp"
#include "runtime/checkpoint/training_identity.hpp"

namespace dtnn::runtime {
namespace {

constexpr const char* kAside = ".writing-";
constexpr const char* kDamaged = "damaged-";

bool is_step(const std::string& name) {
    return !name.empty() &&
           std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A checksum of the tensors' bytes: a file that was changed is not taken back.
std::string checksum_of(std::span<const StoredTensor> tensors) {
    Checksum checksum;
    for (const StoredTensor& tensor : tensors)
        checksum.add(tensor.bytes);
    return checksum.text();
}

}  // namespace

RunCheckpoints::RunCheckpoints(std::string run_folder, Executor& executor, RunIdentity identity,
                               std::function<std::int64_t()> history)
    : folder_(std::move(run_folder)),
      executor_(executor),
      identity_(std::move(identity)),
      history_(std::move(history)) {}

std::vector<std::string> RunCheckpoints::steps() const {
    std::vector<std::string> names = names_in(folder());
    std::erase_if(names, [](const std::string& name) { return !is_step(name); });
    // All names are as long, but for those behind ten thousand million steps.
    std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    return names;
}

void RunCheckpoints::clean() {
    for (const std::string& name : names_in(folder())) {
        if (!name.starts_with(kAside)) continue;
        // Killed between the two names of an exchange by hand (folders.cpp): it is the whole one.
        const bool moved_away = name.ends_with(kMovedAway);
        const std::string step = name.substr(
            std::string_view(kAside).size(),
            name.size() - std::string_view(kAside).size() - (moved_away ? kMovedAway.size() : 0));
        std::error_code error;
        if (moved_away && is_step(step) && !std::filesystem::exists(folder() + "/" + step, error)) {
            std::filesystem::rename(folder() + "/" + name, folder() + "/" + step, error);
            if (!error) continue;
        }
        remove_folder(folder() + "/" + name);
    }
}

void RunCheckpoints::remove_old() const {
    const std::vector<std::string> names = steps();
    const auto keep =
        std::size_t(std::max<std::int64_t>(1, executor_.plan().training.checkpoint.keep));
    for (std::size_t i = 0; i + keep < names.size(); ++i) {
        // A name that is gone at once: a folder that is being removed is no checkpoint.
        const std::string aside = fmt::format("{}/{}{}", folder(), kAside, names[i]);
        std::error_code error;
        std::filesystem::rename(folder() + "/" + names[i], aside, error);
        if (!error) remove_folder(aside);
    }
}

void RunCheckpoints::checkpoint(TrainingState state) {
    Checkpoint whole;
    whole.state = std::move(state);
    whole.model = executor_.plan().model;
    whole.plan = identity_.plan_checksum;
    whole.training = training_identity(executor_.plan());
    whole.dataset = identity_.dataset;
    whole.threads = identity_.threads;
    const std::string name = fmt::format("{:010}", whole.state.step);
    const std::string aside = fmt::format("{}/{}{}", folder(), kAside, name);
    const auto write = [&] {
        // Someone may have removed the run's folder since it began.
        create_folders(folder());
        whole.history_bytes = history_();
        remove_folder(aside);
        create_folders(aside);
        write_checkpoint(aside, executor_, whole);
        const std::string place = folder() + "/" + name;
        if (const int error = put_folder(aside, place)) throw system_error("write", place, error);
        write_file(folder() + "/latest", name + "\n");
    };
    try {
        try {
            write();
        } catch (const RunError&) {
            // Removed while it was written to: once more, from the beginning.
            std::error_code ignored;
            if (std::filesystem::exists(folder(), ignored)) throw;
            write();
        }
    } catch (const RunError& error) {
        remove_folder(aside);
        const std::vector<std::string> left = steps();
        throw RunError(error.exit(),
                       fmt::format("the checkpoint of step {} cannot be written: {}",
                                   whole.state.step, error.what()),
                       left.empty() ? error.help()
                                    : fmt::format("{}; then go on from the checkpoint of step {}: "
                                                  "dtnn-run --resume {}",
                                                  error.help().empty() ? "mend that" : error.help(),
                                                  std::stoll(left.back()), folder_),
                       error.detail());
    }
    remove_old();
    forget_dropped();
}

void RunCheckpoints::forget_dropped() {
    for (const std::string& path : dropped_)
        ::unlink(path.c_str());
    dropped_.clear();
}

std::string RunCheckpoints::best_path(const BestWeights& best, std::int64_t epoch) const {
    return fmt::format("{}/best/{}/epoch_{}.safetensors", folder_, best.key, epoch);
}

void RunCheckpoints::keep_best(const BestWeights& best) {
    const plan::Plan& plan = executor_.plan();
    ParameterTensors tensors;
    if (best.to_restore) {
        for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
            const plan::Parameter& parameter = plan.parameters[i];
            if (!parameter.optimizer_state || parameter.kind == plan::ParameterKind::average)
                tensors.add(executor_, i, parameter.name);
        }
    } else {
        tensors = evaluated_tensors(executor_);
    }
    const std::string path = best_path(best, best.epoch);
    create_folders(std::filesystem::path(path).parent_path().string());
    std::map<std::string, std::string> metadata = own_metadata(plan.model, identity_.plan_checksum);
    metadata["epoch"] = std::to_string(best.epoch);
    metadata.emplace(best.metric, fmt::format("{}", best.value));
    metadata["checksum"] = checksum_of(tensors.all());
    write_safetensors(path, tensors.all(), metadata);
    for (const std::int64_t epoch : best.dropped)
        dropped_.push_back(best_path(best, epoch));
    // A checkpoint may name them; the next one does not.
    if (steps().empty()) forget_dropped();
}

void RunCheckpoints::forget_others(const std::vector<KeptWeights>& kept) {
    std::set<std::string> wanted;
    for (const KeptWeights& one : kept)
        wanted.insert(best_path({one.key, 0, "", 0, false, {}}, one.epoch));
    for (const std::string& key : names_in(folder_ + "/best")) {
        const std::string best = folder_ + "/best/" + key;
        for (const std::string& name : names_in(best)) {
            if (!wanted.contains(best + "/" + name)) ::unlink((best + "/" + name).c_str());
        }
    }
}

void RunCheckpoints::take_back(const BestWeights& best) {
    const std::string path = best_path(best, best.epoch);
    const Safetensors file = read_safetensors(path);
    const auto refuse = [&](const std::string& fact) {
        throw RunError(Exit::failed, fmt::format("{}: {}", path, fact),
                       "it was changed after the run wrote it; the run's checkpoints are whole");
    };
    const auto checksum = file.metadata.find("checksum");
    if (checksum == file.metadata.end() || checksum->second != checksum_of(file.tensors))
        refuse("it is not the bytes that were written");
    const std::vector<plan::Parameter>& parameters = executor_.plan().parameters;
    for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const plan::Parameter& parameter = parameters[i];
            if (parameter.optimizer_state && parameter.kind != plan::ParameterKind::average)
                continue;
            const StoredTensor* tensor = file.find(parameter.name);
            if (tensor == nullptr || tensor->dtype != parameter.dtype ||
                tensor->dims != parameter.dims) {
                refuse(fmt::format("it does not hold `{}` as the plan has it", parameter.name));
            } else if (pass == 1) {
                set_parameter(executor_, i, tensor->bytes);
            }
        }
    }
}

std::optional<Checkpoint> RunCheckpoints::load_newest(
    const std::function<void(const std::string&)>& warn) {
    std::vector<std::string> names = steps();
    if (names.empty()) {
        // Beginning from the start would throw away what may be mended.
        for (const std::string& name : names_in(folder())) {
            if (!name.starts_with(kDamaged)) continue;
            throw DamagedCheckpoint(
                Exit::mismatch, fmt::format("{} holds damaged checkpoints only", folder()),
                "bring one back from a copy, or begin the training again in another folder");
        }
        return std::nullopt;
    }
    std::optional<DamagedCheckpoint> last;
    std::vector<std::string> broken;
    for (; !names.empty(); names.pop_back()) {
        const std::string path = folder() + "/" + names.back();
        try {
            Checkpoint checkpoint =
                read_checkpoint(path, executor_, identity_.plan_checksum, identity_.ended);
            // Their names would make them some of those that are kept, in place of whole ones.
            for (const std::string& name : broken) {
                const std::string aside = fmt::format("{}/{}{}", folder(), kDamaged, name);
                remove_folder(aside);
                std::error_code ignored;
                std::filesystem::rename(folder() + "/" + name, aside, ignored);
            }
            return checkpoint;
        } catch (const DamagedCheckpoint& error) {
            last = error;
            broken.push_back(names.back());
            if (names.size() > 1) {
                warn(fmt::format("{}; going on from the one before, of step {}", error.what(),
                                 std::stoll(names[names.size() - 2])));
            }
        }
    }
    throw DamagedCheckpoint(*last);
}

}  // namespace dtnn::runtime
