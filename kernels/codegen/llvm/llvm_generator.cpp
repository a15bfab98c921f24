// LLVM as a generator, through its C interface, which stays the same from version to version.

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include <bit>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "kernels/codegen/generator.hpp"

namespace dtnn::kernels {
namespace {

/// Vectors that one turn of the loop works on, where nothing is called: enough to keep a processor
/// busy while it waits for memory.
constexpr int kVectorsPerTurn = 4;

std::string taken(char* message) {
    std::string text = message == nullptr ? "" : message;
    LLVMDisposeMessage(message);
    return text;
}

struct Value {
    LLVMValueRef number = nullptr;
    LLVMValueRef truth = nullptr;  ///< of a comparison: the same, one bit a lane
};

/// The module of one loop.
class LoopBuilder {
  public:
    LoopBuilder(const Loop& loop, LLVMContextRef context, LLVMModuleRef module)
        : loop_(loop),
          context_(context),
          module_(module),
          builder_(LLVMCreateBuilderInContext(context), LLVMDisposeBuilder) {
        is_f32_ = loop.dtype == DType::f32;
        element_ = is_f32_ ? LLVMFloatTypeInContext(context) : LLVMDoubleTypeInContext(context);
        bytes_ = is_f32_ ? 4 : 8;
        lanes_ = unsigned(vector_bytes(loop.isa)) / bytes_;
        vector_ = LLVMVectorType(element_, lanes_);
        mask_ = LLVMVectorType(LLVMInt1TypeInContext(context), lanes_);
        pointer_ = LLVMPointerTypeInContext(context, 0);
        whole_ = LLVMInt64TypeInContext(context);
        for (const Instruction& instruction : loop.expression.instructions)
            calls_ = calls_ || is_called(instruction.term);
    }

    void build() {
        LLVMTypeRef arguments[] = {pointer_, pointer_, whole_, whole_, pointer_};
        function_ =
            LLVMAddFunction(module_, kLoopSymbol,
                            LLVMFunctionType(LLVMVoidTypeInContext(context_), arguments, 5, 0));
        // So that the widest vectors are registers, and arguments of what is called.
        attribute("prefer-vector-width", std::to_string(8 * vector_bytes(loop_.isa)));
        attribute("min-legal-vector-width", std::to_string(8 * vector_bytes(loop_.isa)));
        LLVMAddAttributeAtIndex(
            function_, LLVMAttributeIndex(LLVMAttributeFunctionIndex),
            LLVMCreateEnumAttribute(context_, LLVMGetEnumAttributeKindForName("nounwind", 8), 0));
        const LLVMBasicBlockRef entry = block("entry");
        begin_ = LLVMGetParam(function_, 2);
        end_ = LLVMGetParam(function_, 3);
        at(entry);
        load_pointers();

        LLVMBasicBlockRef before = entry;
        LLVMValueRef from = begin_;
        const int widest = calls_ ? 1 : kVectorsPerTurn;
        for (int vectors = widest; vectors >= 1; vectors = vectors == 1 ? 0 : 1)
            from = whole_vectors(vectors, from, before);
        rest(from);
        LLVMBuildRetVoid(b());
    }

  private:
    static bool is_called(Term term) {
        switch (term) {
            case Term::exp:
            case Term::expm1:
            case Term::log:
            case Term::log1p:
            case Term::tanh:
            case Term::atanh:
            case Term::sigmoid:
            case Term::erf:
            case Term::floor:
            case Term::pow:
                return true;
            default:
                return false;
        }
    }

    LLVMBuilderRef b() const { return builder_.get(); }
    LLVMBasicBlockRef block(const char* name) const {
        return LLVMAppendBasicBlockInContext(context_, function_, name);
    }
    void at(LLVMBasicBlockRef where) const { LLVMPositionBuilderAtEnd(b(), where); }
    LLVMValueRef number(std::int64_t value) const {
        return LLVMConstInt(whole_, std::uint64_t(value), 1);
    }
    void attribute(const std::string& name, const std::string& value) const {
        LLVMAddAttributeAtIndex(
            function_, LLVMAttributeIndex(LLVMAttributeFunctionIndex),
            LLVMCreateStringAttribute(context_, name.data(), unsigned(name.size()), value.data(),
                                      unsigned(value.size())));
    }
    LLVMValueRef every_lane(double value) const {
        std::vector<LLVMValueRef> lanes(
            lanes_, LLVMConstReal(element_, is_f32_ ? double(float(value)) : value));
        return LLVMConstVector(lanes.data(), lanes_);
    }

    /// Loads the pointers of the sources that are read and of the functions that are called.
    void load_pointers() {
        const auto pointer_at = [&](LLVMValueRef list, std::int64_t i) {
            LLVMValueRef index[] = {number(i)};
            return LLVMBuildLoad2(b(), pointer_,
                                  LLVMBuildInBoundsGEP2(b(), pointer_, list, index, 1, ""), "");
        };
        sources_.resize(std::size_t(loop_.expression.inputs));
        for (const Instruction& instruction : loop_.expression.instructions) {
            if (instruction.term == Term::input) {
                LLVMValueRef& source = sources_[std::size_t(instruction.index)];
                if (source == nullptr)
                    source = pointer_at(LLVMGetParam(function_, 1), instruction.index);
            } else if (is_called(instruction.term)) {
                LLVMValueRef& function = functions_[instruction.term];
                if (function == nullptr)
                    function = pointer_at(LLVMGetParam(function_, 4), int(instruction.term));
            }
        }
    }

    /// A loop over so many vectors a turn, as long as there are as many elements. Returns where it
    /// ends, at the beginning of a new block.
    LLVMValueRef whole_vectors(int vectors, LLVMValueRef from, LLVMBasicBlockRef& before) {
        const std::int64_t step = std::int64_t(vectors) * lanes_;
        const LLVMBasicBlockRef turn = block("vectors"), after = block("behind");
        const auto goes_on = [&](LLVMValueRef first) {
            return LLVMBuildICmp(b(), LLVMIntSLE, LLVMBuildNSWAdd(b(), first, number(step), ""),
                                 end_, "");
        };
        LLVMBuildCondBr(b(), goes_on(from), turn, after);
        at(turn);
        LLVMValueRef i = LLVMBuildPhi(b(), whole_, "i");
        std::vector<std::vector<LLVMValueRef>> operands;
        for (int v = 0; v < vectors; ++v)
            operands.push_back(loads(offset(i, v), nullptr));
        std::vector<LLVMValueRef> results;
        for (int v = 0; v < vectors; ++v)
            results.push_back(value_of(operands[std::size_t(v)]));
        // Behind all loads: the destination may be one of the sources.
        for (int v = 0; v < vectors; ++v) {
            LLVMValueRef store =
                LLVMBuildStore(b(), results[std::size_t(v)], destination(offset(i, v)));
            LLVMSetAlignment(store, bytes_);
        }
        LLVMValueRef next = LLVMBuildNSWAdd(b(), i, number(step), "");
        LLVMBuildCondBr(b(), goes_on(next), turn, after);
        LLVMBasicBlockRef ways[] = {before, turn};
        LLVMValueRef values[] = {from, next};
        LLVMAddIncoming(i, values, ways, 2);
        at(after);
        LLVMValueRef end = LLVMBuildPhi(b(), whole_, "i");
        LLVMAddIncoming(end, values, ways, 2);
        before = after;
        return end;
    }

    /// Less than a vector: the lanes that there are.
    void rest(LLVMValueRef from) {
        const LLVMBasicBlockRef some = block("rest"), end = block("end");
        LLVMBuildCondBr(b(), LLVMBuildICmp(b(), LLVMIntSLT, from, end_, ""), some, end);
        at(some);
        LLVMTypeRef wide = LLVMVectorType(LLVMInt32TypeInContext(context_), lanes_);
        LLVMTypeRef i32 = LLVMInt32TypeInContext(context_);
        std::vector<LLVMValueRef> lane_numbers;
        for (unsigned lane = 0; lane < lanes_; ++lane)
            lane_numbers.push_back(LLVMConstInt(i32, lane, 0));
        LLVMValueRef left = LLVMBuildTrunc(b(), LLVMBuildNSWSub(b(), end_, from, ""), i32, "");
        LLVMValueRef first =
            LLVMBuildInsertElement(b(), LLVMGetPoison(wide), left, LLVMConstInt(i32, 0, 0), "");
        LLVMValueRef spread =
            LLVMBuildShuffleVector(b(), first, LLVMGetPoison(wide), LLVMConstNull(wide), "");
        LLVMValueRef mask = LLVMBuildICmp(b(), LLVMIntULT,
                                          LLVMConstVector(lane_numbers.data(), lanes_), spread, "");
        LLVMValueRef arguments[] = {value_of(loads(from, mask)), destination(from),
                                    LLVMConstInt(i32, bytes_, 0), mask};
        LLVMTypeRef types[] = {vector_, pointer_};
        intrinsic("llvm.masked.store", types, 2, arguments, 4);
        LLVMBuildBr(b(), end);
        at(end);
    }

    LLVMValueRef offset(LLVMValueRef i, int vectors) const {
        return vectors == 0 ? i
                            : LLVMBuildNSWAdd(b(), i, number(std::int64_t(vectors) * lanes_), "");
    }
    LLVMValueRef destination(LLVMValueRef i) const {
        LLVMValueRef index[] = {LLVMBuildNSWSub(b(), i, begin_, "")};
        return LLVMBuildInBoundsGEP2(b(), element_, LLVMGetParam(function_, 0), index, 1, "");
    }

    LLVMValueRef intrinsic(const char* name, LLVMTypeRef* types, unsigned type_count,
                           LLVMValueRef* arguments, unsigned count) const {
        const unsigned id = LLVMLookupIntrinsicID(name, std::char_traits<char>::length(name));
        LLVMValueRef declared = LLVMGetIntrinsicDeclaration(module_, id, types, type_count);
        return LLVMBuildCall2(b(), LLVMIntrinsicGetType(context_, id, types, type_count), declared,
                              arguments, count, "");
    }

    /// One vector of every source, from element i on; under a mask, zeros where it is not set.
    std::vector<LLVMValueRef> loads(LLVMValueRef i, LLVMValueRef mask) const {
        std::vector<LLVMValueRef> values(sources_.size());
        for (std::size_t s = 0; s < sources_.size(); ++s) {
            if (sources_[s] == nullptr) continue;
            LLVMValueRef index[] = {i};
            LLVMValueRef from = LLVMBuildInBoundsGEP2(b(), element_, sources_[s], index, 1, "");
            if (mask == nullptr) {
                values[s] = LLVMBuildLoad2(b(), vector_, from, "");
                LLVMSetAlignment(values[s], bytes_);
                continue;
            }
            LLVMValueRef arguments[] = {from,
                                        LLVMConstInt(LLVMInt32TypeInContext(context_), bytes_, 0),
                                        mask, LLVMConstNull(vector_)};
            LLVMTypeRef types[] = {vector_, pointer_};
            values[s] = intrinsic("llvm.masked.load", types, 2, arguments, 4);
        }
        return values;
    }

    /// The expression of these operands. What it has twice is computed once.
    LLVMValueRef value_of(const std::vector<LLVMValueRef>& operands) const {
        using Key = std::tuple<Term, LLVMValueRef, LLVMValueRef, LLVMValueRef>;
        std::map<Key, Value> known;
        std::map<std::uint64_t, LLVMValueRef> constants;
        std::vector<Value> stack;
        for (const Instruction& instruction : loop_.expression.instructions) {
            if (instruction.term == Term::input) {
                stack.push_back({operands[std::size_t(instruction.index)]});
                continue;
            }
            if (instruction.term == Term::number) {
                LLVMValueRef& constant =
                    constants[std::bit_cast<std::uint64_t>(instruction.number)];
                if (constant == nullptr) constant = every_lane(instruction.number);
                stack.push_back({constant});
                continue;
            }
            Value v[3];
            for (int k = instruction.operands; k-- > 0; stack.pop_back())
                v[k] = stack.back();
            Value& result = known[{instruction.term, v[0].number, v[1].number, v[2].number}];
            if (result.number == nullptr) result = apply(instruction.term, v);
            stack.push_back(result);
        }
        return stack.back().number;
    }

    Value apply(Term term, const Value* v) const {
        LLVMValueRef x = v[0].number, y = v[1].number;
        const auto compare = [&](LLVMRealPredicate how, LLVMValueRef a, LLVMValueRef c) {
            return LLVMBuildFCmp(b(), how, a, c, "");
        };
        const auto choose = [&](LLVMValueRef which, LLVMValueRef a, LLVMValueRef c) {
            return LLVMBuildSelect(b(), which, a, c, "");
        };
        // 1 or 0.
        const auto truth = [&](LLVMRealPredicate how) {
            LLVMValueRef bits = compare(how, x, y);
            return Value{choose(bits, every_lane(1), every_lane(0)), bits};
        };
        // The one of two that is `how` the other; x where it is not a number. A constant is one.
        const auto extreme = [&](LLVMRealPredicate ordered, LLVMRealPredicate unordered) {
            if (LLVMIsConstant(y)) return Value{choose(compare(unordered, x, y), x, y)};
            LLVMValueRef keeps =
                LLVMBuildOr(b(), compare(ordered, x, y), compare(LLVMRealUNO, x, x), "");
            return Value{choose(keeps, x, y)};
        };
        switch (term) {
            case Term::add:
                return {LLVMBuildFAdd(b(), x, y, "")};
            case Term::sub:
                return {LLVMBuildFSub(b(), x, y, "")};
            case Term::mul:
                return {LLVMBuildFMul(b(), x, y, "")};
            case Term::div:
                return {LLVMBuildFDiv(b(), x, y, "")};
            case Term::max:
                return extreme(LLVMRealOGE, LLVMRealUGE);
            case Term::min:
                return extreme(LLVMRealOLE, LLVMRealULE);
            case Term::gt:
                return truth(LLVMRealOGT);
            case Term::ge:
                return truth(LLVMRealOGE);
            case Term::eq:
                return truth(LLVMRealOEQ);
            case Term::neg:
                return {LLVMBuildFNeg(b(), x, "")};
            case Term::abs:
                return {
                    choose(compare(LLVMRealOLT, x, every_lane(0)), LLVMBuildFNeg(b(), x, ""), x)};
            case Term::square:
                return {LLVMBuildFMul(b(), x, x, "")};
            case Term::sqrt: {
                LLVMTypeRef types[] = {vector_};
                LLVMValueRef arguments[] = {x};
                return {intrinsic("llvm.sqrt", types, 1, arguments, 1)};
            }
            case Term::select: {
                LLVMValueRef which =
                    v[0].truth != nullptr ? v[0].truth : compare(LLVMRealUNE, x, every_lane(0));
                return {choose(which, y, v[2].number)};
            }
            case Term::pow: {
                LLVMTypeRef types[] = {vector_, vector_};
                LLVMValueRef arguments[] = {x, y};
                return {LLVMBuildCall2(b(), LLVMFunctionType(vector_, types, 2, 0),
                                       functions_.at(term), arguments, 2, "")};
            }
            case Term::exp:
            case Term::expm1:
            case Term::log:
            case Term::log1p:
            case Term::tanh:
            case Term::atanh:
            case Term::sigmoid:
            case Term::erf:
            case Term::floor: {
                LLVMTypeRef types[] = {vector_};
                LLVMValueRef arguments[] = {x};
                return {LLVMBuildCall2(b(), LLVMFunctionType(vector_, types, 1, 0),
                                       functions_.at(term), arguments, 1, "")};
            }
            case Term::input:
            case Term::number:
                break;
        }
        throw CannotGenerate("an operation that this generator does not know");
    }

    const Loop& loop_;
    LLVMContextRef context_;
    LLVMModuleRef module_;
    std::unique_ptr<LLVMOpaqueBuilder, void (*)(LLVMBuilderRef)> builder_;
    bool is_f32_ = true, calls_ = false;
    unsigned bytes_ = 4, lanes_ = 4;
    LLVMTypeRef element_ = nullptr, vector_ = nullptr, mask_ = nullptr, pointer_ = nullptr,
                whole_ = nullptr;
    LLVMValueRef function_ = nullptr, begin_ = nullptr, end_ = nullptr;
    std::vector<LLVMValueRef> sources_;
    std::map<Term, LLVMValueRef> functions_;
};

class LlvmGenerator final : public Generator {
  public:
    LlvmGenerator() {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
    }

    std::string name() const override {
        unsigned major = 0, minor = 0, patch = 0;
        LLVMGetVersion(&major, &minor, &patch);
        return "LLVM " + std::to_string(major) + '.' + std::to_string(minor) + '.' +
               std::to_string(patch);
    }

    std::string generate(const Loop& loop, CodeForm form) const override {
        if (loop.dtype != DType::f32 && loop.dtype != DType::f64)
            throw CannotGenerate("only f32 and f64 are generated");
        if (loop.expression.instructions.size() > kMostGeneratedInstructions)
            throw CannotGenerate("the expression is too long");
        // The context is the generator's own, so that threads do not share one.
        const std::unique_ptr<LLVMOpaqueContext, void (*)(LLVMContextRef)> context(
            LLVMContextCreate(), LLVMContextDispose);
        const std::unique_ptr<LLVMOpaqueModule, void (*)(LLVMModuleRef)> module(
            LLVMModuleCreateWithNameInContext("dtnn", context.get()), LLVMDisposeModule);
        LoopBuilder(loop, context.get(), module.get()).build();
        char* message = nullptr;
        const bool broken = LLVMVerifyModule(module.get(), LLVMReturnStatusAction, &message) != 0;
        const std::string mistake = taken(message);
        if (broken) throw CannotGenerate("LLVM refuses the loop: " + mistake);
        if (form == CodeForm::source) return taken(LLVMPrintModuleToString(module.get()));
        return compiled(loop.isa, module.get(),
                        form == CodeForm::object ? LLVMObjectFile : LLVMAssemblyFile);
    }

  private:
    static std::string compiled(Isa isa, LLVMModuleRef module, LLVMCodeGenFileType type) {
        constexpr const char* kTriple = "x86_64-unknown-linux-gnu";
        constexpr const char* kProcessors[] = {"x86-64", "x86-64-v3", "x86-64-v4"};  // as enum Isa
        LLVMTargetRef target = nullptr;
        char* message = nullptr;
        if (LLVMGetTargetFromTriple(kTriple, &target, &message) != 0)
            throw CannotGenerate(taken(message));
        const std::unique_ptr<LLVMOpaqueTargetMachine, void (*)(LLVMTargetMachineRef)> machine(
            LLVMCreateTargetMachine(target, kTriple, kProcessors[std::size_t(isa)], "",
                                    LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall),
            LLVMDisposeTargetMachine);
        LLVMSetTarget(module, kTriple);
        LLVMMemoryBufferRef made = nullptr;
        if (LLVMTargetMachineEmitToMemoryBuffer(machine.get(), module, type, &message, &made) != 0)
            throw CannotGenerate(taken(message));
        std::string bytes(LLVMGetBufferStart(made), LLVMGetBufferSize(made));
        LLVMDisposeMemoryBuffer(made);
        return bytes;
    }
};

}  // namespace
}  // namespace dtnn::kernels

extern "C" int dtnn_codegen_version() {
    return dtnn::kernels::kCodegenVersion;
}

extern "C" dtnn::kernels::Generator* dtnn_codegen_open() {
    static dtnn::kernels::LlvmGenerator generator;
    return &generator;
}
