#include "kernels/arguments/expression_steps.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace dtnn::kernels {
namespace {

struct Value {
    Instruction instruction;
    std::array<int, 3> operands = {-1, -1, -1};  ///< values
    int last_reader = -1;
};

/// The values of the expression, each behind those that it reads. The last is its result.
std::vector<Value> values_of(const Postfix& expression, bool shared) {
    using Key = std::tuple<Term, int, std::uint64_t, std::array<int, 3>>;
    std::map<Key, int> known;
    std::vector<Value> values;
    std::vector<int> stack;
    for (const Instruction& instruction : expression.instructions) {
        Value value{instruction};
        const auto operands = std::size_t(instruction.operands);
        std::copy(stack.end() - std::ptrdiff_t(operands), stack.end(), value.operands.begin());
        stack.resize(stack.size() - operands);
        const Key key{instruction.term, instruction.index,
                      std::bit_cast<std::uint64_t>(instruction.number), value.operands};
        const auto [at, is_new] = known.try_emplace(key, int(values.size()));
        if (is_new || (!shared && operands > 0)) {
            at->second = int(values.size());
            values.push_back(value);
        }
        stack.push_back(at->second);
    }
    for (std::size_t i = 0; i < values.size(); ++i)
        for (const int operand : values[i].operands)
            if (operand >= 0) values[std::size_t(operand)].last_reader = int(i);
    return values;
}

/// Numbers of slots that are free, the lowest first.
class Slots {
  public:
    int take() {
        const auto free = std::find(used_.begin(), used_.end(), false);
        const auto slot = std::size_t(free - used_.begin());
        if (slot == used_.size()) used_.push_back(false);
        used_[slot] = true;
        return int(slot);
    }
    void give_back(int slot) { used_[std::size_t(slot)] = false; }
    int most() const { return int(used_.size()); }

  private:
    std::vector<bool> used_;
};

/// The steps, and how many slots they need.
std::pair<ExpressionSteps, int> steps_of(const std::vector<Value>& values) {
    ExpressionSteps result;
    Slots slots;
    std::vector<StepOperand> places(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Instruction& instruction = values[i].instruction;
        if (instruction.term == Term::input || instruction.term == Term::number) {
            const bool input = instruction.term == Term::input;
            places[i] = {input ? StepOperand::From::input : StepOperand::From::number,
                         instruction.index, instruction.number};
            continue;
        }
        ExpressionStep step{instruction.term};
        for (std::size_t k = 0; k < std::size_t(instruction.operands); ++k)
            step.operands[k] = places[std::size_t(values[i].operands[k])];
        // Every element is read before it is written: the result may take an operand's slot.
        for (std::size_t k = 0; k < std::size_t(instruction.operands); ++k) {
            const int operand = values[i].operands[k];
            const bool again = std::find(values[i].operands.begin(),
                                         values[i].operands.begin() + std::ptrdiff_t(k),
                                         operand) != values[i].operands.begin() + std::ptrdiff_t(k);
            if (step.operands[k].from == StepOperand::From::slot && !again &&
                values[std::size_t(operand)].last_reader == int(i))
                slots.give_back(step.operands[k].index);
        }
        step.slot = slots.take();
        places[i] = {StepOperand::From::slot, step.slot, 0};
        result.steps.push_back(step);
    }
    if (!places.empty()) result.value = places.back();
    return {std::move(result), slots.most()};
}

}  // namespace

ExpressionSteps steps_of(const Postfix& expression, int slots) {
    auto [shared, needed] = steps_of(values_of(expression, true));
    if (needed <= slots) return std::move(shared);
    return steps_of(values_of(expression, false)).first;
}

}  // namespace dtnn::kernels
