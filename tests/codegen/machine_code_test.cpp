/// Objects that someone else may have made: they are loaded whole or refused.

#include "kernels/codegen/machine_code.hpp"

#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "kernels/architecture.hpp"
#include "kernels/codegen/generator.hpp"
#include "runtime/base/plugin.hpp"
#include "tests/codegen/random_loops.hpp"

namespace dtnn::codegen_test::machine_code_test {

using namespace kernels;

namespace {

/// The object of an expression with constants, which the code reads relative to itself. Empty: no
/// LLVM.
std::string object() {
    static const std::string made = [] {
        const Plugin plugin = open_plugin(kCodegenLibrary);
        if (plugin.handle == nullptr) return std::string();
        const auto* const generator =
            runtime::plugin_function<Generator*()>(plugin, kCodegenOpenEntry)();
        return generator->generate(loop_of("x0 2.5 mul 0.25 max", DType::f32, Isa::baseline),
                                   CodeForm::object);
    }();
    if (made.empty()) MESSAGE("skipped: no LLVM here (Debian: llvm-19-dev)");
    return made;
}

std::string refusal_of(const std::string& bytes, const char* symbol = kLoopSymbol) {
    std::string mistake;
    return MachineCode::load(bytes, symbol, mistake) ? "" : mistake;
}

}  // namespace

TEST_CASE("code reads its constants wherever it lies") {
    if (object().empty()) return;
    std::string mistake;
    auto code = MachineCode::load(object(), kLoopSymbol, mistake);
    REQUIRE_MESSAGE(code.has_value(), mistake);
    const MachineCode moved = std::move(*code);
    const float x[] = {1, -1, 4, 0, 8};
    float y[5];
    const void* source = x;
    reinterpret_cast<LoopFunction>(moved.entry())(y, &source, 0, 5, nullptr);
    const float wanted[] = {2.5F, 0.25F, 10, 0.25F, 20};
    CHECK(std::equal(std::begin(y), std::end(y), std::begin(wanted)));
}

TEST_CASE("what is no object of ours is refused with the reason") {
    CHECK(refusal_of("") == "it is no relocatable object for this processor");
    CHECK(refusal_of(std::string(100, 'x')) == "it is no relocatable object for this processor");
    CHECK(refusal_of(std::string(MachineCode::kMostBytes + 1, 'x')) == "it is too large");
    if (object().empty()) return;
    CHECK(refusal_of(object(), "another") == "it does not have the function");
}

TEST_CASE("code for another processor, which one home may have for several, is refused") {
    for (const Elf64_Half machine : {EM_NONE, EM_X86_64, EM_AARCH64, EM_RISCV}) {
        if (machine != EM_NONE && machine == architecture::kLoadedMachine) continue;
        CAPTURE(machine);
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_type = ET_REL;
        header.e_machine = machine;
        header.e_shentsize = sizeof(Elf64_Shdr);
        const std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
        CHECK(refusal_of(bytes) == "it is no relocatable object for this processor");
        header.e_machine = architecture::kLoadedMachine;
        if (header.e_machine == EM_NONE) continue;
        const std::string ours(reinterpret_cast<const char*>(&header), sizeof header);
        CHECK(refusal_of(ours) == "it has no code");
    }
}

TEST_CASE("no changed byte, and no cut, of an object does worse than a refusal") {
    const std::string whole = object();
    if (whole.empty()) return;
    for (std::size_t length = 0; length < whole.size(); length += 3)
        refusal_of(whole.substr(0, length));
    int refused = 0;
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const int flip : {1, 0x80, 0xFF}) {
            std::string changed = whole;
            changed[at] = char(changed[at] ^ flip);
            refused += refusal_of(changed).empty() ? 0 : 1;  // loaded, and not run
        }
    CHECK(refused > 100);
}

}  // namespace dtnn::codegen_test::machine_code_test
