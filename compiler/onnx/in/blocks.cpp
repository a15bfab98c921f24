/// Blocks among the lines of an imported network (spec_layers.hpp).

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "compiler/onnx/in/spec_layers.hpp"

namespace dtnn::compiler::onnx {
namespace {

constexpr int kMostLines = 5'000, kLongestBlock = 48, kMostParameters = 8, kMostBlocks = 32;
/// Lines that a block must save, or it is not worth a look elsewhere.
constexpr int kLeastSaved = 4;
constexpr std::size_t kMostTried = 16;
/// Lines whose types make the name of a block.
constexpr std::size_t kMostNamed = 3;

bool may_vary(FieldType type) {
    return type == FieldType::integer || type == FieldType::real || type == FieldType::boolean ||
           type == FieldType::integer_pair || type == FieldType::padding ||
           type == FieldType::step_padding;
}

/// How many characters both begin with.
std::size_t common_part(std::string_view a, std::string_view b) {
    return std::size_t(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

using LineNames = std::vector<std::string_view>;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Where names part that begin with the same `common` characters: behind a _ or /, with a letter
/// or the end behind it in all of them; 0: nowhere.
std::size_t parting(const LineNames& names, std::size_t common) {
    const auto is_bar = [](char c) { return c == '_' || c == '/'; };
    for (std::size_t at = common; at > 1; --at)
        if (is_bar(names[0][at - 1]) && !is_bar(names[0][at - 2]) &&
            std::all_of(names.begin(), names.end(), [&](std::string_view name) {
                return name.size() == at || (name.size() > at && is_letter(name[at]));
            }))
            return at;
    return 0;
}

/// A path without its last /.
std::string without_end(std::string_view path) {
    return std::string(path.substr(0, path.empty() ? 0 : path.size() - 1));
}

/// What two lines must have in common to be one line of a block: all but numbers and sources.
std::string form_of(const SpecLayer& layer) {
    std::string form = layer.type;
    for (const SpecValue& value : layer.values)
        form += fmt::format("\n{}{}{}", value.field, may_vary(value.type) ? "" : "=",
                            may_vary(value.type) ? "" : value.text);
    return form;
}

/// Whether it is the use of a block that has parameters.
bool is_use(const SpecLayer& layer) {
    return !layer.parts.empty() && !layer.parts[0].path.empty();
}

/// Lines [first, first + length).
struct Run {
    int first, length;
};

/// Runs that look alike, which do not overlap.
struct Alike {
    int length = 0, count = 0, first = 0, end = 0;

    /// Lines that are not written again, less those of the block.
    int saved() const { return count * (length - 1) - (length + 3); }
};

class Folder {
  public:
    Folder(std::vector<SpecLayer>& layers, std::set<std::string> taken)
        : layers_(layers), taken_(std::move(taken)) {
        for (const SpecLayer& layer : layers_)
            taken_.insert(layer.name);
    }

    std::vector<SpecBlock> run() {
        while (blocks_.size() < kMostBlocks && fold_once()) {
        }
        std::reverse(blocks_.begin(), blocks_.end());
        return std::move(blocks_);
    }

  private:
    int count() const { return int(layers_.size()); }
    const SpecLayer& at(int i) const { return layers_[std::size_t(i)]; }
    int form(int i) const { return forms_[std::size_t(i)]; }
    /// Uses of blocks among the first i lines.
    int uses_before(int i) const { return uses_before_[std::size_t(i)]; }
    /// The line's name and a /: a module's name is what its lines' paths begin with.
    const std::string& path(int i) const { return paths_[std::size_t(i)]; }

    void look() {
        forms_.clear();
        std::map<std::string, int> known;
        last_reader_.assign(layers_.size(), 0);
        names_.clear();
        paths_.clear();
        paths_.reserve(layers_.size());
        uses_before_.assign(1, 0);
        for (int i = 0; i < count(); ++i) {
            forms_.push_back(known.try_emplace(form_of(at(i)), int(known.size())).first->second);
            for (const int source : at(i).sources)
                if (source >= 0) last_reader_[std::size_t(source)] = i;
            paths_.push_back(at(i).name + '/');
            uses_before_.push_back(uses_before_.back() + int(is_use(at(i))));
        }
        for (int i = 0; i < count(); ++i)
            if (!at(i).parts.empty()) names_.emplace_back(path(i));
        std::sort(names_.begin(), names_.end());
    }

    /// Whether these names, of one line or with so many characters in common, are those of all that
    /// begin so: what exporters call after one module.
    bool is_module(const LineNames& names, std::size_t common) const {
        if (names.size() < 2) return names.size() == 1;
        const std::string_view begin = names[0].substr(0, parting(names, common));
        if (begin.empty()) return false;
        std::size_t all = 0;
        for (auto at = std::lower_bound(names_.begin(), names_.end(), begin);
             at != names_.end() && at->starts_with(begin) && all <= names.size(); ++at)
            ++all;
        return all == names.size();
    }

    /// visit(run, hash, is_module) of every run from `first` on that reads one value, and whose
    /// last line alone is read from outside.
    template <class Visit>
    void each_run(int first, const Visit& visit) const {
        std::optional<int> entry;
        std::uint64_t hash = 14695981039346656037ull;
        const auto mix = [&hash](int number) {
            hash = (hash ^ std::uint64_t(std::uint32_t(number))) * 1099511628211ull;
        };
        int last_reader = 0;
        LineNames names;
        std::size_t common = 0;
        for (int i = first; i < std::min(count(), first + kLongestBlock); ++i) {
            mix(form(i));
            if (!at(i).parts.empty()) {
                names.emplace_back(path(i));
                common = names.size() == 1 ? names[0].size()
                                           : std::min(common, common_part(names[0], names.back()));
            }
            for (const int source : at(i).sources) {
                mix(source >= first ? source - first : -1);
                if (source >= first) continue;
                if (entry && *entry != source) return;
                entry = source;
            }
            mix(-2);
            if (i > first) {
                last_reader = std::max(last_reader, last_reader_[std::size_t(i - 1)]);
                if (last_reader <= i)
                    visit(Run{first, i - first + 1}, hash, is_module(names, common));
            }
        }
    }

    bool has_uses(Run run) const {
        return uses_before(run.first + run.length) > uses_before(run.first);
    }

    bool same(Run a, Run b) const {
        for (int i = 0; i < a.length; ++i) {
            const auto &left = at(a.first + i).sources, &right = at(b.first + i).sources;
            if (form(a.first + i) != form(b.first + i) || left.size() != right.size()) return false;
            for (std::size_t s = 0; s < left.size(); ++s)
                if (std::max(left[s] - a.first, -1) != std::max(right[s] - b.first, -1))
                    return false;
        }
        return true;
    }

    /// Whether it is a shorter run several times, which is a `repeat` and no block.
    bool repeats(Run run) const {
        for (int length = 1; length <= run.length / 2; ++length) {
            if (run.length % length != 0) continue;
            int at = length;
            while (at < run.length && same({run.first, length}, {run.first + at, length}))
                at += length;
            if (at == run.length) return true;
        }
        return false;
    }

    bool fold_once() {
        look();
        return fold_best(true) || fold_best(false);
    }

    /// Of modules, which may hold uses of blocks, or of any runs of operators.
    bool fold_best(bool modules) {
        std::unordered_map<std::uint64_t, Alike> alike;
        for (int first = 0; first < count(); ++first)
            each_run(first, [&](Run run, std::uint64_t hash, bool is_module) {
                if (modules ? !is_module : has_uses(run)) return;
                Alike& runs = alike[hash];
                if (runs.count == 0) runs = {run.length, 0, first, 0};
                if (run.length != runs.length || first < runs.end) return;
                ++runs.count;
                runs.end = first + run.length;
            });
        std::vector<std::pair<std::uint64_t, Alike>> best;
        for (const auto& [hash, runs] : alike)
            if (runs.count > 1 && runs.saved() >= kLeastSaved &&
                !repeats({runs.first, runs.length}))
                best.emplace_back(hash, runs);
        std::sort(best.begin(), best.end(), [&](const auto& a, const auto& b) {
            const auto rank = [&](const Alike& runs) {
                return std::tuple(-runs.saved(), at(runs.first).parts.empty(), runs.length,
                                  runs.first);
            };
            return rank(a.second) < rank(b.second);
        });
        if (best.size() > kMostTried) best.resize(kMostTried);
        for (const auto& [hash, runs] : best)
            if (fold(hash, {runs.first, runs.length}, modules)) return true;
        return false;
    }

    bool fold(std::uint64_t hash, Run first, bool modules) {
        std::vector<Run> runs;
        int end = 0;
        for (int at = first.first; at < count(); ++at)
            each_run(at, [&](Run run, std::uint64_t of_run, bool is_module) {
                if (of_run != hash || (modules ? !is_module : has_uses(run)) ||
                    run.length != first.length || run.first < end || !same(first, run))
                    return;
                runs.push_back(run);
                end = run.first + run.length;
            });
        SpecBlock block;
        std::vector<std::vector<SpecValue>> given(runs.size());
        for (int i = 0; i < first.length; ++i)
            block.layers.push_back(at(first.first + i));
        find_parameters(block, runs, given);
        if (runs.size() < 2 || int(block.parameters.size()) > kMostParameters) return false;
        block.name = free_name(name_of(block));
        const std::vector<std::string> names = name_uses(block, runs);
        replace(block, runs, given, names);
        blocks_.push_back(std::move(block));
        return true;
    }

    /// What differs from run to run becomes a parameter; what differs alike is one.
    void find_parameters(SpecBlock& block, const std::vector<Run>& runs,
                         std::vector<std::vector<SpecValue>>& given) const {
        std::map<std::pair<FieldType, std::vector<std::string>>, std::string> known;
        for (std::size_t i = 0; i < block.layers.size(); ++i) {
            for (std::size_t v = 0; v < block.layers[i].values.size(); ++v) {
                SpecValue& value = block.layers[i].values[v];
                std::vector<std::string> texts;
                for (const Run& run : runs)
                    texts.push_back(at(run.first + int(i)).values[v].text);
                if (std::all_of(texts.begin(), texts.end(),
                                [&](const std::string& text) { return text == texts[0]; }))
                    continue;
                auto [found, fresh] = known.try_emplace({value.type, texts}, "");
                if (fresh) {
                    found->second = parameter_name(block, value.field);
                    const std::string usual = usual_text(texts);
                    block.parameters.push_back({found->second, value.type, usual});
                    for (std::size_t r = 0; r < runs.size(); ++r)
                        given[r].push_back(
                            {found->second, value.type, texts[r], texts[r] == usual});
                }
                value.text = fmt::format("\"${{{}}}\"", found->second);
                value.is_default = false;
            }
        }
    }

    static std::string parameter_name(const SpecBlock& block, const std::string& field) {
        // Of a block within the block it may have a number already.
        const std::string stem = field.substr(0, field.find_last_not_of("_0123456789") + 1);
        std::string name = stem;
        const auto taken = [&] {
            return std::any_of(block.parameters.begin(), block.parameters.end(),
                               [&](const SpecParameter& known) { return known.name == name; });
        };
        for (int i = 2; taken(); ++i)
            name = fmt::format("{}_{}", stem, i);
        return name;
    }

    /// What most runs have, if that is more than half of them.
    static std::string usual_text(const std::vector<std::string>& texts) {
        std::map<std::string, std::size_t> counts;
        for (const std::string& text : texts)
            if (2 * ++counts[text] > texts.size()) return text;
        return {};
    }

    static std::string name_of(const SpecBlock& block) {
        const auto has = [&](std::string_view type) {
            return std::any_of(block.layers.begin(), block.layers.end(), [&](const SpecLayer& l) {
                return l.type == type && l.sources.size() > 1;
            });
        };
        if (has("add")) return "residual";
        if (has("concat")) return "branched";
        if (std::any_of(block.layers.begin(), block.layers.end(), is_use) ||
            block.layers.size() > kMostNamed)
            return "block";
        std::string name;
        for (const SpecLayer& layer : block.layers)
            name += (name.empty() ? "" : "_") + layer.type;
        return name;
    }

    std::string free_name(const std::string& wanted) {
        std::string name = wanted;
        for (int i = 2; !taken_.insert(name).second; ++i)
            name = fmt::format("{}_{}", wanted, i);
        return name;
    }

    /// Exporters call what ends a module by the module.
    std::string module_of(const std::string& name, Run run) const {
        const std::string& last = at(run.first + run.length - 1).name;
        return name.starts_with(last + '_') ? last : name;
    }

    /// The names of the uses; the block's lines get what is left of theirs.
    std::vector<std::string> name_uses(SpecBlock& block, const std::vector<Run>& runs) {
        std::vector<std::string> uses;
        std::vector<std::vector<std::string>> rests(block.layers.size());
        for (const Run& run : runs) {
            LineNames names;
            std::size_t common = std::string::npos;
            for (int i = 0; i < run.length; ++i)
                if (!at(run.first + i).parts.empty()) names.emplace_back(path(run.first + i));
            for (const std::string_view name : names)
                common = std::min(common, common_part(names[0], name));
            const std::size_t length = names.size() > 1 ? parting(names, common) : 0;
            for (int i = 0; i < run.length; ++i) {
                const std::string& name = path(run.first + i);
                const bool begins = length > 0 && name.starts_with(names[0].substr(0, length));
                rests[std::size_t(i)].push_back(begins ? without_end(name.substr(length)) : "");
                taken_.erase(at(run.first + i).name);
            }
            if (length > 0)
                uses.emplace_back(names[0].substr(0, length - 1));
            else
                uses.push_back(names.size() == 1 ? module_of(without_end(names[0]), run)
                                                 : block.name + "_1");
        }
        std::set<std::string> own;
        std::vector<bool> is_named(block.layers.size(), false);
        for (std::size_t i = 0; i < block.layers.size(); ++i) {
            SpecLayer& layer = block.layers[i];
            const std::vector<std::string>& rest = rests[i];
            const bool alike = !rest[0].empty() && is_letter(rest[0][0]) &&
                               rest[0].find('/') == std::string::npos && !is_word(rest[0]) &&
                               std::all_of(rest.begin(), rest.end(),
                                           [&](const std::string& r) { return r == rest[0]; });
            is_named[i] = alike || !layer.parts.empty() || is_referred(runs[0], int(i));
            const std::string wanted = alike ? rest[0] : layer.type;
            layer.name = wanted;
            for (int k = 2; is_named[i] && !own.insert(layer.name).second; ++k)
                layer.name = fmt::format("{}_{}", wanted, k);
            if (!is_named[i]) layer.name.clear();
        }
        for (std::string& use : uses) {
            const bool counted = use == block.name + "_1";
            const std::string stem = counted ? block.name : use;
            for (int k = counted ? 1 : 2; !taken_.insert(use).second; ++k)
                use = fmt::format("{}_{}", stem, k);
        }
        return uses;
    }

    /// Whether a line of the run reads its line i by name.
    bool is_referred(Run run, int i) const {
        for (int reader = i + 1; reader < run.length; ++reader) {
            const std::vector<int>& sources = at(run.first + reader).sources;
            const bool reads =
                std::find(sources.begin(), sources.end(), run.first + i) != sources.end();
            if (reads && (reader > i + 1 || sources.size() > 1)) return true;
        }
        return false;
    }

    void replace(SpecBlock& block, const std::vector<Run>& runs,
                 std::vector<std::vector<SpecValue>>& given,
                 const std::vector<std::string>& names) {
        std::vector<SpecLayer> lines;
        std::vector<int> places(layers_.size(), 0);
        std::size_t next = 0;
        for (int i = 0; i < count();) {
            if (next == runs.size() || i != runs[next].first) {
                places[std::size_t(i)] = int(lines.size());
                lines.push_back(std::move(layers_[std::size_t(i++)]));
                continue;
            }
            SpecLayer use{block.name, names[next], std::move(given[next]), {}, {}};
            for (int k = 0; k < runs[next].length; ++k, ++i) {
                places[std::size_t(i)] = int(lines.size());
                SpecLayer& line = layers_[std::size_t(i)];
                for (const int source : line.sources)
                    if (source < runs[next].first) use.sources = {source};
                for (SpecPart& part : line.parts)
                    use.parts.push_back({part.layer, block.layers[std::size_t(k)].name +
                                                         (part.path.empty() ? "" : "/") +
                                                         part.path});
            }
            lines.push_back(std::move(use));
            ++next;
        }
        for (SpecLayer& line : lines)
            for (int& source : line.sources)
                if (source >= 0) source = places[std::size_t(source)];
        for (SpecLayer& line : block.layers)
            for (int& source : line.sources)
                source = std::max(source - runs[0].first, -1);
        layers_ = std::move(lines);
    }

    std::vector<SpecLayer>& layers_;
    std::set<std::string> taken_;
    std::vector<int> forms_, last_reader_, uses_before_;
    std::vector<std::string> paths_;
    LineNames names_;  ///< paths of lines with parameters, sorted
    std::vector<SpecBlock> blocks_;
};

}  // namespace

std::vector<SpecBlock> fold_blocks(std::vector<SpecLayer>& layers, std::set<std::string> taken) {
    if (layers.size() > kMostLines) return {};
    return Folder(layers, std::move(taken)).run();
}

}  // namespace dtnn::compiler::onnx
