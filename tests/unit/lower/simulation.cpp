#include "tests/unit/lower/simulation.hpp"

#include <fmt/format.h>

#include <map>

namespace dtnn::compiler {

namespace {

class Simulation {
  public:
    Simulation(const LoweredProgram& lowered, const plan::Plan& plan, const plan::Program& program)
        : graph_(lowered.graph), lowered_(lowered), plan_(plan), program_(program) {
        for (std::size_t v = 0; v < graph_.values.size(); ++v)
            values_.emplace(graph_.values[v].name, ValueId(v));
    }

    std::vector<std::string> run() {
        for (int batch = 0; batch < 2; ++batch) {
            // Before a batch: states hold their values, inputs are filled, everything else of
            // earlier batches may still lie around but must not be needed, except for what the
            // prologue made.
            for (const plan::Tensor& tensor : program_.tensors)
                if (graph_.value(values_.at(tensor.name)).kind != ValueKind::result)
                    write(tensor, values_.at(tensor.name), 0);
            std::size_t number = 0;
            for (const plan::Step& step : program_.prologue) {
                if (batch == 0) run_step(step, number, 0);
                ++number;
            }
            for (const plan::Step& step : program_.steps)
                run_step(step, number++, batch);
            for (const plan::Output& output : program_.outputs)
                read(program_.tensors[std::size_t(output.tensor)], "the output " + output.name,
                     batch);
        }
        return std::move(problems_);
    }

  private:
    // Through views, to the value that was computed.
    ValueId origin(ValueId id) const {
        while (graph_.value(id).kind == ValueKind::result) {
            const Node& node = graph_.node(graph_.value(id).producer);
            if (!is_view(graph_, node)) break;
            id = node.inputs[0];
        }
        return id;
    }

    // In which batch the value was made: parameters, inputs and prologue results count as batch 0.
    int made_in(ValueId id, int batch) const {
        const Value& value = graph_.value(id);
        if (value.kind != ValueKind::result) return 0;
        return int(value.producer.index()) < graph_.prologue ? 0 : batch;
    }

    std::pair<std::int64_t, std::int64_t> range(const plan::Tensor& tensor) const {
        std::int64_t begin = plan_.buffers[std::size_t(tensor.buffer)].offset + tensor.offset;
        return {begin, begin + element_count(tensor.dims) * size_of(tensor.dtype)};
    }

    void write(const plan::Tensor& tensor, ValueId id, int batch) {
        auto [begin, end] = range(tensor);
        wipe(begin, end);
        memory_[begin] = {end, id, batch};
    }

    void wipe(std::int64_t begin, std::int64_t end) {
        auto it = memory_.upper_bound(begin);
        if (it != memory_.begin()) --it;
        while (it != memory_.end() && it->first < end)
            it = it->second.end > begin ? memory_.erase(it) : std::next(it);
    }

    void read(const plan::Tensor& tensor, const std::string& reader, int batch) {
        ValueId wanted = origin(values_.at(tensor.name));
        auto [begin, end] = range(tensor);
        auto found = memory_.find(begin);
        if (found == memory_.end() || found->second.end != end)
            problems_.push_back(fmt::format("{} finds no whole `{}`", reader, tensor.name));
        else if (found->second.value != wanted || found->second.batch != made_in(wanted, batch))
            problems_.push_back(fmt::format("{} finds `{}` of batch {} where `{}` should be",
                                            reader, graph_.value(found->second.value).name,
                                            found->second.batch, tensor.name));
    }

    void run_step(const plan::Step& step, std::size_t number, int batch) {
        const Node& node = graph_.node(lowered_.steps[number].node);
        for (std::size_t i = 0; i < step.sources.size(); ++i) {
            const plan::Tensor& tensor = program_.tensors[std::size_t(step.sources[i])];
            if (values_.at(tensor.name) != node.inputs[i])
                problems_.push_back(step.name + " has other sources than its node");
            read(tensor, step.name, batch);
        }
        if (step.workspace >= 0) {
            const plan::Buffer& buffer = plan_.buffers[std::size_t(step.workspace)];
            wipe(buffer.offset, buffer.offset + buffer.bytes);
            // Operands must have survived the scratch work.
            for (int source : step.sources)
                read(program_.tensors[std::size_t(source)], step.name + "'s workspace", batch);
        }
        for (int destination : step.destinations) {
            const plan::Tensor& tensor = program_.tensors[std::size_t(destination)];
            write(tensor, values_.at(tensor.name), batch);
        }
        for (int destination : step.destinations) {
            const plan::Tensor& tensor = program_.tensors[std::size_t(destination)];
            auto [begin, end] = range(tensor);
            auto found = memory_.find(begin);
            if (found == memory_.end() || found->second.value != values_.at(tensor.name))
                problems_.push_back(step.name + " overwrites its own results");
        }
    }

    struct Held {
        std::int64_t end;
        ValueId value;
        int batch;
    };
    const Graph& graph_;
    const LoweredProgram& lowered_;
    const plan::Plan& plan_;
    const plan::Program& program_;
    std::map<std::string, ValueId> values_;
    std::map<std::int64_t, Held> memory_;  // by first byte
    std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> simulate(const LoweredProgram& lowered, const plan::Plan& plan,
                                  const plan::Program& program) {
    return Simulation(lowered, plan, program).run();
}

}  // namespace dtnn::compiler
