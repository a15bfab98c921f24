// Functions of samples against the values of others: samples.json, by make_samples.py.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/data/transforms/colour.hpp"
#include "runtime/data/transforms/geometry.hpp"
#include "runtime/data/transforms/resample.hpp"

namespace dtnn::runtime::samples_test {
namespace {

using Json = nlohmann::json;

Json cases() {
    std::ifstream file("tests/peers/samples/samples.json");
    REQUIRE_MESSAGE(file, "run the tests in the folder of the source");
    return Json::parse(file)["cases"];
}

Sample sample_of(const Json& shape, const Json& pixels) {
    Sample sample;
    sample.input().set_floats(std::array<std::int64_t, 3>{shape[0], shape[1], shape[2]});
    REQUIRE(pixels.size() == sample.input().floats.size());
    for (std::size_t i = 0; i < pixels.size(); ++i)
        sample.input().floats[i] = pixels[i];
    return sample;
}

/// The sample that our function makes of it; empty for a function that is unknown.
Sample ours(const std::string& step, const Json& fields, Sample before) {
    Sample after = before;
    ResizeScratch scratch;
    if (step == "resize") {
        resize(before, {0, 0, before.input().dims[1], before.input().dims[2]}, fields["size"][0],
               fields["size"][1], fields["antialias"], scratch, after);
    } else if (step == "rotate") {
        rotate(before, fields["degrees"], fields["fill"], after);
    } else if (step == "crop") {
        crop(before, {fields["top"], fields["left"], fields["height"], fields["width"]},
             fields["fill"], after);
    } else if (step == "flip") {
        flip_horizontal(after);
    } else if (step == "vertical_flip") {
        flip_vertical(after);
    } else if (step == "brightness") {
        change_brightness(after, fields["factor"]);
    } else if (step == "contrast") {
        change_contrast(after, fields["factor"]);
    } else if (step == "saturation") {
        change_saturation(after, fields["factor"]);
    } else if (step == "to_gray") {
        to_gray(after);
    } else {
        return {};
    }
    return after;
}

}  // namespace

TEST_CASE("functions of samples agree with PyTorch, NumPy and Pillow") {
    const Json all = cases();
    CHECK(all.size() > 40);
    for (const Json& one : all) {
        const std::string name =
            one["step"].get<std::string>() + ": " + one["name"].get<std::string>();
        CAPTURE(name);
        const Sample after =
            ours(one["step"], one["fields"], sample_of(one["before_shape"], one["before"]));
        const Sample expected = sample_of(one["after_shape"], one["after"]);
        CHECK(after.input().dims[0] == expected.input().dims[0]);
        CHECK(after.input().dims[1] == expected.input().dims[1]);
        CHECK(after.input().dims[2] == expected.input().dims[2]);
        REQUIRE(after.input().floats.size() == expected.input().floats.size());
        double worst = 0;
        for (std::size_t i = 0; i < after.input().floats.size(); ++i)
            worst = std::max(worst, std::abs(double(after.input().floats[i]) -
                                             double(expected.input().floats[i])));
        CHECK(worst <= one["tolerance"].get<double>());
    }
}

}  // namespace dtnn::runtime::samples_test
