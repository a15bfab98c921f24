/// Any bytes at all as the history of a run: `dtnn-run report` refuses them with a message, or
/// makes a page and a table of them that are text, in proportion to the history.

#include <string>

#include "base/utf8.hpp"
#include "runtime/base/run_error.hpp"
#include "runtime/report/history_reader.hpp"
#include "runtime/report/html_report.hpp"
#include "tests/fuzz/sample_plans.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dtnn::fuzz;
    using namespace dtnn::runtime;
    const std::string text(reinterpret_cast<const char*>(data), size);
    // The page's plan takes most of its time: one for all.
    const dtnn::plan::Plan& plan = sample_plans().front().loaded.plan;
    try {
        const RunHistory history = parse_history(text, "history.jsonl");
        const std::string page = html_report({&plan, &history, "run", ""});
        if (!dtnn::is_utf8(page) || !dtnn::is_utf8(history_csv(history)))
            fail("a page that is not UTF-8");
        if (page.find('\0') != std::string::npos || page.find('\x1b') != std::string::npos)
            fail("a page with control characters");
        if (page.size() > (std::size_t{1} << 20) + 64 * text.size()) fail("a page without bound");
    } catch (const RunError& error) {
        check_message(error);
    }
    return 0;
}
