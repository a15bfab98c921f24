#include "plan/diff/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/json_text.hpp"
#include "plan/diff/change_list.hpp"
#include "plan/diff/layer_meanings.hpp"
#include "plan/layer_types.hpp"

namespace dtnn::plan {

namespace {

constexpr const char* kNumbering =
    "made names count the layers of a type; names in weight files and checkpoints follow";
constexpr const char* kAround = "the layers around what came, went or moved read each other";
constexpr const char* kShapes = "shapes follow from the fields and from the shapes before";

// {"type": "conv2d", "fields": {...}}: what a layer is, without its name and sources.
std::string layer_json(const Layer& layer) {
    return fmt::format("{{\"type\": {}, \"fields\": {}}}", json_text(layer.type),
                       json_text(layer.attributes));
}

std::string_view head_of(std::string_view name, std::size_t tail) {
    return name.substr(0, name.size() - tail);
}

// How long the parts are that both names end with, the slash before them included.
std::size_t common_tail(std::string_view a, std::string_view b) {
    std::size_t same = 0;
    while (same < a.size() && same < b.size() && a[a.size() - 1 - same] == b[b.size() - 1 - same])
        ++same;
    auto ends_part = [same](std::string_view name) {
        return same == name.size() || name[name.size() - 1 - same] == '/';
    };
    if (same > 0 && (same == a.size() || same == b.size()) && ends_part(a) && ends_part(b))
        return same;
    std::string_view tail = a.substr(a.size() - same);
    std::size_t slash = tail.find('/');
    return slash == std::string_view::npos ? 0 : same - slash;
}

class LayerComparison {
  public:
    LayerComparison(const Plan& a, const Plan& b, const LayerAlignment& alignment)
        : a_(a.layers), b_(b.layers), alignment_(alignment) {
        for (std::size_t i = 0; i < a_.size(); ++i)
            index_a_.emplace(a_[i].name, int(i));
        for (std::size_t j = 0; j < b_.size(); ++j)
            index_b_.emplace(b_[j].name, int(j));
    }

    LayerDifference run() {
        removed();
        added();
        pairs();
        structural_ = structural_ || !renamed_.empty();
        if (!numbering_.empty() && !structural_) {
            // No layer shifted the numbers: somebody wrote the names.
            for (auto& [i, j] : numbering_)
                rename(i, j);
        } else if (!numbering_.empty()) {
            const auto& [i, j] = numbering_.front();
            Change change =
                make_change(Section::numbering, Action::renamed, "name", json_text(layer_a(i).name),
                            json_text(layer_b(j).name), kNames, kNumbering);
            for (const auto& [own, other] : numbering_)
                change.members.push_back(layer_b(other).name);
            result_.consequences.push_back(std::move(change));
        }
        for (ChangeList* list : {&replaced_, &fields_, &renamed_, &connections_})
            list->move_to(result_.chosen);
        for (ChangeList* list : {&around_, &shapes_})
            list->move_to(result_.consequences);
        return std::move(result_);
    }

  private:
    const Layer& layer_a(int i) const { return a_[std::size_t(i)]; }
    const Layer& layer_b(int j) const { return b_[std::size_t(j)]; }
    int of_a(int i) const { return alignment_.of_a[std::size_t(i)]; }
    int of_b(int j) const { return alignment_.of_b[std::size_t(j)]; }
    bool moved(int j) const { return alignment_.moved[std::size_t(j)]; }

    // ---- What is gone and what is new, run by run; runs of equal layers are told once.

    void removed() { runs(a_, alignment_.of_a, Action::removed, "the layer is gone"); }
    void added() { runs(b_, alignment_.of_b, Action::added, "the layer is new"); }

    void runs(const std::vector<Layer>& layers, const std::vector<int>& partner, Action action,
              const char* reason) {
        ChangeList list_of_runs;
        for (std::size_t begin = 0; begin < layers.size();) {
            if (partner[begin] >= 0) {
                ++begin;
                continue;
            }
            std::size_t end = begin;
            std::string list;
            while (end < layers.size() && partner[end] < 0)
                list += (list.empty() ? "" : ", ") + layer_json(layers[end++]);
            if (end - begin > 1) list = "[" + list + "]";
            Change run = make_change(Section::layers, action,
                                     end - begin > 1 ? "layers" : layers[begin].type, "", "",
                                     Meaning::mathematics, reason);
            (action == Action::added ? run.after : run.before) = list;
            for (; begin < end; ++begin)
                list_of_runs.add(run, layers[begin].name);
        }
        structural_ = structural_ || !list_of_runs.empty();
        list_of_runs.move_to(result_.chosen);
    }

    // ---- Layers that both have.

    void pairs() {
        for (int j = 0; j < int(b_.size()); ++j) {
            int i = of_b(j);
            if (i < 0) continue;
            const Layer &s = layer_a(i), &t = layer_b(j);
            if (moved(j)) {
                structural_ = true;
                move(s, t);
            }
            if (s.type != t.type) {
                structural_ = true;
                replaced_.add(make_change(Section::layers, Action::replaced, "type", layer_json(s),
                                          layer_json(t), Meaning::mathematics,
                                          "another operator stands in its place"),
                              t.name);
            } else {
                fields(s, t);
                if (s.name != t.name) {
                    if (renumbered(s.name, t.name))
                        numbering_.emplace_back(i, j);
                    else
                        rename(i, j);
                }
            }
            if (!moved(j)) connection(s, t);
            shape("output shape", s.output_shape, t.output_shape, t.name);
            shape("weights shape", s.weights_shape, t.weights_shape, t.name);
        }
        result_.same_wiring = result_.same_wiring && !any_came_or_went();
        if (result_.same_wiring)
            for (Change& change : result_.chosen)
                if (change.action == Action::moved) {
                    change.meaning = Meaning::performance;
                    change.reason = "each layer reads what it read before, listed in another order";
                }
    }

    bool any_came_or_went() const {
        auto gone = [](int partner) { return partner < 0; };
        return std::any_of(alignment_.of_a.begin(), alignment_.of_a.end(), gone) ||
               std::any_of(alignment_.of_b.begin(), alignment_.of_b.end(), gone) ||
               !replaced_.empty();
    }

    // Layers that moved together are one fact.
    void move(const Layer& s, const Layer& t) {
        bool follows = last_moved_a_ && &s == last_moved_a_ + 1 && &t == last_moved_b_ + 1;
        last_moved_a_ = &s;
        last_moved_b_ = &t;
        if (mapped(s.from) != t.from) result_.same_wiring = false;
        if (follows) {
            result_.chosen[moved_change_].members.push_back(t.name);
            return;
        }
        moved_change_ = result_.chosen.size();
        result_.chosen.push_back({.section = Section::layers,
                                  .action = Action::moved,
                                  .what = s.type,
                                  .before = json_text(s.from),
                                  .after = json_text(t.from),
                                  .meaning = Meaning::mathematics,
                                  .reason = "the layer reads, and is read by, other layers",
                                  .members = {t.name}});
    }

    void fields(const Layer& s, const Layer& t) {
        if (s.attributes == t.attributes) return;
        std::set<std::string> names;
        for (const auto* attributes : {&s.attributes, &t.attributes})
            for (const auto& [name, value] : *attributes)
                names.insert(name);
        auto text = [](const Attributes& attributes, const std::string& name) {
            auto found = attributes.find(name);
            return found == attributes.end() ? std::string() : json_text(found->second);
        };
        for (const std::string& name : names) {
            const LayerMeaning& meaning = meaning_of_layer_field(s.type, name);
            std::string before = text(s.attributes, name);
            // How a parameter begins is no field of the layer that shares it.
            const bool one_shares = s.attributes.contains(kShare) != t.attributes.contains(kShare);
            if (one_shares && name != kShare && before.empty() != text(t.attributes, name).empty())
                continue;
            if (name == kShare && !before.empty())
                before = json_text(mapped({std::get<std::string>(s.attributes.at(name))})[0]);
            Change change =
                make_change(Section::layers, Action::changed, s.type + "." + name, before,
                            text(t.attributes, name), meaning.meaning, meaning.reason);
            if (change.before != change.after) fields_.add(std::move(change), t.name);
        }
    }

    // A block that got a name changes the same part of the names of all its layers.
    void rename(int i, int j) {
        const std::string &s = layer_a(i).name, &t = layer_b(j).name;
        std::size_t tail = common_tail(s, t);
        const LayerMeaning& meaning = meaning_of_layer_field(layer_b(j).type, "name");
        renamed_.add(
            make_change(Section::layers, Action::renamed, "name",
                        json_text(std::string(head_of(s, tail))),
                        json_text(std::string(head_of(t, tail))), meaning.meaning, meaning.reason),
            t);
    }

    void shape(const char* what, const Dims& s, const Dims& t, const std::string& name) {
        if (s == t) return;
        shapes_.add(
            make_change(Section::shapes, Action::changed, what, s.empty() ? "" : json_text(s),
                        t.empty() ? "" : json_text(t), Meaning::mathematics, kShapes),
            name);
    }

    // ---- Connections.

    // The name in `b` of a layer of `a`; its own where `b` has no such layer.
    std::vector<std::string> mapped(const std::vector<std::string>& from) const {
        std::vector<std::string> names;
        for (const std::string& name : from) {
            auto found = index_a_.find(name);
            int j = found == index_a_.end() ? -1 : of_a(found->second);
            names.push_back(j < 0 ? name : layer_b(j).name);
        }
        return names;
    }

    void connection(const Layer& s, const Layer& t) {
        std::vector<std::string> before = mapped(s.from);
        bool gone = std::any_of(s.from.begin(), s.from.end(), [&](const std::string& name) {
            auto found = index_a_.find(name);
            return found != index_a_.end() && of_a(found->second) < 0;
        });
        if (!gone && before == t.from) return;
        result_.same_wiring = false;
        bool follows = explained(s, t);
        std::vector<std::string> sorted_before = before, sorted_after = t.from;
        std::sort(sorted_before.begin(), sorted_before.end());
        std::sort(sorted_after.begin(), sorted_after.end());
        bool order = sorted_before == sorted_after && layer_type(t.type).commutes;
        const LayerMeaning& meaning = meaning_of_layer_field(t.type, "from");
        (follows ? around_ : connections_)
            .add(make_change(Section::connections, Action::changed, "from", json_text(s.from),
                             json_text(t.from), order ? Meaning::performance : meaning.meaning,
                             follows ? kAround
                             : order ? "the same operands in another order"
                                     : std::string(meaning.reason)),
                 t.name);
    }

    // Whether the sources differ only by layers that came, went or moved: seen through those, both
    // read the same.
    bool explained(const Layer& s, const Layer& t) {
        if (s.from.size() == t.from.size()) {
            bool all = true;
            for (std::size_t k = 0; k < s.from.size() && all; ++k) {
                std::vector<std::string> x = seen_in_a(s.from[k]), y = seen_in_b(t.from[k]);
                all = std::find_first_of(x.begin(), x.end(), y.begin(), y.end()) != x.end();
            }
            if (all) return true;
        }
        // A branch came or went: the others stay.
        std::vector<std::string> kept_a, kept_b;
        for (const std::string& name : s.from)
            if (auto found = index_a_.find(name); found == index_a_.end() || fixed_a(found->second))
                kept_a.push_back(name);
        for (const std::string& name : t.from)
            if (auto found = index_b_.find(name); found == index_b_.end() || fixed_b(found->second))
                kept_b.push_back(name);
        return kept_a.size() + kept_b.size() < s.from.size() + t.from.size() &&
               mapped(kept_a) == kept_b;
    }

    bool fixed_a(int i) const { return of_a(i) >= 0 && !moved(of_a(i)); }
    bool fixed_b(int j) const { return of_b(j) >= 0 && !moved(j); }

    // The layers of `b` that `name` stands for once layers that are not in both places are looked
    // through, first and last source; a bound keeps long runs cheap.
    std::vector<std::string> seen_in_a(const std::string& name) const {
        return seen(
            name, index_a_, a_, [&](int i) { return fixed_a(i); },
            [&](int i) { return layer_b(of_a(i)).name; });
    }
    std::vector<std::string> seen_in_b(const std::string& name) const {
        return seen(
            name, index_b_, b_, [&](int j) { return fixed_b(j); },
            [&](int j) { return layer_b(j).name; });
    }

    template <class Fixed, class Name>
    static std::vector<std::string> seen(const std::string& start,
                                         const std::unordered_map<std::string, int>& index,
                                         const std::vector<Layer>& layers, Fixed fixed,
                                         Name name_of_fixed) {
        constexpr std::size_t kMostLayers = 10'000;
        std::vector<std::string> found, open = {start};
        std::set<std::string> known = {start};
        while (!open.empty() && known.size() < kMostLayers) {
            std::string name = std::move(open.back());
            open.pop_back();
            auto layer = index.find(name);
            if (layer == index.end())
                found.push_back(name);
            else if (fixed(layer->second))
                found.push_back(name_of_fixed(layer->second));
            else
                for (const std::string& source : layers[std::size_t(layer->second)].from)
                    if (known.insert(source).second) open.push_back(source);
        }
        return found;
    }

    const std::vector<Layer>& a_;
    const std::vector<Layer>& b_;
    const LayerAlignment& alignment_;
    std::unordered_map<std::string, int> index_a_, index_b_;
    std::vector<std::pair<int, int>> numbering_;
    ChangeList replaced_, fields_, renamed_, connections_, around_, shapes_;
    bool structural_ = false;
    const Layer* last_moved_a_ = nullptr;
    const Layer* last_moved_b_ = nullptr;
    std::size_t moved_change_ = 0;
    LayerDifference result_;
};

}  // namespace

LayerNames names_in_b(const Plan& a, const Plan& b, const LayerAlignment& alignment) {
    LayerNames names;
    for (std::size_t i = 0; i < a.layers.size(); ++i)
        if (int j = alignment.of_a[i]; j >= 0) {
            const Layer& layer = b.layers[std::size_t(j)];
            if (layer.type == a.layers[i].type) names.emplace(a.layers[i].name, layer.name);
        }
    return names;
}

LayerDifference diff_layers(const Plan& a, const Plan& b, const LayerAlignment& alignment) {
    LayerDifference result = LayerComparison(a, b, alignment).run();
    for (Change& change : result.chosen)
        change.chosen = true;
    return result;
}

}  // namespace dtnn::plan
