#include "runtime/generate/generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "runtime/base/arrangement.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/exec/executor.hpp"

namespace dtnn::runtime {
namespace {

constexpr const char* kNextTokens = "predictions";

RunError other_program(const std::string& fact) {
    return RunError(Exit::mismatch, fmt::format("the plan's program that generates {}", fact),
                    "compile the job again with the dtnnc of this version");
}

/// The tensor of an input that has this type and so many elements; null: the program is not fed it.
const plan::Tensor* input_of(const plan::Program& program, plan::InputRole role, DType dtype,
                             std::int64_t elements) {
    const plan::Input* const input = plan::find_input(program, role);
    if (input == nullptr) return nullptr;
    const plan::Tensor& tensor = program.tensors[std::size_t(input->tensor)];
    if (tensor.dtype != dtype || element_count(tensor.dims) != elements)
        throw other_program(fmt::format("has another input `{}`", name_of(role)));
    return &tensor;
}

/// A number for each token of each text, of the last of the steps that are read at once, or of each
/// of them.
const plan::Tensor& next_tokens_of(const plan::Program& program, std::int64_t classes) {
    for (const plan::Output& output : program.outputs) {
        if (output.name != kNextTokens) continue;
        const plan::Tensor& tensor = program.tensors[std::size_t(output.tensor)];
        const std::int64_t numbers = program.batch * classes;
        const bool each = tensor.dims.size() == 3 && tensor.dims[1] == steps_at_once(program) &&
                          element_count(tensor.dims) == numbers * steps_at_once(program);
        if (tensor.dims.size() < 2 || tensor.dims.front() != program.batch ||
            tensor.dims.back() != classes || (!each && element_count(tensor.dims) != numbers) ||
            (tensor.dtype != DType::f32 && tensor.dtype != DType::f64))
            throw other_program("has another output than a number for each token");
        return tensor;
    }
    throw other_program("has no output");
}

/// The most steps that a text has in the plan's memory; 0: any number.
std::int64_t context_of(const plan::Plan& plan, const plan::Program& program) {
    if (input_of(program, plan::InputRole::text_step, DType::i64, 1) == nullptr) return 0;
    const Dims& dims = plan.dataset.input().dims;
    if (dims.empty() || dims.front() < 1) throw other_program("has steps, and its input has none");
    return dims.front();
}

/// Tokens of a text that are read one after the other, token `i` in step `first + i`.
struct ReadText {
    std::vector<std::int32_t> tokens;
    std::int64_t first = 0;
    std::int64_t made = 0;
    bool ended = true;

    std::int32_t token(std::int64_t step) const {
        return ended ? 0 : tokens[std::size_t(step - first)];
    }
    bool is_last(std::int64_t step) const {
        return step - first == std::int64_t(tokens.size()) - 1;
    }
    /// Whether so many tokens from this step on are there.
    bool has(std::int64_t step, std::int64_t count) const {
        return ended || step - first + count <= std::int64_t(tokens.size());
    }
};

/// A program that reads some steps of each text at once, with what it is fed and what it says.
struct Reading {
    Reading(Executor& executor, const plan::Program& record, std::int64_t classes)
        : steps(steps_at_once(record)),
          tensor(next_tokens_of(record, classes)),
          arrangement(tensor.dims, tensor.order),
          each(tensor.dims.size() == 3),
          program(executor.bound(std::size_t(&record - executor.plan().programs.data()))) {
        if (steps < 1 ||
            input_of(record, plan::InputRole::feature, DType::i32, record.batch * steps) == nullptr)
            throw other_program("reads no tokens");
        input_of(record, plan::InputRole::text_step, DType::i64, 1);
        fed = static_cast<std::int32_t*>(program.input(plan::InputRole::feature));
        step_fed = static_cast<std::int64_t*>(program.input(plan::InputRole::text_step));
        output = program.output(kNextTokens);
    }

    /// The tokens from this step on.
    void run(const std::vector<ReadText>& texts, std::int64_t step) {
        for (std::size_t i = 0; i < texts.size(); ++i)
            for (std::int64_t t = 0; t < steps; ++t)
                fed[std::int64_t(i) * steps + t] = texts[i].token(step + t);
        if (step_fed != nullptr) *step_fed = step;
        program.run();
    }

    /// What the last of the steps says of a text's next token.
    template <class T>
    void copy(std::size_t text, std::span<double> to) const {
        const T* const from = static_cast<const T*>(output);
        const auto classes = std::int64_t(to.size());
        const std::int64_t rows = each ? steps : 1;
        const std::int64_t first = ((std::int64_t(text) + 1) * rows - 1) * classes;
        arrangement.for_each(first, first + classes, [&](std::int64_t at, std::int64_t place) {
            to[std::size_t(at - first)] = double(from[place]);
        });
    }
    void copy_numbers(std::size_t text, std::span<double> to) const {
        if (tensor.dtype == DType::f64)
            copy<double>(text, to);
        else
            copy<float>(text, to);
    }

    const std::int64_t steps;
    const plan::Tensor& tensor;
    const Arrangement arrangement;
    const bool each;  ///< it says it of every step
    BoundProgram& program;
    std::int32_t* fed = nullptr;
    std::int64_t* step_fed = nullptr;  ///< null: the network does not ask for it
    const void* output = nullptr;
};

/// The program that reads several steps of as many texts at once; null: there is none.
const plan::Program* prompt_program(const plan::Plan& plan, const plan::Program& one) {
    for (const plan::Program& program : plan.programs)
        if (program.kind == plan::ProgramKind::generate && program.batch == one.batch &&
            steps_at_once(program) > 1)
            return &program;
    return nullptr;
}

}  // namespace

const plan::Program& generating_program(const plan::Plan& plan) {
    const plan::Program* program = plan::find_program(plan, plan::ProgramKind::generate);
    if (program != nullptr) return *program;
    throw RunError(Exit::mismatch, "the plan has no program that generates",
                   "write `generation: {}` in the job (its model's layers must look back only), "
                   "compile again, and use the weights as they are");
}

/// All that generating takes, allocated once.
struct Generator::Parts {
    Parts(Executor& executor, const Sampling& sampling)
        : plan(executor.plan()),
          classes(plan.dataset.target().classes),
          record(generating_program(plan)),
          context(context_of(plan, record)),
          one(executor, record, classes),
          sampler(sampling, plan.prediction, classes) {
        if (one.steps != 1) throw other_program("takes several steps");
        if (const plan::Program* several = prompt_program(plan, record))
            prompt.emplace(executor, *several, classes);
        // Each token that it says is read in the next step.
        if (plan.dataset.input().classes < classes)
            throw other_program(
                fmt::format("says {} tokens and reads {}", classes, plan.dataset.input().classes));
        texts.resize(std::size_t(record.batch));
    }

    /// How many tokens of a text are dropped when the context is full and another is there: all but
    /// as many as half of the context.
    std::size_t dropped() const {
        return std::size_t(context + 1 - std::max<std::int64_t>(1, context / 2));
    }

    void begin(std::span<const Prompt> prompts) {
        for (ReadText& text : texts)
            text.ended = true;
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            const std::vector<std::int32_t>& given = prompts[i].tokens;
            ReadText& text = texts[i];
            // What a longer prompt would forget while it is read need not be read.
            std::size_t skipped = 0;
            while (context > 0 && given.size() - skipped > std::size_t(context))
                skipped += dropped();
            text.tokens.reserve(std::size_t(context) + 1);
            text.tokens.assign(given.begin() + std::ptrdiff_t(skipped), given.end());
            text.first = 0;
            text.made = 0;
            text.ended = false;
        }
        prepared = nullptr;
        one.program.begin_anew();
    }

    /// The context is full: the last half of it begins the texts.
    void begin_again() {
        for (ReadText& text : texts)
            if (!text.ended)
                text.tokens.erase(text.tokens.begin(),
                                  text.tokens.begin() + std::ptrdiff_t(dropped()));
        one.program.begin_anew();
    }

    /// Reads the next tokens of all texts, several at once where all have as many; how many.
    std::int64_t run(std::int64_t step) {
        Reading* reads = &one;
        if (prompt && (context == 0 || step + prompt->steps <= context) &&
            std::all_of(texts.begin(), texts.end(),
                        [&](const ReadText& text) { return text.has(step, prompt->steps); }))
            reads = &*prompt;
        // What a program has prepared of the weights another may have written over.
        if (std::exchange(prepared, reads) != reads) reads->program.run_prologue();
        reads->run(texts, step);
        return reads->steps;
    }

    /// The next token of a text, by the steps that have been run.
    std::int32_t next(std::size_t text, std::uint64_t number) {
        prepared->copy_numbers(text, sampler.numbers());
        return sampler.draw(number, std::uint64_t(texts[text].made));
    }

    /// The token is read in the step behind this one.
    void add(ReadText& text, std::int32_t token, std::int64_t step) const {
        if (context == 0) {
            text.tokens.clear();
            text.first = step + 1;
        }
        text.tokens.push_back(token);
    }

    const plan::Plan& plan;
    const std::int64_t classes;
    const plan::Program& record;
    const std::int64_t context;
    Reading one;
    std::optional<Reading> prompt;  ///< of several steps
    TokenSampler sampler;
    std::vector<ReadText> texts;
    Reading* prepared = nullptr;  ///< what ran last
};

Generator::Generator(Executor& executor, const Sampling& sampling)
    : parts_(std::make_unique<Parts>(executor, sampling)) {}

Generator::~Generator() = default;

std::int64_t Generator::batch() const {
    return parts_->record.batch;
}

std::int64_t Generator::context() const {
    return parts_->context;
}

void Generator::generate(std::span<const Prompt> prompts, std::int64_t length, const Take& take) {
    Parts& all = *parts_;
    all.begin(prompts);
    std::size_t going = prompts.size();
    for (std::int64_t step = 0; going > 0 && stop_requested() == 0;) {
        if (all.context > 0 && step == all.context) {
            all.begin_again();
            step = 0;
        }
        step += all.run(step);
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            ReadText& text = all.texts[i];
            if (text.ended || !text.is_last(step - 1)) continue;
            const std::int32_t token = all.next(i, prompts[i].number);
            ++text.made;
            if (!take(i, token) || text.made >= length) {
                text.ended = true;
                --going;
            } else {
                all.add(text, token, step - 1);
            }
        }
    }
}

}  // namespace dtnn::runtime
