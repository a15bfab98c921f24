// How the front end's time grows with specs that try it: front_end_bench [ROUNDS]
//
// Each spec is read at three sizes, doubled each time; a row gives the least seconds of the rounds
// for the largest and the exponents of growth (1 is linear).

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "compiler/frontend/specs.hpp"

using namespace dtnn::compiler;

namespace {

const std::string kHead = "kind: model\ninput: {shape: [3, 8, 8]}\n";

std::string repeated(int times, const std::string& format) {
    std::string text;
    for (int i = 0; i < times; ++i)
        text += fmt::format(fmt::runtime(format), i);
    return text;
}

struct SpecFamily {
    const char* name;
    int largest;
    std::function<std::string(int)> spec;
};

const std::vector<SpecFamily> kFamilies = {
    {"one long line", 19'000,
     [](int n) { return kHead + "layers: [" + repeated(n, "{{dropout: {{rate: 0}}}}, ") + "]\n"; }},
    {"parameters", 48'000,
     [](int n) {
         return kHead + "parameters:\n  p0: 1\n" + repeated(n, "  q{0}: \"${{p0 + {0}}}\"\n") +
                "layers: [relu]\n";
     }},
    {"misspelt operators", 60'000,
     [](int n) { return kHead + "layers:\n" + repeated(n, "- conv{}dd\n"); }},
    {"misspelt sources", 15'000,
     [](int n) { return kHead + "layers:\n" + repeated(n, "- relu: {{from: relu_{}x}}\n"); }},
    {"unknown fields", 40'000,
     [](int n) { return kHead + repeated(n, "layrs{}: 1\n") + "layers: [relu]\n"; }},
    {"repeated blocks", 100'000,
     [](int n) {
         return kHead + "blocks: {unit: {layers: [relu, dropout: {rate: 0.5}]}}\n" +
                fmt::format("layers: [repeat: {{times: {}, layers: [unit]}}]\n", n / 2);
     }},
};

double seconds_of(const std::string& spec, int rounds) {
    double least = std::numeric_limits<double>::infinity();
    for (int round = 0; round < rounds; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        Diagnostics diagnostics;
        LoadOptions options;
        options.texts = {{"spec.yaml", spec}};
        load_job("spec.yaml", options, diagnostics);
        static_cast<void>(diagnostics.render(false, 20));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        least = std::min(least, took.count());
    }
    return least;
}

}  // namespace

int main(int count, char** arguments) {
    const int rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 3;
    fmt::print("{:<20} {:>8} {:>8}  exponents\n", "spec", "size", "seconds");
    for (const SpecFamily& family : kFamilies) {
        std::vector<double> seconds;
        for (const int size : {family.largest / 4, family.largest / 2, family.largest})
            seconds.push_back(seconds_of(family.spec(size), rounds));
        fmt::print("{:<20} {:>8} {:>8.3f}  {:.2f} {:.2f}\n", family.name, family.largest,
                   seconds[2], std::log2(seconds[1] / seconds[0]),
                   std::log2(seconds[2] / seconds[1]));
    }
}
