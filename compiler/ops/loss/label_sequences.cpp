#include "compiler/ops/loss/label_sequences.hpp"

#include <fmt/format.h>

#include "base/saturating.hpp"

namespace dtnn::compiler {

bool expect_label_sequences(ShapeContext& c) {
    fallback(c, kSteps);
    fallback(c, kBlank);
    const std::string& op = c.op().name;
    const Type& rows = c.input(0);
    if (!is_rows(rows)) {
        c.fail(
            fmt::format("{} compares rows of numbers, one for each step, with labels, but "
                        "predictions are {}",
                        op, sample_text(rows)));
        return false;
    }
    const std::int64_t steps = c.integer(kSteps), blank = c.integer(kBlank);
    if (steps < 1 || rows.dims[0] % steps != 0) {
        c.fail(fmt::format("{}: {} rows are not a number of samples of {} steps", op, rows.dims[0],
                           steps),
               "", kSteps);
        return false;
    }
    if (blank < 0 || blank >= rows.dims[1]) {
        c.fail(fmt::format("{}: the blank is {}, and the classes are 0 to {}", op, blank,
                           rows.dims[1] - 1),
               "", kBlank);
        return false;
    }
    const std::int64_t samples = rows.dims[0] / steps;
    const Type& labels = c.input(1);
    const std::int64_t count = labels.elements();
    if (labels.dtype != DType::i32 || labels.dims != Dims{count} || count < samples ||
        count % samples != 0) {
        c.fail(
            fmt::format("{}: labels must be i32 [N], as many for each of {} samples", op, samples));
        return false;
    }
    const auto place = c.place_of("lengths");
    if (!place) return true;
    const Type& lengths = c.input(*place);
    if (lengths.dtype == DType::i32 && lengths.elements() == samples) return true;
    c.fail(fmt::format("{}: lengths must be an integer for each of {} samples", op, samples));
    return false;
}

std::int64_t path_states(const std::vector<Type>& in, const Attributes& attributes) {
    const auto steps = attributes.find(kSteps);
    const std::int64_t of_sample =
        steps == attributes.end() ? 1 : std::get<std::int64_t>(steps->second);
    // A blank in front of each label and behind the last.
    return saturating_sum({saturating_product({2, in[1].elements(), of_sample}), in[0].dims[0]});
}

}  // namespace dtnn::compiler
