#include "base/tensor/tensor_type.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <utility>

namespace tensor_type_test {

using namespace dtnn;

namespace {

TensorType row_major(Dims dims) {
    return {DType::f32, std::move(dims)};
}

TensorType channels_last(Dims dims) {
    return {DType::f32, std::move(dims), {0, 2, 3, 1}};
}

}  // namespace

TEST_CASE("axes of one element do not matter to a layout") {
    CHECK(same_layout(channels_last({3, 1, 5, 5}), row_major({3, 1, 5, 5})));
    CHECK_FALSE(same_layout(channels_last({3, 2, 5, 5}), row_major({3, 2, 5, 5})));
    CHECK(is_row_major(channels_last({3, 8, 1, 1})));
    CHECK(same_layout(channels_last({3, 8, 1, 1}), row_major({3, 8, 1, 1})));
    CHECK(strides_of(channels_last({2, 3, 4, 5})) == Dims{60, 1, 15, 3});
}

TEST_CASE("a tensor's size follows from its type, and does not wrap round") {
    CHECK(row_major({2, 3, 4}).elements() == 24);
    CHECK(row_major({}).elements() == 1);
    CHECK(TensorType{DType::bf16, {2, 3}}.bytes() == 12);
    CHECK(TensorType{DType::i64, {2, 3}}.bytes() == 48);
    CHECK(element_count({1ll << 40, 1ll << 40}) == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("types of elements are read as they are written") {
    for (const char* name : names_of(DType())) {
        DType read = DType::f32;
        CHECK(parse_name(name, read));
        CHECK(name_of(read) == std::string_view(name));
    }
    DType read = DType::f64;
    CHECK_FALSE(parse_name("f16", read));
    CHECK(read == DType::f64);
}

}  // namespace tensor_type_test
