// Specs and plans know the same types of datasets.

#include "plan/dataset_types.hpp"

#include <doctest/doctest.h>

#include "compiler/frontend/tables/components.hpp"

namespace dataset_types_test {

using namespace dtnn;

TEST_CASE("every type of dataset is one of specs and of plans, in one order") {
    const auto& members = compiler::dataset_types().members;
    const auto types = plan::dataset_types();
    REQUIRE(members.size() == types.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
        CHECK(members[i].name == types[i].name);
        CHECK_MESSAGE(bool(members[i].settle), types[i].name);
    }
}

TEST_CASE("only an archive whose name says so holds arrays") {
    plan::Dataset dataset;
    dataset.type = "archive";
    CHECK_FALSE(plan::holds_arrays(dataset));
    dataset.attributes["path"] = std::string("data/flowers.npz");
    CHECK(plan::holds_arrays(dataset));
    dataset.type = "folder";
    CHECK_FALSE(plan::holds_arrays(dataset));
    dataset.type = "none of them";
    CHECK_FALSE(plan::holds_arrays(dataset));
}

}  // namespace dataset_types_test
