#include "tools/dtnn_run/commands/usual_options.hpp"

namespace dtnn {

void declare_plan(tools::OptionList& list, Options& options, bool required) {
    list.argument("PLAN", options.plan, "An execution plan, written by dtnnc compile", required);
    declare_color(list, options);
}

void declare_color(tools::OptionList& list, Options& options) {
    list.text("--color", options.color,
              "Colours on standard error; auto: on a terminal, and obeys NO_COLOR",
              {.choices = {"auto", "always", "never"}});
}

void declare_format(tools::OptionList& list, Options& options) {
    list.one_of("--format", options.format, "Form of what is printed on standard output",
                std::vector{tools::Format::text, tools::Format::json});
}

void declare_progress(tools::OptionList& list, Options& options) {
    list.text("--progress", options.progress,
              "What is shown on standard error; auto: a bar on a terminal, else lines",
              {.choices = {"auto", "bar", "plain", "none"}});
    list.real("--progress-every", options.progress_seconds,
              "Most seconds between two lines where there is no bar", 0.1, 86'400);
}

void declare_ranks(tools::OptionList& list, Options& options, const char* doc) {
    list.number("--ranks", options.ranks, doc, {.lowest = 1, .highest = 1'000'000});
}

namespace {

/// Declares the order in which a program arranges axes; `doc` says of which file.
void declare_layout(tools::OptionList& list, WeightOptions& options, const char* doc) {
    list.text("--layout", options.layout, doc,
              {.choices = {"auto", "own", "torch", "nchw", "nhwc", "nhwc_gpu"}});
}

void declare_map(tools::OptionList& list, WeightOptions& options, const char* doc) {
    list.text("--map", options.map, doc,
              {.value = "FILE", .offers = {"torchvision", "huggingface"}});
}

}  // namespace

void declare_weight_options(tools::OptionList& list, WeightOptions& options, bool optional) {
    declare_map(list, options,
                "The names in the file of weights: torchvision, or a JSON file `{\"NAME IN THE "
                "FILE\": \"NAME IN THE PLAN\"}` in which `*` is any text, `{x}` a number, `null` "
                "leaves out; otherwise a shipped one is taken where it fits");
    declare_layout(list, options,
                   "How the file of weights arranges axes: own as plans do, torch as PyTorch, "
                   "nchw, nhwc and nhwc_gpu as PyDTNN does");
    list.text("--match", options.match,
              "Weights go to parameters by name, or in order by role: file_order, name_order (2 "
              "before 10), or order, the one of them that fits; auto: name, or order where the "
              "names are PyDTNN's",
              {.choices = {"auto", "name", "order", "file_order", "name_order"}});
    list.list("--keep", options.keep,
              "Parameters that stay as they are initialised, as a new head does: `'head_1/*'`",
              {.value = "NAMES"});
    list.flag("--allow-missing", options.allow_missing,
              "Takes the weights that fit by name; lists the others");
    list.flag("--cast", options.cast,
              "Converts weights between f32 and f64, and from bf16 and fp16");
    if (!optional) return;
    // They say how the file is read; without one they would be passed over.
    for (const std::string& name : weight_option_names())
        list.needs(name.c_str(), "--weights");
}

void declare_export_options(tools::OptionList& list, WeightOptions& options) {
    declare_map(
        list, options,
        "The names to give: torchvision, or a JSON file as for reading; otherwise the plan's");
    declare_layout(list, options,
                   "How to arrange axes: own as plans do, torch as PyTorch, nchw, nhwc and "
                   "nhwc_gpu as PyDTNN does; auto: as the map says, else own");
}

}  // namespace dtnn
