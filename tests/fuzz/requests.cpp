/// Requests for predictions, of whoever: they are refused with a reason, or are JSON and arrays of
/// the network's inputs, each element of which is there.
///
/// An input is a choice of a network, whether the length of the JSON is said, that length, and the
/// body.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/utf8.hpp"
#include "tests/fuzz/choices.hpp"
#include "tests/fuzz/sample_plans.hpp"
#include "tools/dtnn_run/serve/inference.hpp"

using namespace dtnn;  // NOLINT(google-build-using-namespace): this file is a program of its own

namespace {

/// Networks of one input and of several, of which one takes integers.
const std::vector<serve::NetworkForm>& forms() {
    static const std::vector<serve::NetworkForm> all = [] {
        const plan::Plan& plan = fuzz::sample_plans().front().loaded.plan;
        std::vector<serve::NetworkForm> made(2, {"net", plan, "", {}});
        made[0].inputs[0].stored_dims = made[0].inputs[0].dims = {1, 2, 2};
        plan::Feature kind = made[1].inputs[0];
        kind.name = "k";
        kind.kind = plan::LabelKind::classes;
        kind.classes = 4;
        kind.dims = kind.stored_dims = {};
        made[1].inputs[0].stored_dims = made[1].inputs[0].dims = {3};
        made[1].inputs.push_back(kind);
        return made;
    }();
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Choices choices(data, size);
    const serve::NetworkForm& form = forms()[choices.below(forms().size())];
    serve::RequestHead head;
    const bool binary = choices.below(2) == 1;
    const std::size_t length = choices.number(1);
    if (binary) head.inference_header_content_length = std::to_string(length);
    const auto rest = choices.rest();
    const std::string text(
        rest.begin(),
        binary ? rest.begin() + std::ptrdiff_t(std::min(length, rest.size())) : rest.end());
    try {
        const serve::InferenceRequest request =
            serve::read_inference_request(form, head, {rest.begin(), rest.end()});
        if (parse_json_or_discard(text).is_discarded()) fuzz::fail("what is no JSON was taken");
        if (request.arrays.size() != form.inputs.size()) fuzz::fail("an array is missing");
        unsigned sum = 0;
        for (const runtime::GivenArray& array : request.arrays) {
            if (array.header.dims.empty() || array.header.dims[0] != request.samples)
                fuzz::fail("arrays are of other numbers of samples");
            for (std::int64_t i = 0; i < array.header.bytes(); ++i)
                sum += unsigned(array.bytes[i]);
        }
        static volatile unsigned kept;
        kept = sum;
    } catch (const serve::Refused& refused) {
        if (refused.status() != serve::Status::bad_request || *refused.what() == '\0' ||
            !is_utf8(refused.what()))
            fuzz::fail("the reason is none");
    }
    return 0;
}
