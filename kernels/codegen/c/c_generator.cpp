#include "kernels/codegen/c/c_generator.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

extern char** environ;

namespace dtnn::kernels {
namespace {

constexpr const char* kMarch[] = {"-march=x86-64", "-march=x86-64-v3", "-march=x86-64-v4"};

/// Writes the statements of an expression: a name for what every instruction leaves.
class Statements {
  public:
    Statements(const Loop& loop, int lanes) : loop_(loop), lanes_(lanes) {}

    /// The name of the value; `indent` begins every line.
    std::string write(std::string& text, const std::string& indent) {
        std::vector<std::string> stack;
        int made = 0;
        for (const Instruction& instruction : loop_.expression.instructions) {
            if (instruction.term == Term::input) {
                stack.push_back("x" + std::to_string(instruction.index));
                continue;
            }
            const auto operands = std::size_t(instruction.operands);
            std::vector<std::string> v(stack.end() - std::ptrdiff_t(operands), stack.end());
            stack.resize(stack.size() - operands);
            const std::string name = "t" + std::to_string(made++);
            text.append(indent).append("const V ").append(name).append(" = ");
            text.append(value(instruction, v)).append(";\n");
            stack.push_back(name);
        }
        return stack.back();
    }

  private:
    std::string every_lane(double number) const {
        std::string text = "(V){";
        for (int lane = 0; lane < lanes_; ++lane)
            text += (lane > 0 ? ", " : "") + c_literal(number, loop_.dtype);
        return text + "}";
    }
    static std::string choose(const std::string& mask, const std::string& a, const std::string& b) {
        return "choose(" + mask + ", " + a + ", " + b + ")";
    }
    std::string truth(const std::string& mask) const {
        return choose(mask, every_lane(1), every_lane(0));
    }

    std::string value(const Instruction& instruction, const std::vector<std::string>& v) const {
        const auto sign = [&](const char* s) { return v[0] + " " + s + " " + v[1]; };
        switch (instruction.term) {
            case Term::number:
                return every_lane(instruction.number);
            case Term::add:
                return sign("+");
            case Term::sub:
                return sign("-");
            case Term::mul:
                return sign("*");
            case Term::div:
                return sign("/");
            case Term::max:
                return choose("(" + sign(">=") + ") | (" + v[0] + " != " + v[0] + ")", v[0], v[1]);
            case Term::min:
                return choose("(" + sign("<=") + ") | (" + v[0] + " != " + v[0] + ")", v[0], v[1]);
            case Term::gt:
                return truth(sign(">"));
            case Term::ge:
                return truth(sign(">="));
            case Term::eq:
                return truth(sign("=="));
            case Term::neg:
                return "-" + v[0];
            case Term::abs:
                return choose(v[0] + " < " + every_lane(0), "-" + v[0], v[0]);
            case Term::square:
                return v[0] + " * " + v[0];
            case Term::sqrt:
                return "root(" + v[0] + ")";
            case Term::select:
                return choose(v[0] + " != " + every_lane(0), v[1], v[2]);
            case Term::pow:
                return "((F2)functions[" + std::to_string(int(instruction.term)) + "])(" + v[0] +
                       ", " + v[1] + ")";
            case Term::exp:
            case Term::expm1:
            case Term::log:
            case Term::log1p:
            case Term::tanh:
            case Term::atanh:
            case Term::sigmoid:
            case Term::erf:
            case Term::floor:
                return "((F1)functions[" + std::to_string(int(instruction.term)) + "])(" + v[0] +
                       ")";
            case Term::input:
                break;
        }
        throw CannotGenerate("an operation that this generator does not know");
    }

    const Loop& loop_;
    int lanes_;
};

std::string compiler() {
    const char* const named = std::getenv("CC");
    return named != nullptr && *named != '\0' ? named : "cc";
}

/// A folder that goes with what is in it.
class Scratch {
  public:
    Scratch() {
        const char* const base = std::getenv("TMPDIR");
        path_ = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/dtnn-code-XXXXXX";
        if (mkdtemp(path_.data()) == nullptr)
            throw CannotGenerate("no folder for the compiler can be made");
    }
    ~Scratch() {
        for (const char* name : {"loop.c", "loop.o", "told"})
            unlink(file(name).c_str());
        rmdir(path_.c_str());
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::string file(const char* name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

std::string contents(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void run(std::vector<std::string> words, const std::string& told) {
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, told.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child = 0;
    const int failure =
        posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) throw CannotGenerate("there is no compiler called " + words[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw CannotGenerate(words[0] + " fails: " + contents(told));
}

}  // namespace

std::string c_source(const Loop& loop) {
    if (loop.dtype != DType::f32 && loop.dtype != DType::f64)
        throw CannotGenerate("only f32 and f64 are generated");
    if (loop.expression.instructions.size() > kMostGeneratedInstructions)
        throw CannotGenerate("the expression is too long");
    const bool is_f32 = loop.dtype == DType::f32;
    const std::string type = is_f32 ? "float" : "double";
    const int bytes = vector_bytes(loop.isa), lanes = bytes / (is_f32 ? 4 : 8);
    const std::string size = std::to_string(bytes), step = std::to_string(lanes);
    std::set<int> sources;
    for (const Instruction& instruction : loop.expression.instructions)
        if (instruction.term == Term::input) sources.insert(instruction.index);

    std::string text = "/* " + text_of(loop) + " */\n";
    text += "typedef " + type + " V __attribute__((vector_size(" + size + ")));\n";
    text += "typedef " + type + " Any __attribute__((vector_size(" + size + "), aligned(" +
            (is_f32 ? "4" : "8") + "), may_alias));\n";
    text += std::string("typedef ") + (is_f32 ? "int" : "long long") +
            " Mask __attribute__((vector_size(" + size + ")));\n";
    text += "typedef V (*F1)(V);\ntypedef V (*F2)(V, V);\n";
    text +=
        "static inline V choose(Mask mask, V a, V b) {\n"
        "    return (V)(((Mask)a & mask) | ((Mask)b & ~mask));\n}\n";
    text += "static inline V root(V x) {\n    V y;\n    for (int i = 0; i < " + step +
            "; ++i) y[i] = __builtin_sqrt" + (is_f32 ? "f" : "") + "(x[i]);\n    return y;\n}\n";
    text += std::string("void ") + kLoopSymbol +
            "(void* dst, const void* const* sources, long begin, long end,\n"
            "               const void* const* functions) {\n    (void)functions;\n";
    for (const int s : sources) {
        const std::string n = std::to_string(s);
        text += "    const " + type + "* const s" + n + " = sources[" + n + "];\n";
    }
    text += "    " + type + "* const d = dst;\n    long i = begin;\n";
    text += "    for (; i + " + step + " <= end; i += " + step + ") {\n";
    for (const int s : sources) {
        const std::string n = std::to_string(s);
        text += "        const V x" + n + " = *(const Any*)(s" + n + " + i);\n";
    }
    std::string result = Statements(loop, lanes).write(text, "        ");
    text += "        *(Any*)(d + (i - begin)) = " + result + ";\n    }\n";
    text += "    if (i < end) {\n";
    for (const int s : sources) {
        const std::string n = std::to_string(s);
        text += "        V x" + n + " = {0};\n        for (long k = 0; k < end - i; ++k) x" + n +
                "[k] = s" + n + "[i + k];\n";
    }
    result = Statements(loop, lanes).write(text, "        ");
    text += "        for (long k = 0; k < end - i; ++k) d[i - begin + k] = " + result +
            "[k];\n    }\n}\n";
    return text;
}

std::string CGenerator::name() const {
    return "C by " + compiler();
}

std::string CGenerator::generate(const Loop& loop, CodeForm form) const {
    std::string source = c_source(loop);
    if (form == CodeForm::source) return source;
    const Scratch scratch;
    std::ofstream(scratch.file("loop.c"), std::ios::binary) << source;
    // The compiler contracts nothing and calls no library.
    run({compiler(), "-x", "c", "-std=gnu11", "-O2", "-ffp-contract=off", "-fno-math-errno",
         "-fPIC", "-ffreestanding", "-fno-tree-loop-distribute-patterns", "-fno-stack-protector",
         "-fno-asynchronous-unwind-tables", "-fcf-protection=none", "-w",
         kMarch[std::size_t(loop.isa)], form == CodeForm::object ? "-c" : "-S", "-o",
         scratch.file("loop.o"), scratch.file("loop.c")},
        scratch.file("told"));
    return contents(scratch.file("loop.o"));
}

}  // namespace dtnn::kernels
