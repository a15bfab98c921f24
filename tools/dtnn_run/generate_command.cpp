/// Text from a network over next tokens: prompts of the command line, or lines of standard input as
/// they come, and what the network goes on with.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json_text.hpp"
#include "base/standard_input.hpp"
#include "runtime/base/files.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/checkpoint/weights.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/generate/generator.hpp"
#include "runtime/generate/text_stream.hpp"
#include "runtime/generate/text_tokens.hpp"
#include "tools/dtnn_run/commands.hpp"
#include "tools/dtnn_run/start.hpp"
#include "tools/dtnn_run/trained_network.hpp"

namespace dtnn {
namespace {

using namespace runtime;  // NOLINT(google-build-using-namespace): this file is its command line

constexpr const char* kGivePrompt =
    "a text needs a first token: give --prompt TEXT, or a line on standard input";

/// The lines of standard input, each as soon as it is there.
class InputLines {
  public:
    /// Without its end. Nothing: there are no more, or a signal asks to stop.
    std::optional<std::string> next() {
        const auto is_there = [](const std::string& text) {
            if (text.find('\n') != text.npos || stop_requested() != 0) return true;
            if (text.size() > kMost)
                throw RunError(Exit::failed, "a line of standard input is longer than 16 MiB",
                               "end each prompt with a line end");
            return false;
        };
        if (const int error = read_standard_input(text_, is_there); error != 0)
            throw system_error("read", "standard input", error);
        if (stop_requested() != 0 || text_.empty()) return std::nullopt;
        const std::size_t end = std::min(text_.find('\n'), text_.size());
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        if (line.ends_with('\r')) line.pop_back();
        return line;
    }

  private:
    static constexpr std::size_t kMost = std::size_t{16} << 20;

    std::string text_;
};

/// The tokens that the network knows, by its plan and its weights.
std::unique_ptr<TextTokens> tokens_of(const plan::Dataset& dataset, const std::string& weights,
                                      const VocabularyFile& vocabulary) {
    const auto fits = [&](const std::vector<std::string>& names) {
        return std::int64_t(names.size()) == dataset.target().classes;
    };
    std::vector<std::string> names = dataset.target().names;
    if (!fits(names)) names = read_trained_names(weights).classes;
    return open_text_tokens(dataset, std::move(names), vocabulary);
}

/// A text that goes on.
struct GrowingText {
    std::string prompt;
    TextStream stream;
    std::string text = {};  ///< what was taken of the stream
    std::int64_t tokens = 0;
    bool stopped = false;  ///< by a text that ends it
};

class Generation {
  public:
    explicit Generation(const Options& options)
        : options_(options),
          network_(trained_network(options.plan, options.weights)),
          start_(network_.plan) {
        generating_program(plan());
        for (const std::string& stop : options.generate.stops)
            if (stop.empty())
                throw RunError(Exit::usage, "--stop is an empty text",
                               "name a text, or leave it out");
        if (options.generate.prompts.empty() && options.plan == kStandardInput)
            throw RunError(Exit::usage, "standard input has the plan, and cannot have prompts, too",
                           "give --prompt TEXT, or the plan as a file");
        tokens_ = tokens_of(plan().dataset, network_.weights, options.generate.vocabulary);
    }

    int run() {
        const std::vector<Prompt> prompts = given_prompts();
        executor_.emplace(plan(), start_.threads);
        load_wanted_weights(*executor_, network_.weights, options_.weight_options);
        Sampling sampling = options_.generate.sampling;
        sampling.seed = std::uint64_t(options_.generate.seed);
        generator_.emplace(*executor_, sampling);
        if (prompts.empty())
            answer_lines();
        else if (prompts.size() == 1)
            answer_one(options_.generate.prompts.front(), prompts.front());
        else
            answer_all(prompts);
        return int(stop_requested() != 0 ? Exit::interrupted : Exit::done);
    }

  private:
    const plan::Plan& plan() const { return start_.loaded.plan; }
    bool as_json() const { return options_.format == tools::Format::json; }

    /// Those of the command line. `name` in messages: "prompt 2".
    std::vector<Prompt> given_prompts() {
        const std::vector<std::string>& texts = options_.generate.prompts;
        std::vector<Prompt> prompts;
        for (const std::string& text : texts) {
            const std::string name =
                texts.size() == 1 ? "the prompt" : fmt::format("prompt {}", prompts.size() + 1);
            prompts.push_back({read(text, name), prompts.size()});
            if (prompts.back().tokens.empty())
                throw RunError(Exit::usage, fmt::format("{} is empty", name), kGivePrompt);
        }
        return prompts;
    }

    std::vector<std::int32_t> read(const std::string& text, const std::string& name) {
        try {
            return tokens_->tokens_of(text);
        } catch (const RunError& error) {
            throw RunError(error.exit(), fmt::format("{}: {}", name, error.what()), error.help());
        }
    }

    GrowingText growing(const std::string& prompt) const {
        return {prompt, TextStream(options_.generate.stops)};
    }

    /// Adds the token; whether the text goes on.
    bool add(GrowingText& text, std::int32_t token) {
        ++text.tokens;
        text.stopped = text.stream.add(tokens_->bytes_of(token));
        return !text.stopped;
    }

    /// One text, printed as it comes. What is there when a signal asks to stop is printed.
    void answer_one(const std::string& prompt, const Prompt& tokens) {
        GrowingText text = growing(prompt);
        const auto print = [&](const std::string& more) {
            if (!more.empty()) print_out(more);
        };
        if (!as_json()) {
            begin_text();
            print(prompt);
        }
        generator_->generate(std::span(&tokens, 1), options_.generate.length,
                             [&](std::size_t, std::int32_t token) {
                                 const bool goes_on = add(text, token);
                                 if (!as_json()) print(text.stream.take());
                                 return goes_on;
                             });
        if (!as_json())
            print(text.stream.take_rest() + "\n");
        else if (stop_requested() == 0)
            print_whole(text);
    }

    /// All of them, batch by batch; texts are printed when their batch is done.
    void answer_all(std::span<const Prompt> prompts) {
        const auto batch = std::size_t(generator_->batch());
        for (std::size_t first = 0; first < prompts.size(); first += batch) {
            const std::size_t count = std::min(batch, prompts.size() - first);
            std::vector<GrowingText> texts;
            for (std::size_t i = 0; i < count; ++i)
                texts.push_back(growing(options_.generate.prompts[first + i]));
            generator_->generate(
                prompts.subspan(first, count), options_.generate.length,
                [&](std::size_t i, std::int32_t token) { return add(texts[i], token); });
            if (stop_requested() != 0) return;
            for (GrowingText& text : texts)
                print_whole(text);
        }
    }

    /// Each line is a prompt, answered before the next is read; those that are empty are passed
    /// over.
    void answer_lines() {
        if (::isatty(STDIN_FILENO) == 1)
            std::fputs("dtnn-run: each line is a prompt; Ctrl-D ends\n", stderr);
        InputLines lines;
        std::uint64_t number = 0;
        std::int64_t line = 0;
        while (const std::optional<std::string> text = lines.next()) {
            Prompt prompt{read(*text, fmt::format("line {}", ++line)), number};
            if (prompt.tokens.empty()) continue;
            answer_one(*text, prompt);
            ++number;
        }
        if (number == 0 && stop_requested() == 0)
            throw RunError(Exit::usage, "standard input has no prompt", kGivePrompt);
    }

    /// An empty line between two texts.
    void begin_text() {
        if (std::exchange(is_first_, false)) return;
        print_out("\n");
    }

    void print_whole(GrowingText& text) {
        text.text += text.stream.take_rest();
        if (!as_json()) {
            begin_text();
            print_out(text.prompt + text.text + "\n");
            return;
        }
        print_out(fmt::format("{{\"prompt\": {}, \"text\": {}, \"tokens\": {}, \"end\": \"{}\"}}\n",
                              json_text(text.prompt), json_text(text.text), text.tokens,
                              text.stopped ? "stop" : "length"));
    }

    const Options& options_;
    TrainedNetwork network_;
    Start start_;
    std::unique_ptr<TextTokens> tokens_;
    std::optional<Executor> executor_;
    std::optional<Generator> generator_;
    bool is_first_ = true;
};

}  // namespace

int generate_command(const Options& options) {
    return Generation(options).run();
}

}  // namespace dtnn
