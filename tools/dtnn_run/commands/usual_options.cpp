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
    list.text("--format", options.format, "Form of what is printed on standard output",
              {.choices = {"text", "json"}});
}

void declare_ranks(tools::OptionList& list, Options& options, const char* doc) {
    list.number("--ranks", options.ranks, doc, {.lowest = 1, .highest = 1'000'000});
}

void declare_weight_options(tools::OptionList& list, WeightOptions& options, bool optional) {
    list.text("--map", options.map,
              "A JSON file `{\"NAME IN THE FILE\": \"NAME IN THE PLAN\"}` for the weights; `*` is "
              "any text, `null` leaves out",
              {.value = "FILE"});
    list.text(
        "--layout", options.layout,
        "How the file of weights arranges axes: own as plans do, torch as PyTorch, nchw, nhwc "
        "and nhwc_gpu as PyDTNN does",
        {.choices = {"auto", "own", "torch", "nchw", "nhwc", "nhwc_gpu"}});
    list.text("--match", options.match,
              "Weights go to parameters by name, or in order by role: file_order, name_order (2 "
              "before 10), or order, the one of them that fits; auto: name, or order where the "
              "names are PyDTNN's",
              {.choices = {"auto", "name", "order", "file_order", "name_order"}});
    list.flag("--allow-missing", options.allow_missing,
              "Takes the weights that fit by name; lists the others");
    list.flag("--cast", options.cast, "Converts weights between f32 and f64");
    if (!optional) return;
    // They say how the file is read; without one they would be passed over.
    for (const char* name : {"--map", "--layout", "--match", "--allow-missing", "--cast"})
        list.needs(name, "--weights");
}

}  // namespace dtnn
