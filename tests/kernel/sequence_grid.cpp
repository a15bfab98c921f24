/// What works on sequences.

#include <cmath>
#include <tuple>

#include "tests/kernel/conformance.hpp"

namespace dtnn::kernels::conformance {
namespace {

/// Integers, some of them none of the table's.
void draw_indices(Buffer& indices, std::int64_t entries) {
    for (std::int64_t i = 0; i < indices.tensor().elements(); ++i)
        indices.set(i, std::floor(noise(78, std::uint64_t(i)) * double(entries + 2)) - 1);
}

struct Table {
    Dims indices;
    std::int64_t entries, units;
};
/// One row and many, read often and not at all; rows that fill vectors and that do not.
const std::vector<Table> kTables{{{1}, 1, 1},       {{4}, 3, 5},         {{2, 7}, 40, 17},
                                 {{3, 64}, 11, 32}, {{2, 300}, 700, 24}, {{1, 5}, 2, 5000}};

/// Batches, steps and features that fill vectors and that do not.
const std::vector<Dims> kSequences{{1, 1, 2}, {2, 5, 12}, {3, 40, 64}, {1, 9, 36}, {2, 3, 7}};

struct Attention {
    std::int64_t batch, queries, keys, heads, key_value_heads, width;
    bool causal;
};
/// One step and blocks of them, whole and not; heads that fill vectors and that do not, and share
/// their keys.
const std::vector<Attention> kAttentions{
    {1, 1, 1, 1, 1, 1, false},     {2, 5, 5, 2, 2, 3, true},      {1, 7, 11, 4, 2, 8, false},
    {2, 64, 64, 1, 1, 16, true},   {1, 65, 200, 3, 1, 20, false}, {1, 131, 131, 2, 1, 64, true},
    {1, 150, 150, 2, 2, 33, true}, {1, 9, 300, 1, 1, 128, false}};

/// With queries, keys and values in three operands, or in one; some of them dropped, or none.
Case attention_case(const Attention& a, bool joined, bool drops, bool backward) {
    const std::int64_t own = a.heads * a.width, shared = a.key_value_heads * a.width;
    const TensorType result = row_major({a.batch, a.queries, own});
    const TensorType sums = row_major({a.batch * a.heads * a.queries});
    std::vector<TensorType> sources;
    if (joined)
        sources = {row_major({a.batch, a.queries, own + 2 * shared})};
    else
        sources = {result, row_major({a.batch, a.keys, shared}),
                   row_major({a.batch, a.keys, shared})};
    Attributes attributes = {{"heads", a.heads},   {"key_value_heads", a.key_value_heads},
                             {"causal", a.causal}, {"scale", 2 / std::sqrt(double(a.width))},
                             {"joined", joined},   {"drops", drops}};
    std::vector<TensorType> results = sources;
    if (backward) {
        sources.insert(sources.end(), {result, result, sums});
    } else {
        attributes["statistics"] = true;
        results = {result, sums};
    }
    if (drops) {
        sources.push_back(row_major({2}, DType::i64));
        attributes["dropout"] = 0.3;
        attributes["seed"] = std::int64_t{7};
        attributes["stream"] = std::int64_t{3};
    }
    Case item;
    item.problem = problem(backward ? "attention_backward" : "attention", sources, results,
                           std::move(attributes));
    item.f32_tolerance = backward ? 2e-5 : 1e-5;
    item.f64_tolerance = 1e-13;
    item.prepare = [=](std::vector<Buffer>& buffers) {
        // As large as those of many keys, so that probabilities are small.
        if (backward) shift(buffers[buffers.size() - (drops ? 2 : 1)], 5);
        if (!drops) return;
        buffers.back().set(0, 2);
        buffers.back().set(1, 101);
    };
    return item;
}

/// Sample n has that many of so many steps; some have all, some have what cannot be.
auto lengths_of(std::size_t operand, std::int64_t steps) {
    return [=](std::vector<Buffer>& buffers) {
        Buffer& lengths = buffers[operand];
        for (std::int64_t n = 0; n < lengths.tensor().elements(); ++n)
            lengths.set(n, double(steps - (n * 7) % (steps + 2)));
    };
}

/// Of keys that samples have not all of.
void add_padded_attention(std::vector<Case>& cases, bool backward) {
    for (const Attention& a :
         {Attention{3, 5, 5, 2, 1, 3, true}, Attention{4, 140, 140, 2, 2, 20, false},
          Attention{2, 7, 300, 4, 2, 8, false}, Attention{5, 66, 66, 1, 1, 16, true}})
        for (const bool joined : {false, true})
            for (const bool drops : {false, true}) {
                if (joined && a.queries != a.keys) continue;
                Case item = attention_case(a, joined, drops, backward);
                std::vector<TensorType>& sources = item.problem.sources;
                const std::size_t place = sources.size() - (drops ? 1 : 0);
                sources.insert(sources.begin() + std::ptrdiff_t(place),
                               row_major({a.batch, 1}, DType::i32));
                item.problem.attributes["padded"] = true;
                item.prepare = [=](std::vector<Buffer>& buffers) {
                    if (backward) shift(buffers[place - 1], 5);
                    lengths_of(place, a.keys)(buffers);
                    if (!drops) return;
                    buffers.back().set(0, 2);
                    buffers.back().set(1, 101);
                };
                cases.push_back(item);
            }
}

std::vector<Case> attention_cases(bool backward) {
    std::vector<Case> cases;
    for (const Attention& a : kAttentions)
        for (const bool joined : {false, true})
            for (const bool drops : {false, true})
                if (!joined || a.queries == a.keys)
                    cases.push_back(attention_case(a, joined, drops, backward));
    return cases;
}

/// What the operand of an i64 says: where the first of the steps comes, or would where there is no
/// room.
auto placed_at(std::int64_t place) {
    return [place](std::vector<Buffer>& buffers) {
        for (Buffer& buffer : buffers)
            if (buffer.tensor().dtype == DType::i64) buffer.set(0, double(place));
    };
}

/// Of steps that come behind others, whose keys are there.
void add_placed_attention(std::vector<Case>& cases) {
    for (const auto& [queries, keys, place] :
         {std::tuple(1, 70, 0), std::tuple(1, 70, 69), std::tuple(3, 150, 101),
          std::tuple(70, 200, 17), std::tuple(2, 9, 100)})
        for (const std::int64_t shared : {1, 2}) {
            const TensorType query = row_major({2, queries, 2 * 12}),
                             key = row_major({2, keys, shared * 12});
            Case item;
            item.problem =
                problem("attention", {query, key, key, row_major({1}, DType::i64)}, {query},
                        {{"heads", std::int64_t{2}},
                         {"key_value_heads", shared},
                         {"causal", true},
                         {"scale", 0.7},
                         {"joined", false},
                         {"placed", true}});
            item.f32_tolerance = 1e-5;
            item.f64_tolerance = 1e-13;
            item.prepare = placed_at(place);
            cases.push_back(item);
        }
}

}  // namespace

GRID(attention) {
    std::vector<Case> cases = attention_cases(false);
    Case without = cases.back();
    without.problem.destinations.pop_back();
    without.problem.attributes["statistics"] = false;
    cases.push_back(without);
    add_placed_attention(cases);
    add_padded_attention(cases, false);
    return cases;
}

GRID(attention_backward) {
    std::vector<Case> cases = attention_cases(true);
    add_padded_attention(cases, true);
    return cases;
}

GRID(mask_steps) {
    std::vector<Case> cases;
    for (const char* form : {"zeros", "mean", "reversed", "lowest"})
        for (const Dims& shape : std::vector<Dims>{
                 {1, 1, 1}, {3, 9, 5}, {9, 7, 64}, {4, 300, 33}, {5, 12}, {2, 3, 4, 5}})
            cases.push_back(
                {.problem =
                     problem("mask_steps", {row_major(shape), row_major({shape[0], 1}, DType::i32)},
                             {row_major(shape)}, {{"form", std::string(form)}}),
                 .f32_tolerance = 3e-7,
                 .f64_tolerance = 1e-15,
                 .prepare = lengths_of(1, shape[1])});
    return cases;
}

namespace {

struct Factors {
    std::int64_t batch, rows, summed, columns;
};
/// One number and blocks of them, whole and not; rows that fill vectors and that do not; more than
/// is summed at a time.
const std::vector<Factors> kFactors{{1, 1, 1, 1},     {2, 3, 5, 7},     {3, 64, 32, 64},
                                    {1, 65, 16, 131}, {5, 7, 300, 9},   {2, 70, 257, 66},
                                    {1, 6, 512, 16},  {40, 12, 33, 48}, {1, 130, 4, 1}};

}  // namespace

GRID(matmul) {
    std::vector<Case> cases;
    for (const Factors& f : kFactors) {
        for (const bool first : {false, true}) {
            for (const bool second : {false, true}) {
                Case item;
                item.problem = problem("matmul",
                                       {row_major(first ? Dims{f.batch, f.summed, f.rows}
                                                        : Dims{f.batch, f.rows, f.summed}),
                                        row_major(second ? Dims{f.batch, f.columns, f.summed}
                                                         : Dims{f.batch, f.summed, f.columns})},
                                       {row_major({f.batch, f.rows, f.columns})},
                                       {{"transpose_first", first},
                                        {"transpose_second", second},
                                        {"scale", 1 / std::sqrt(double(f.summed))}});
                item.f32_tolerance = 1e-5;
                item.f64_tolerance = 1e-13;
                cases.push_back(item);
            }
        }
    }
    return cases;
}

namespace {

struct Cell {
    std::int64_t batch, steps, units;
};
/// One sample and more than a thread takes at once; units that fill vectors and that do not.
const std::vector<Cell> kCells{{1, 1, 1},   {2, 3, 5},  {1, 7, 8},
                               {30, 2, 12}, {5, 4, 33}, {3, 9, 64}};

/// Of an operator whose operands are [N, steps, parts * units], and weights of so many parts.
std::vector<Case> cell_cases(const char* op, const std::vector<std::int64_t>& sources,
                             const std::vector<std::int64_t>& destinations, std::size_t weights,
                             std::int64_t parts, bool bias, bool statistics, int states = 0) {
    std::vector<Case> cases;
    for (const Cell& cell : kCells) {
        for (const bool reversed : {false, true}) {
            const auto rows = [&](std::int64_t of) {
                return row_major({cell.batch, cell.steps, of * cell.units});
            };
            std::vector<TensorType> from, to;
            for (const std::int64_t of : sources)
                from.push_back(rows(of));
            from.insert(from.begin() + std::ptrdiff_t(weights),
                        row_major({cell.units, parts * cell.units}));
            if (bias) from.push_back(row_major({cell.units}));
            for (int state = 0; state < states; ++state)
                from.push_back(row_major({cell.batch, 1, cell.units}));
            for (const std::int64_t of : destinations)
                to.push_back(rows(of));
            Case item;
            item.problem = problem(op, from, to, {{"reversed", reversed}});
            if (statistics) item.problem.attributes["statistics"] = destinations.size() > 1;
            if (states > 0) item.problem.attributes["carried"] = true;
            item.f32_tolerance = 2e-5;
            item.f64_tolerance = 1e-13;
            // So large that what a step hands on neither grows nor vanishes.
            item.prepare = [weights, units = cell.units](std::vector<Buffer>& buffers) {
                Buffer& buffer = buffers[weights];
                for (std::int64_t k = 0; k < buffer.tensor().elements(); ++k)
                    buffer.set(k, buffer.get(k) / std::sqrt(double(units)));
            };
            cases.push_back(item);
        }
    }
    return cases;
}

std::vector<Case> both(std::vector<Case> cases, const std::vector<Case>& more) {
    cases.insert(cases.end(), more.begin(), more.end());
    return cases;
}

}  // namespace

GRID(rnn_steps) {
    return both(cell_cases("rnn_steps", {1}, {1}, 1, 1, false, false),
                cell_cases("rnn_steps", {1}, {1}, 1, 1, false, false, 1));
}
GRID(rnn_steps_backward) {
    return cell_cases("rnn_steps_backward", {1, 1}, {1}, 1, 1, false, false);
}
GRID(lstm_steps) {
    return both(both(cell_cases("lstm_steps", {4}, {1}, 1, 4, false, true),
                     cell_cases("lstm_steps", {4}, {1, 4, 1}, 1, 4, false, true)),
                cell_cases("lstm_steps", {4}, {1, 4, 1}, 1, 4, false, true, 2));
}
GRID(lstm_steps_backward) {
    return both(cell_cases("lstm_steps_backward", {4, 1, 1}, {4}, 2, 4, false, false),
                cell_cases("lstm_steps_backward", {4, 1, 1}, {4}, 2, 4, false, false, 1));
}
GRID(gru_steps) {
    return both(both(cell_cases("gru_steps", {3}, {1}, 1, 3, true, true),
                     cell_cases("gru_steps", {3}, {1, 4}, 1, 3, true, true)),
                cell_cases("gru_steps", {3}, {1, 4}, 1, 3, true, true, 1));
}
GRID(gru_steps_backward) {
    return both(cell_cases("gru_steps_backward", {4, 1, 1}, {3, 3}, 2, 3, false, false),
                cell_cases("gru_steps_backward", {4, 1, 1}, {3, 3}, 2, 3, false, false, 1));
}

GRID(class_token) {
    std::vector<Case> cases;
    for (const Dims& shape : kSequences)
        cases.push_back(
            {.problem = problem("class_token", {row_major(shape), row_major({shape[2]})},
                                {row_major({shape[0], shape[1] + 1, shape[2]})}, {})});
    return cases;
}

namespace {

/// The last case again, with steps that come behind others.
void add_placed(std::vector<Case>& cases, std::int64_t place) {
    Case item = cases.back();
    item.problem.sources.push_back(row_major({1}, DType::i64));
    item.problem.attributes["placed"] = true;
    item.prepare = placed_at(place);
    cases.push_back(item);
}

}  // namespace

GRID(position_embedding) {
    std::vector<Case> cases;
    for (const Dims& shape : kSequences) {
        for (const bool learned : {true, false}) {
            std::vector<TensorType> sources{row_major(shape)};
            if (learned) sources.push_back(row_major({shape[1] + 3, shape[2]}));
            cases.push_back({.problem = problem("position_embedding", sources, {row_major(shape)},
                                                {{"learned", learned}, {"base", 100.0}}),
                             .f32_tolerance = 2e-7,
                             .f64_tolerance = 1e-15,
                             .in_place = {{0, 0}}});
            add_placed(cases, 2);
        }
    }
    return cases;
}

GRID(position_embedding_backward) {
    std::vector<Case> cases;
    for (const Dims& shape : kSequences)
        for (const std::int64_t more : {0, 2})
            cases.push_back({.problem = problem("position_embedding_backward", {row_major(shape)},
                                                {row_major({shape[1] + more, shape[2]})}),
                             .f32_tolerance = 1e-6,
                             .f64_tolerance = 1e-14});
    return cases;
}

GRID(rotary_embedding) {
    std::vector<Case> cases;
    for (const Dims& shape : kSequences) {
        for (const std::int64_t heads : {1, 2, 3}) {
            if (shape[2] % (2 * heads) != 0) continue;
            for (const bool neighbours : {false, true})
                for (const bool inverse : {false, true})
                    cases.push_back({.problem = problem("rotary_embedding", {row_major(shape)},
                                                        {row_major(shape)},
                                                        {{"heads", heads},
                                                         {"base", 10000.0},
                                                         {"neighbours", neighbours},
                                                         {"inverse", inverse}}),
                                     .f32_tolerance = 3e-7,
                                     .f64_tolerance = 1e-15,
                                     .in_place = {{0, 0}}});
            add_placed(cases, 9);
        }
    }
    return cases;
}

GRID(keep_steps) {
    std::vector<Case> cases;
    for (const auto& [steps, room, row, features, begin, place] :
         {std::tuple(1, 1, 3, 3, 0, 0), std::tuple(1, 9, 24, 8, 16, 5),
          std::tuple(4, 9, 7, 7, 0, 5), std::tuple(2, 300, 40, 33, 7, 1000)})
        for (const bool over : {false, true}) {
            const TensorType kept = row_major({3, room, features});
            Case item;
            item.problem = problem("keep_steps",
                                   {kept, row_major({3, steps, row}), row_major({1}, DType::i64)},
                                   {kept}, {{"begin", std::int64_t{begin}}});
            item.prepare = placed_at(place);
            if (over) item.in_place = {{0, 0}};
            cases.push_back(item);
        }
    return cases;
}

GRID(embedding) {
    std::vector<Case> cases;
    for (const Table& table : kTables) {
        Dims rows = table.indices;
        rows.push_back(table.units);
        cases.push_back({.problem = problem("embedding",
                                            {row_major(table.indices, DType::i32),
                                             row_major({table.entries, table.units})},
                                            {row_major(rows)}),
                         .prepare = [entries = table.entries](std::vector<Buffer>& buffers) {
                             draw_indices(buffers[0], entries);
                         }});
    }
    return cases;
}

GRID(embedding_backward) {
    std::vector<Case> cases;
    for (const Table& table : kTables) {
        Dims rows = table.indices;
        rows.push_back(table.units);
        cases.push_back({.problem = problem("embedding_backward",
                                            {row_major(table.indices, DType::i32), row_major(rows)},
                                            {row_major({table.entries, table.units})}),
                         .f32_tolerance = 1e-5,
                         .f64_tolerance = 1e-13,
                         .prepare = [entries = table.entries](std::vector<Buffer>& buffers) {
                             draw_indices(buffers[0], entries);
                         }});
    }
    return cases;
}

}  // namespace dtnn::kernels::conformance
