#include "runtime/checkpoint/weights.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "runtime/base/arrangement.hpp"
#include "runtime/base/files.hpp"
#include "runtime/checkpoint/weight_file.hpp"
#include "runtime/checkpoint/weight_match.hpp"
#include "runtime/checkpoint/weight_order.hpp"
#include "runtime/data/formats/npy.hpp"
#include "runtime/data/formats/npz_writer.hpp"
#include "runtime/exec/executor.hpp"
#include "runtime/train/initialize.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/file_text.hpp"
#include "tests/unit/runtime/hand_made_plan.hpp"

namespace dtnn::runtime::weights_test {
namespace {

/// conv2d -> batch_norm -> flatten -> dropout -> dense -> dense, with an image [3,2,2] before
/// flatten; only what matching reads.
plan::Plan small_plan() {
    plan::Plan plan;
    plan.model = "small";
    plan.dataset.input().dims = {2, 4, 4};
    const auto layer = [&](const char* name, const char* type, Dims shape, const char* from) {
        plan::Layer made;
        made.index = int(plan.layers.size());
        made.name = name;
        made.type = type;
        made.output_axes = shape.size() == 3 ? image_axes() : Axes{AxisKind::feature};
        made.output_shape = std::move(shape);
        made.from = {from};
        plan.layers.push_back(made);
    };
    layer("conv2d_1", "conv2d", {3, 2, 2}, "input");
    layer("batch_norm_1", "batch_norm", {3, 2, 2}, "conv2d_1");
    layer("flatten_1", "flatten", {12}, "batch_norm_1");
    layer("dropout_1", "dropout", {12}, "flatten_1");
    layer("dense_1", "dense", {12}, "dropout_1");
    layer("dense_2", "dense", {5}, "dense_1");
    const auto parameter = [&](const char* layer_name, const char* role, Dims dims) {
        plan::Parameter made;
        made.name = std::string(layer_name) + "." + role;
        made.role = role;
        made.dims = std::move(dims);
        for (const plan::Layer& one : plan.layers) {
            if (one.name == layer_name) made.layer = one.index;
        }
        plan.parameters.push_back(made);
    };
    parameter("conv2d_1", "weights", {3, 2, 3, 1});
    parameter("conv2d_1", "bias", {3});
    parameter("batch_norm_1", "gamma", {3});
    parameter("batch_norm_1", "running_variance", {3});
    parameter("dense_1", "weights", {12, 12});
    parameter("dense_1", "bias", {12});
    parameter("dense_2", "weights", {12, 5});
    parameter("conv2d_1", "weights.velocity", {3, 2, 3, 1});
    plan.parameters.back().kind = plan::ParameterKind::optimizer_state;
    plan.parameters.back().optimizer_state = true;
    return plan;
}

/// A file of zeros.
struct Zeros {
    std::vector<std::byte> bytes = std::vector<std::byte>(4096);
    WeightFile file;

    void add(const std::string& name, Dims dims, DType dtype = DType::f32) {
        const std::size_t size = std::size_t(element_count(dims) * size_of(dtype));
        file.tensors.push_back({name, dtype, std::move(dims), std::span(bytes).first(size)});
    }
};

Zeros pydtnn_file(WeightLayout layout) {
    Zeros zeros;
    zeros.file.path = "p.npz";
    zeros.add("1_Conv2D_weights", layout == WeightLayout::nchw   ? Dims{3, 2, 3, 1}
                                  : layout == WeightLayout::nhwc ? Dims{2, 3, 1, 3}
                                                                 : Dims{3, 3, 1, 2});
    zeros.add("1_Conv2D_biases", {3});
    zeros.add("2_BatchNormalization_gamma", {1, 3, 1, 1});
    zeros.add("2_BatchNormalization_running_var", {3});
    zeros.add("5_FC_weights", {12, 12});
    zeros.add("5_FC_biases", {12});
    zeros.add("6_FC_weights", {12, 5});
    return zeros;
}

std::string all(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines)
        text += line + "\n";
    return text;
}

}  // namespace

TEST_CASE("PyDTNN's names and the roles in names") {
    for (const char* name : {"1_Conv2D_weights", "12_FC_biases", "0_BatchNormalization_running_var",
                             "3_BatchNormalization_gamma"})
        CHECK(is_pydtnn_name(name));
    for (const char* name : {"conv2d_1.weights", "1_weights", "_FC_weights", "1_fc_weights",
                             "1_FC_kernel", "1_F C_beta", "1__weights"})
        CHECK_FALSE(is_pydtnn_name(name));
    CHECK(role_in("a.weight") == "weights");
    CHECK(role_in("bias") == "bias");
    CHECK(role_in("b/moving_variance") == "running_variance");
    CHECK(role_in("1_FC_running_var") == "running_variance");
    CHECK(role_in("lstm/lstm_cell/recurrent_kernel") == "hidden_weights");
    CHECK(role_in("gru_1.hidden_bias") == "hidden_bias");
    CHECK(role_in("unbias").empty());
    CHECK(role_in("a.count").empty());
}

TEST_CASE("the forms that a file may have for each parameter") {
    const plan::Plan plan = small_plan();
    const LayoutRules rules(plan);
    const auto first = [&](std::size_t i, WeightLayout layout) {
        return rules.forms(i, layout)[0];
    };
    CHECK(first(0, WeightLayout::own) == FileForm{{3, 2, 3, 1}, {3, 2, 3, 1}, {}});
    CHECK(first(0, WeightLayout::nhwc).dims == Dims{2, 3, 1, 3});
    CHECK(first(0, WeightLayout::nhwc_gpu).dims == Dims{3, 3, 1, 2});
    // Element [co, ci, kh, kw] = [2, 1, 0, 0] lies at [ci, kh, kw, co] = [1, 0, 0, 2].
    const FileForm form = first(0, WeightLayout::nhwc);
    CHECK(Arrangement(form.view, form.order).physical((2 * 2 + 1) * 3) == 1 * 9 + 2);
    // The first dense layer reads a flattened [3,2,2], the second one does not, though as long.
    CHECK(first(4, WeightLayout::nhwc) == FileForm{{12, 12}, {3, 2, 2, 12}, {1, 2, 0, 3}});
    CHECK(first(4, WeightLayout::nchw) == FileForm{{12, 12}, {12, 12}, {}});
    CHECK(first(6, WeightLayout::nhwc) == FileForm{{12, 5}, {12, 5}, {}});
    CHECK(FileForm{{12}, {12, 1, 1}, {1, 2, 0}}.same_places({{12}, {12}, {}}));
    CHECK(FileForm{{12}, {1, 3, 4}, {1, 2, 0}}.same_places({{12}, {12}, {}}));
    CHECK_FALSE(FileForm{{12}, {3, 2, 2}, {1, 2, 0}}.same_places({{12}, {12}, {}}));
    // A bias belongs to results; what batch norm has belongs to an image's channels here.
    CHECK(first(5, WeightLayout::nhwc).view == Dims{12});
    CHECK(first(2, WeightLayout::nhwc).view == Dims{3});
    CHECK(first(2, WeightLayout::nhwc).takes({1, 3, 1, 1}));
    CHECK_FALSE(first(2, WeightLayout::own).takes({1, 3, 1, 1}));
}

TEST_CASE("PyDTNN's files are matched in order, and tell their layout by their shapes") {
    const plan::Plan plan = small_plan();
    for (const WeightLayout layout : kPydtnnLayouts) {
        const Zeros zeros = pydtnn_file(layout);
        const WeightMatch match = match_weights(plan, zeros.file, {.path = "p.npz"}, NameMap());
        CAPTURE(name_of(layout));
        CHECK(all(match.differences).empty());
        CHECK(match.pydtnn);
        CHECK(match.layout == layout);
        REQUIRE(match.pairs.size() == 7);
        for (std::size_t i = 0; i < 7; ++i) {
            CHECK(match.pairs[i].parameter == i);
            CHECK(match.pairs[i].tensor == &zeros.file.tensors[i]);
        }
    }
    Zeros wrong = pydtnn_file(WeightLayout::nhwc);
    wrong.file.tensors.pop_back();
    wrong.file.tensors[4].dims = {6, 24};
    wrong.add("7_FC_beta", {5});
    const WeightMatch match = match_weights(plan, wrong.file, {.path = "p.npz"}, NameMap());
    const std::string text = all(match.differences);
    CHECK(text.find("dense_1.weights (from 5_FC_weights) is f32 [6,24] in the file and f32 "
                    "[12,12]") != std::string::npos);
    CHECK(text.find("dense_2.weights f32 [12,5] is missing") != std::string::npos);
    CHECK(text.find("7_FC_beta f32 [5] is not in the plan") != std::string::npos);
    CHECK(match.differences.size() == 3);
}

TEST_CASE("two layouts that fit and differ are a question, not a guess") {
    plan::Plan plan = small_plan();
    plan.parameters.erase(plan.parameters.begin(), plan.parameters.begin() + 4);
    Zeros zeros;
    zeros.file.path = "p.npz";
    zeros.add("5_FC_weights", {12, 12});
    zeros.add("5_FC_biases", {12});
    zeros.add("6_FC_weights", {12, 5});
    expect_error(Exit::mismatch, {"p.npz", "nchw", "nhwc", "--layout"},
                 [&] { match_weights(plan, zeros.file, {.path = "p.npz"}, NameMap()); });
    const WeightMatch match =
        match_weights(plan, zeros.file, {.path = "p.npz", .layout = "nhwc"}, NameMap());
    CHECK(match.differences.empty());
    // The orders mean the same, all three, where an image of one pixel is flattened.
    plan.layers[1].output_shape = {12, 1, 1};
    CHECK(match_weights(plan, zeros.file, {.path = "p.npz"}, NameMap()).differences.empty());
}

namespace {

/// dense_1 to dense_4, each [4,4], over an input [4].
plan::Plan square_plan() {
    plan::Plan plan;
    plan.model = "square";
    plan.dataset.input().dims = {4};
    plan.dataset.input().axes = {AxisKind::feature};
    for (int i = 0; i < 4; ++i) {
        plan::Layer layer;
        layer.index = i;
        layer.name = "dense_" + std::to_string(i + 1);
        layer.type = "dense";
        layer.output_shape = {4};
        layer.output_axes = {AxisKind::feature};
        layer.from = {i == 0 ? "input" : "dense_" + std::to_string(i)};
        plan.layers.push_back(layer);
        plan::Parameter weights;
        weights.name = layer.name + ".weights";
        weights.role = "weights";
        weights.dims = {4, 4};
        weights.layer = i;
        plan.parameters.push_back(weights);
    }
    return plan;
}

Zeros named(const std::vector<std::string>& names) {
    Zeros zeros;
    zeros.file.path = "w.safetensors";
    for (const std::string& name : names)
        zeros.add(name, {4, 4});
    return zeros;
}

std::vector<std::string> matched(const WeightMatch& match) {
    std::vector<std::string> names;
    for (const WeightMatch::Pair& pair : match.pairs)
        names.push_back(pair.tensor->name);
    return names;
}

}  // namespace

TEST_CASE("names are compared with their numbers as numbers") {
    const auto before = [](const char* a, const char* b) { return compare_names(a, b).sign < 0; };
    CHECK(before("2.weight", "10.weight"));
    CHECK(before("a2b9", "a2b10"));
    CHECK(before("a", "a1"));
    CHECK(before("a07", "a8"));
    CHECK(before("a.1", "b.0"));
    CHECK(compare_names("x10", "x9").in_number);
    CHECK_FALSE(compare_names("a1", "b1").in_number);
    CHECK_FALSE(compare_names("a", "a1").in_number);
    CHECK(compare_names("a1", "a1").sign == 0);
    const Zeros zeros = named({"0.weight", "11.bias", "3.weight"});
    std::vector<const StoredTensor*> all_of_them;
    for (const StoredTensor& tensor : zeros.file.tensors)
        all_of_them.push_back(&tensor);
    CHECK(sorted_as_text(all_of_them));
    CHECK_FALSE(sorted_as_text(in_order_of_names(all_of_them)));
    Zeros norm;
    norm.add("1.weight", {4});
    norm.add("1.bias", {4});
    norm.add("2.bias", {4});
    all_of_them.clear();
    for (const StoredTensor& tensor : norm.file.tensors)
        all_of_them.push_back(&tensor);
    CHECK(roles_of(all_of_them) == std::vector<std::string>{"gamma", "beta", "bias"});
}

TEST_CASE("an order that numbers and the file say differently is a question where both fit") {
    const plan::Plan plan = square_plan();
    const WeightRequest order{.path = "w.safetensors", .layout = "own", .match = MatchBy::order};
    const Zeros sorted = named({"0.weight", "11.weight", "3.weight", "7.weight"});
    expect_error(Exit::mismatch,
                 {"order of the file", "dense_2.weights would be 11.weight or 3.weight",
                  "--match file_order", "name_order", "--map"},
                 [&] { match_weights(plan, sorted.file, order, NameMap()); });
    using Names = std::vector<std::string>;
    WeightRequest said = order;
    said.match = MatchBy::name_order;
    CHECK(matched(match_weights(plan, sorted.file, said, NameMap())) ==
          Names{"0.weight", "3.weight", "7.weight", "11.weight"});
    said.match = MatchBy::file_order;
    CHECK(matched(match_weights(plan, sorted.file, said, NameMap())) ==
          Names{"0.weight", "11.weight", "3.weight", "7.weight"});
    // The two do not differ, or a run of ours wrote the file: there is no question.
    const Zeros same = named({"0.weight", "1.weight", "2.weight", "10.weight"});
    CHECK(all(match_weights(plan, same.file, order, NameMap()).differences).empty());
    Zeros own = named({"b_9.weights", "b_10.weights", "a_1.weights", "a_2.weights"});
    own.file.metadata["format"] = "dtnn";
    CHECK(matched(match_weights(plan, own.file, order, NameMap())) ==
          Names{"b_9.weights", "b_10.weights", "a_1.weights", "a_2.weights"});
    // Sorted by name, and told apart by letters: nothing says which layer is the first.
    const Zeros letters =
        named({"hidden.0.weight", "hidden.1.weight", "input.weight", "output.weight"});
    expect_error(Exit::mismatch,
                 {"sorted by name", "hidden.1.weight and input.weight are both f32 [4,4]"},
                 [&] { match_weights(plan, letters.file, order, NameMap()); });
    // A file that is not sorted has an order of its own, unless the names' fits as well.
    plan::Plan other = plan;
    other.parameters[0].dims = {4, 2};
    Zeros own_order = named({"input.weight", "hidden.0.weight", "hidden.1.weight"});
    own_order.file.tensors[0].dims = {4, 2};
    own_order.add("output.weight", {4, 4});
    CHECK(matched(match_weights(other, own_order.file, order, NameMap()))[0] == "input.weight");
}

TEST_CASE("an order that only fits by shapes is not the file's where that is sorted by name") {
    plan::Plan plan = square_plan();
    const WeightRequest order{.path = "w.safetensors", .layout = "own", .match = MatchBy::order};
    Zeros sorted = named({"0.weight", "11.weight", "3.weight", "7.weight"});
    // Only the names' order fits: taken.
    plan.parameters[3].dims = {4, 3};
    sorted.file.tensors[1].dims = {4, 3};
    const WeightMatch match = match_weights(plan, sorted.file, order, NameMap());
    CHECK(all(match.differences).empty());
    CHECK(matched(match).back() == "11.weight");
    // Only the file's fits, and its numbers contradict it: refused.
    std::swap(plan.parameters[1].dims, plan.parameters[3].dims);
    CHECK_FALSE(match_weights(plan, sorted.file, order, NameMap()).differences.empty());
}

TEST_CASE("a square dense layer of another program is not loaded one way or the other by chance") {
    plan::Plan plan = square_plan();
    const WeightRequest order{.path = "w.safetensors", .match = MatchBy::name_order};
    Zeros torch = named({"0.weight", "2.weight", "4.weight", "6.weight"});
    expect_error(Exit::mismatch,
                 {"fit as own and as torch", "dense_1.weights (from 0.weight) f32 [4,4]",
                  "--layout own, torch"},
                 [&] { match_weights(plan, torch.file, order, NameMap()); });
    WeightRequest said = order;
    said.layout = "torch";
    const WeightMatch asked = match_weights(plan, torch.file, said, NameMap());
    REQUIRE(asked.pairs.size() == 4);
    CHECK(asked.pairs[0].form == FileForm{{4, 4}, {4, 4}, {1, 0}});
    // One layer that is not square tells for all.
    plan.parameters[3].dims = {4, 3};
    torch.file.tensors[3].dims = {3, 4};
    const WeightMatch found = match_weights(plan, torch.file, order, NameMap());
    CHECK(all(found.differences).empty());
    CHECK(found.layout == WeightLayout::torch);
    torch.file.tensors[3].dims = {4, 3};
    CHECK(match_weights(plan, torch.file, order, NameMap()).layout == WeightLayout::own);
    // The plan's own names say the plan's own axes, unless the file says who else wrote it.
    const plan::Plan square = square_plan();
    Zeros own = named({"dense_1.weights", "dense_2.weights", "dense_3.weights", "dense_4.weights"});
    CHECK(match_weights(square, own.file, {.path = "w"}, NameMap()).layout == WeightLayout::own);
    own.file.metadata["format"] = "pt";
    expect_error(Exit::mismatch, {"fit as own and as torch"},
                 [&] { match_weights(square, own.file, {.path = "w"}, NameMap()); });
}

TEST_CASE("a tensor whose name says another role is refused") {
    const plan::Plan plan = small_plan();
    Zeros zeros;
    zeros.file.path = "w.npz";
    zeros.add("n.running_mean", {3});
    const WeightRequest request{.path = "w.npz", .allow_missing = true};
    const auto differences = [&](const char* target) {
        return all(
            match_weights(plan, zeros.file, request,
                          NameMap::parse(std::string(R"({"n.*": ")") + target + R"("})", "m"))
                .differences);
    };
    CHECK(differences("batch_norm_1.running_variance")
              .find("batch_norm_1.running_variance (from n.running_mean) is running_mean in the "
                    "file and running_variance in the plan") != std::string::npos);
    zeros.file.tensors[0].name = "n.bias";
    CHECK_FALSE(differences("batch_norm_1.gamma").empty());
    zeros.file.tensors[0].name = "n.weight";
    CHECK(differences("batch_norm_1.gamma").empty());
}

TEST_CASE("npz comes back as it was written, and is the same bytes each time") {
    const TemporaryFolder folder;
    const float weights[] = {1.5f, -2.0f, 3.0f, 4.0f, 5.0f, 6.0f};
    const double bias[] = {0.25};
    const std::uint8_t bytes[] = {1, 2, 255};
    const std::vector<StoredTensor> tensors = {
        {"stage_1/conv.weights", DType::f32, {2, 3}, std::as_bytes(std::span(weights))},
        {"\xc3\xa4", DType::f64, {}, std::as_bytes(std::span(bias))},
        {"bytes", DType::u8, {3}, std::as_bytes(std::span(bytes))},
        {"empty", DType::i64, {0, 7}, {}}};
    write_weight_file(folder / "a.npz", tensors, {{"dropped", "yes"}});
    write_weight_file(folder / "b.npz", tensors, {});
    CHECK(file_text(folder / "a.npz") == file_text(folder / "b.npz"));
    const WeightFile file = read_weight_file(folder / "a.npz");
    CHECK(std::string(file.format) == "npz");
    REQUIRE(file.tensors.size() == tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const StoredTensor& found = file.tensors[i];
        CHECK(found.name == tensors[i].name);
        CHECK(found.dtype == tensors[i].dtype);
        CHECK(found.dims == tensors[i].dims);
        CHECK(std::equal(found.bytes.begin(), found.bytes.end(), tensors[i].bytes.begin(),
                         tensors[i].bytes.end()));
    }
    expect_error(Exit::usage, {"w.bin"}, [&] { write_weight_file(folder / "w.bin", tensors, {}); });
    const std::string whole = file_text(folder / "a.npz");
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string bad = whole;
        bad[at] = char(bad[at] ^ 0x55);
        write_text(folder / "bad.npz", bad);
        try {
            read_weight_file(folder / "bad.npz");
        } catch (const RunError& error) {
            CHECK(error.exit() == Exit::mismatch);
        }
    }
}

TEST_CASE("texts become code points") {
    const std::vector<std::string> texts = {"ab", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xff",
                                            ""};
    const NpzTexts made = numpy_texts(texts);
    CHECK(made.descr == "<U3");
    std::vector<std::uint32_t> codes(12);
    REQUIRE(made.bytes.size() == 48);
    std::memcpy(codes.data(), made.bytes.data(), 48);
    CHECK(codes ==
          std::vector<std::uint32_t>{'a', 'b', 0, 0xE4, 0x20AC, 0x1F600, 0xFFFD, 0, 0, 0, 0, 0});
}

TEST_CASE("weights of other types and names are loaded when that is asked for") {
    const TemporaryFolder folder;
    const plan::Plan plan = hand_made_plan();
    Executor from(plan, 1), to(plan, 1);
    initialize(from);
    save_weights(from, folder / "own.safetensors", "xxh3:0");
    const WeightFile own = read_weight_file(folder / "own.safetensors");
    std::vector<std::vector<double>> wide;
    std::vector<StoredTensor> tensors;
    for (const StoredTensor& tensor : own.tensors) {
        std::vector<double>& values = wide.emplace_back();
        for (std::size_t at = 0; at < tensor.bytes.size(); at += sizeof(float)) {
            float value = 0;
            std::memcpy(&value, tensor.bytes.data() + at, sizeof value);
            values.push_back(double(value));
        }
        tensors.push_back({"net/" + tensor.name, DType::f64, tensor.dims, {}});
    }
    for (std::size_t i = 0; i < tensors.size(); ++i)
        tensors[i].bytes = std::as_bytes(std::span<const double>(wide[i]));
    write_weight_file(folder / "wide.npz", tensors, {});
    write_text(folder / "map.json", R"({"net/*": "*"})");
    WeightRequest request{.path = folder / "wide.npz", .map = folder / "map.json", .layout = "own"};
    const std::string before(reinterpret_cast<const char*>(to.parameter(0)), 384);
    expect_error(Exit::mismatch, {"dense_1.weights (from net/dense_1.weights) is f64", "--cast"},
                 [&] { load_weights(to, request); });
    CHECK(std::memcmp(before.data(), to.parameter(0), 384) == 0);
    request.cast = true;
    CHECK(load_weights(to, request).kept.empty());
    CHECK(std::memcmp(from.parameter(0), to.parameter(0), 384) == 0);
    CHECK(std::memcmp(from.parameter(1), to.parameter(1), 12) == 0);

    // A number that f32 does not have, or that is none, must not be loaded silently.
    wide[0][1] = 1e39;
    write_weight_file(folder / "wide.npz", tensors, {});
    expect_error(Exit::mismatch, {"dense_1.weights", "too large"},
                 [&] { load_weights(to, request); });
    for (const double bad :
         {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        wide[0][1] = bad;
        write_weight_file(folder / "wide.npz", tensors, {});
        expect_error(
            Exit::mismatch,
            {"dense_1.weights (from net/dense_1.weights) holds", "at [0,1]", "is no finite number"},
            [&] { load_weights(to, request); });
    }
    wide[0][1] = 1;

    // A part: the rest stays, and is told.
    tensors.resize(1);
    write_weight_file(folder / "wide.npz", tensors, {});
    expect_error(Exit::mismatch, {"missing", "--allow-missing"},
                 [&] { load_weights(to, request); });
    request.allow_missing = true;
    const LoadedWeights loaded = load_weights(to, request);
    REQUIRE(loaded.kept.size() == 1);
    CHECK((loaded.kept[0] == "dense_1.bias" || loaded.kept[0] == "dense_1.weights"));
}

}  // namespace dtnn::runtime::weights_test
