#include "tools/dtnn_run/restarts.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace restarts_test {

using dtnn::Decision;
using dtnn::Restarts;
using dtnn::TryEnd;

namespace {

TryEnd died(std::optional<std::int64_t> step, int code = 1) {
    return {code, false, "rank 1 was killed", step};
}

}  // namespace

TEST_CASE("only what another try may mend is tried again") {
    for (const int code : {1, 9, 137, 255})
        CHECK(Restarts(1).after(died(3, code)).again);
    for (const int code : {0, 2, 3, 4, 5, 6, 70, 75}) {
        const Decision decision = Restarts(1).after(died(3, code));
        CHECK_FALSE(decision.again);
        CHECK(decision.line.empty());
    }
}

TEST_CASE("nothing is started again without the wish, or after a signal to stop") {
    CHECK_FALSE(Restarts(0).after(died(3)).again);
    TryEnd stopped = died(3);
    stopped.stop_asked = true;
    CHECK_FALSE(Restarts(2).after(stopped).again);
}

TEST_CASE("restarts are counted, say where they begin, and end") {
    Restarts restarts(2);
    CHECK(restarts.after(died(std::nullopt)).line ==
          "restart 1 of 2 in 1 s from the beginning: rank 1 was killed");
    CHECK(restarts.after(died(12)).line ==
          "restart 2 of 2 in 1 s from the checkpoint of step 12: rank 1 was killed");
    const Decision last = restarts.after(died(12));
    CHECK_FALSE(last.again);
    CHECK(last.line ==
          "given up after 2 restarts: rank 1 was killed; the last try came no further than the "
          "checkpoint of step 12");
}

TEST_CASE("a restart that brings nothing says so and waits longer, up to a minute") {
    Restarts restarts(20);
    CHECK(restarts.after(died(5)).seconds == 1);
    double expected = 2;
    for (int i = 0; i < 8; ++i, expected *= 2) {
        const Decision decision = restarts.after(died(5));
        CHECK(decision.seconds == (expected < 60 ? expected : 60));
        CHECK(decision.line.find("no further than the one before") != std::string::npos);
    }
    // A step further, and the wait is short again.
    const Decision further = restarts.after(died(6));
    CHECK(further.seconds == 1);
    CHECK(further.line.find("no further") == std::string::npos);
}

TEST_CASE("a try that wrote no checkpoint came no further than one before it") {
    Restarts restarts(3);
    CHECK(restarts.after(died(std::nullopt)).seconds == 1);
    CHECK(restarts.after(died(std::nullopt)).seconds == 2);
}

}  // namespace restarts_test
