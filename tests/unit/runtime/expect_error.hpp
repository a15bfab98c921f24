#pragma once
/// Checks that something is a RunError with this exit code and these words in its text.

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {

template <class Action>
void expect_error(Exit exit, std::initializer_list<const char*> words, Action&& action) {
    try {
        action();
    } catch (const RunError& error) {
        const std::string text = error.render(false);
        CAPTURE(text);
        CHECK(int(error.exit()) == int(exit));
        for (const char* word : words) {
            CAPTURE(word);
            CHECK(text.find(word) != std::string::npos);
        }
        return;
    }
    FAIL_CHECK("nothing was thrown");
}

}  // namespace dtnn::runtime
