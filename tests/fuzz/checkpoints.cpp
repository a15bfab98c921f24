/// Checkpoints that someone has changed and given the right checksums: they are refused with a
/// message, or training goes on from them and ends.
///
/// An input is a choice of a plan and of a number of ranks, and edits (json_edits.hpp) to what
/// state.json says and to the header of the parameters.

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "plan/rules/parallel.hpp"
#include "runtime/base/checksum.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/checkpoint/run_checkpoints.hpp"
#include "runtime/data/sample_source.hpp"
#include "runtime/train/loop.hpp"
#include "runtime/train/session.hpp"
#include "tests/fuzz/json_edits.hpp"
#include "tests/fuzz/sample_plans.hpp"

namespace {

using namespace dtnn::fuzz;
using namespace dtnn::runtime;

constexpr std::size_t kLengthBytes = 8;

std::string text_of(const std::string& path) {
    return read_file(path, 1 << 20, "a part of a checkpoint", Exit::failed);
}

void put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// The program's folder, away with it.
struct Folder {
    Folder() {
        char name[] = "/tmp/dtnn-fuzz-checkpoints-XXXXXX";
        if (mkdtemp(name) == nullptr) fail("no folder for checkpoints");
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string path;
};

std::string fresh_folder() {
    static const Folder folder;
    const std::string run = folder.path + "/run";
    std::filesystem::remove_all(run);
    std::filesystem::create_directories(run + "/checkpoints");
    return run;
}

/// A session of one rank with its checkpoints.
struct Run {
    Run(const LoadedPlan& loaded, const std::string& folder)
        : session(loaded.plan, 1, made_up_source(loaded.plan.dataset)),
          keeper(folder, session.executor(), {loaded.checksum, "xxh3:d", 1},
                 [] { return std::int64_t{0}; }) {}

    void train(const TrainingState* from, std::int64_t until_step) {
        TrainingObserver nobody;
        TrainingRequest request;
        request.from = from;
        request.keeper = &keeper;
        request.until_step = until_step;
        (void)dtnn::runtime::train(session, nobody, request);
    }

    Session session;
    RunCheckpoints keeper;
};

/// A checkpoint in the midst of a training.
struct Kept {
    explicit Kept(const LoadedPlan& the_plan) : loaded(&the_plan) {
        const std::string folder = fresh_folder();
        Run run(the_plan, folder);
        run.train(nullptr, 3);
        for (const auto& entry : std::filesystem::directory_iterator(run.keeper.folder()))
            if (entry.is_directory()) name = entry.path().filename();
        if (name.empty()) fail("a plan of which no checkpoint is kept after three steps");
        const std::string checkpoint = folder + "/checkpoints/" + name + "/";
        state = dtnn::parse_json(text_of(checkpoint + "state.json"))["content"];
        const std::string file = text_of(checkpoint + "parameters.safetensors");
        std::uint64_t length = 0;
        std::memcpy(&length, file.data(), kLengthBytes);
        header = dtnn::parse_json(file.substr(kLengthBytes, length));
        data = file.substr(kLengthBytes + length);
    }
    const LoadedPlan* loaded;
    std::string name, data;
    dtnn::Json state, header;
};

std::vector<Kept>& all_kept() {
    static std::vector<Kept> all = [] {
        std::vector<Kept> made;
        for (const SamplePlan& sample : sample_plans())
            if (dtnn::plan::refuses_ranks(sample.loaded.plan, 1).empty())
                made.emplace_back(sample.loaded);
        return made;
    }();
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Choices choices(data, size);
    const Kept& kept = all_kept()[choices.below(all_kept().size())];
    dtnn::Json state = kept.state, header = kept.header;
    const int ranks = 1 + int(choices.below(4));
    if (choices.below(2) == 0) edit(header, choices, 2);
    edit(state, choices);

    const std::string run_folder = fresh_folder();
    const std::string folder = run_folder + "/checkpoints/" + kept.name + "/";
    std::filesystem::create_directories(folder);
    const std::string text = dtnn::write_json(header);
    const std::uint64_t length = text.size();
    std::string file(kLengthBytes, '\0');
    std::memcpy(file.data(), &length, kLengthBytes);
    file += text + kept.data;
    put(folder + "parameters.safetensors", file);
    if (state.contains("files") && state["files"].contains("parameters.safetensors") &&
        state["files"]["parameters.safetensors"].is_object())
        state["files"]["parameters.safetensors"]["checksum"] = checksum_text(file);
    const std::string content = dtnn::write_json(state);
    put(folder + "state.json",
        "{\"checksum\": \"" + checksum_text(content) + "\", \"content\":\n" + content + "}\n");
    put(run_folder + "/checkpoints/latest", kept.name + "\n");
    try {
        Run run(*kept.loaded, run_folder);
        const auto newest = run.keeper.load_newest([](const std::string&) {});
        if (!newest) return 0;
        if (ranks > 1) (void)at_ranks(kept.loaded->plan, newest->state, ranks);
        const TrainingState from = at_ranks(kept.loaded->plan, newest->state, 1);
        run.train(&from, 0);
    } catch (const RunError& error) {
        check_message(error);
    }
    return 0;
}
