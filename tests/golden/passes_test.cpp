/// Every pass against its golden file, tests/golden/passes/NAME.txt: cases of
///
///     == title
///     with program=evaluate optimizer=adam beta1=0.9    (optional: what the pass's context says;
///     steps=N of program=generate: read at once; lengths=NAME is the input that says them;
///     program=accumulate is train with gradients that a
///     later batch's update takes; parallel=overlapped or blocking is data parallelism, with
///     bucket_bytes=N; sharded=N is an optimizer that N ranks share; compute=bf16 and its like are
///     the training's; device=cuda is what the plan is for; other members of plan/training.def go
///     by their names; group=PATTERN,NAME=VALUE,... adds a parameter group; labels=multiple, values
///     or soft; loss.NAME=VALUE[,VALUE...] is a field of the loss; metrics=TYPE,TYPE... or none)
///     graph text
///     -----
///     graph text, or (unchanged)
///
/// Each file needs a case that fires and one, called "must not fire: ...", that does not.
/// DTNN_REWRITE_GOLDENS=1 rewrites what stands under `-----`.

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <type_traits>

#include "compiler/ir/printer.hpp"
#include "compiler/ir/verifier.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "plan/metrics.hpp"
#include "tests/graphs/parser.hpp"
#include "tests/rewrite_goldens.hpp"

namespace passes_test {

namespace {

using namespace dtnn;
using namespace dtnn::compiler;

struct Case {
    std::string title, settings, before, after;
};

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \n");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

std::string path_of(std::string_view pass) {
    return "tests/golden/passes/" + std::string(pass) + ".txt";
}

std::vector<Case> read_cases(const std::string& path) {
    std::ifstream file(path);
    std::vector<Case> cases;
    bool after = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("== ")) {
            cases.push_back({line.substr(3), "", "", ""});
            after = false;
        } else if (line == "-----") {
            after = true;
        } else if (!cases.empty()) {
            Case& c = cases.back();
            if (!after && c.before.empty() && line.starts_with("with "))
                c.settings = line.substr(5);
            else
                (after ? c.after : c.before) += line + "\n";
        }
    }
    return cases;
}

void write_cases(const std::string& path, const std::vector<Case>& cases) {
    std::ofstream file(path);
    for (const Case& c : cases) {
        if (&c != &cases.front()) file << "\n";
        file << "== " << c.title << "\n";
        if (!c.settings.empty()) file << "with " << c.settings << "\n";
        file << trimmed(c.before) << "\n-----\n" << trimmed(c.after) << "\n";
    }
}

/// NAME=VALUE, a number, a truth value or text.
void set_attribute(Attributes& attributes, const std::string& key, const std::string& value) {
    if (value == "true" || value == "false")
        attributes[key] = value == "true";
    else if (value.find_first_not_of("0123456789.e-+") == std::string::npos)
        attributes[key] = std::stod(value);
    else
        attributes[key] = value;
}

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');)
        words.push_back(part);
    return words;
}

/// A list of reals where there is a comma.
void set_loss_field(Attributes& attributes, const std::string& key, const std::string& value) {
    if (value.find(',') == std::string::npos) {
        set_attribute(attributes, key, value);
        return;
    }
    std::vector<double> numbers;
    for (const std::string& word : words_of(value))
        numbers.push_back(std::stod(word));
    attributes[key] = numbers;
}

/// False: a member is none of a number, a truth value and a text.
template <class T>
bool read_member(T& member, const std::string& value) {
    if constexpr (std::is_same_v<T, bool>)
        member = value == "true";
    else if constexpr (std::is_same_v<T, std::string>)
        member = value;
    else if constexpr (std::is_arithmetic_v<T>)
        REQUIRE(bool(std::istringstream(value) >> member));
    else
        return false;
    return true;
}

/// Sets the member of the training that is called so; false: there is none.
bool set_member(dtnn::plan::Training& training, const std::string& name, const std::string& value) {
#define TRAINING_MEMBER(type, member, ...) \
    if (name == #member) return read_member(training.member, value);
#include "plan/training.def"
#undef TRAINING_MEMBER
    return false;
}

dtnn::plan::ParameterGroup group_from(const std::string& text) {
    dtnn::plan::ParameterGroup group;
    std::istringstream parts(text);
    std::getline(parts, group.pattern, ',');
    for (std::string part; std::getline(parts, part, ',');)
        set_attribute(group.attributes, part.substr(0, part.find('=')),
                      part.substr(part.find('=') + 1));
    return group;
}

/// Values that are for nothing else go to the optimizer's attributes.
PassContext context_of(const std::string& settings) {
    PassContext context;
    context.training.loss = "categorical_cross_entropy";
    std::vector<std::string> metrics{"categorical_accuracy"};
    context.training.optimizer = "sgd";
    // As on a device: losses and updates take floats.
    context.reduces = [](const Node& node) {
        const OpDef& def = op(node.op);
        return def.family != Family::loss && def.family != Family::update && def.name != "softmax";
    };
    // As where convolutions and dense layers are computed by tiles of 16 columns.
    context.wanted_block = [](const Graph&, const Node& node) -> std::int64_t {
        return node.op == "conv2d" || node.op == "dense" ? 16 : 0;
    };
    std::istringstream words(settings);
    for (std::string word; words >> word;) {
        const auto equals = word.find('=');
        REQUIRE(equals != std::string::npos);
        const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
        if (key == "program") {
            context.accumulate = value == "accumulate";
            if (!context.accumulate) REQUIRE(dtnn::plan::parse_name(value, context.program));
        } else if (key == "steps") {
            context.steps = std::stoll(value);
        } else if (key == "lengths") {
            context.lengths = value;
        } else if (key == "parallel") {
            context.parallel.data = true;
            REQUIRE(dtnn::plan::parse_name(value, context.parallel.reduction));
        } else if (key == "sharded") {
            context.parallel.optimizer = dtnn::plan::OptimizerState::sharded;
            context.ranks = std::stoi(value);
        } else if (key == "live_bytes")
            context.live_bytes = std::stoll(value);
        else if (key == "batch_statistics")
            REQUIRE(dtnn::plan::parse_name(value, context.parallel.batch_statistics));
        else if (key == "bucket_bytes")
            context.parallel.bucket_bytes = std::stoll(value);
        else if (key == "group")
            context.training.groups.push_back(group_from(value));
        else if (key == "compute")
            REQUIRE(dtnn::plan::parse_name(value, context.compute));
        else if (key == "device")
            context.device = value;
        else if (key == "metrics")
            metrics = value == "none" ? std::vector<std::string>() : words_of(value);
        else if (key == "target_mean")
            context.target_mean.push_back(std::stod(value));
        else if (key == "target_deviation")
            context.target_deviation.push_back(std::stod(value));
        else if (key == "labels" && value == "soft")
            context.soft_labels = true;
        else if (key == "labels")
            REQUIRE(dtnn::plan::parse_name(value, context.label_kind));
        else if (key == "most_labels")
            context.most_labels = std::stoll(value);
        else if (key.starts_with("loss."))
            set_loss_field(context.training.loss_attributes, key.substr(5), value);
        else if (!set_member(context.training, key, value))
            set_attribute(context.training.optimizer_attributes, key, value);
    }
    for (const std::string& type : metrics)
        context.training.metrics.push_back(dtnn::plan::make_metric({type, {}}, context.label_kind));
    return context;
}

std::string run(const PassInfo& pass, const Case& c) {
    const Graph before = parse_graph(c.before, infer_types);
    PassContext context = context_of(c.settings);
    const Graph after = pass.run(before, context);
    for (const std::string& problem : verify(after))
        FAIL_CHECK(problem);
    for (const std::string& problem : check_types(after))
        FAIL_CHECK(problem);
    const std::string text = print(after);
    CHECK_MESSAGE(print(pass.run(after, context)) == text, "a second run changes the graph");
    CHECK_MESSAGE(print(parse_graph(text)) == text, "the text does not read back");
    return text == print(before) ? "(unchanged)" : text;
}

TEST_CASE("every pass does what its golden file says") {
    const bool rewrite = dtnn::rewrites_goldens();
    for (const PassInfo& pass : all_passes()) {
        CAPTURE(pass.name);
        std::vector<Case> cases = read_cases(path_of(pass.name));
        CHECK_MESSAGE(!cases.empty(), "there is no golden file ", path_of(pass.name));
        int fires = 0, stays = 0;
        for (Case& c : cases) {
            CAPTURE(c.title);
            try {
                const std::string result = run(pass, c);
                const bool unchanged = result == "(unchanged)";
                ++(unchanged ? stays : fires);
                CHECK(unchanged == c.title.starts_with("must not fire: "));
                if (rewrite)
                    c.after = result;
                else
                    CHECK(trimmed(result) == trimmed(c.after));
            } catch (const std::exception& error) {
                FAIL_CHECK(std::string(error.what()));
            }
        }
        CHECK_MESSAGE(fires > 0, "no case in which the pass fires");
        CHECK_MESSAGE(stays > 0, "no case in which the pass must not fire");
        if (rewrite && !cases.empty()) write_cases(path_of(pass.name), cases);
    }
}

}  // namespace

}  // namespace passes_test
