#include "runtime/report/class_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/escape.hpp"
#include "base/text.hpp"
#include "plan/metrics.hpp"
#include "runtime/report/html_page.hpp"

namespace dtnn::runtime {
namespace {

/// A matrix of more classes than this is shown by its most frequent mistakes alone.
constexpr std::size_t kMostCells = 40;
constexpr std::size_t kMostMistakes = 12;
/// Names of classes that are longer stand upright over their columns.
constexpr std::size_t kMostUpright = 4;

class ClassTables {
  public:
    ClassTables(const std::vector<std::vector<double>>& counts,
                const std::vector<std::string>& names, const std::string& counted)
        : counts_(counts), names_(names), counted_(counted), classes_(counts.size()) {}

    std::string write() const {
        std::string text = fmt::format(
            "<h3>Confusion matrix</h3>\n<p>How many {} of each class were taken for "
            "which.</p>\n",
            counted_);
        if (classes_ <= kMostCells) text += matrix();
        return text + rates() + mistakes();
    }

  private:
    double labels(std::size_t row) const {
        double sum = 0;
        for (const double count : counts_[row])
            sum += count;
        return sum;
    }

    double predictions(std::size_t column) const {
        double sum = 0;
        for (const std::vector<double>& row : counts_)
            sum += row[column];
        return sum;
    }

    std::string matrix() const {
        const bool tall = std::any_of(names_.begin(), names_.end(), [](const std::string& name) {
            return characters(name) > kMostUpright;
        });
        std::string rows = "<tr><th>true \\ predicted</th>";
        for (const std::string& name : names_)
            rows += fmt::format("<th{}>{}</th>", tall ? " class=\"tall\"" : "", html_escaped(name));
        rows += "</tr>\n";
        for (std::size_t r = 0; r < classes_; ++r) {
            const double sum = labels(r);
            rows += fmt::format("<tr><th>{}</th>", html_escaped(names_[r]));
            for (std::size_t c = 0; c < classes_; ++c) {
                const double share = sum > 0 ? counts_[r][c] / sum : 0;
                if (counts_[r][c] == 0) {
                    rows += "<td class=\"none\">0</td>";
                    continue;
                }
                rows += fmt::format("<td class=\"{}\" style=\"--share:{:.3f}\">{}</td>",
                                    r == c ? "right" : "wrong", share, whole_text(counts_[r][c]));
            }
            rows += "</tr>\n";
        }
        return html_table("matrix", rows);
    }

    std::string rates() const {
        std::vector<plan::MetricInfo> columns;
        std::vector<std::string> heads = {"class", counted_};
        for (const plan::MetricInfo& info : plan::all_metrics()) {
            if (info.form != plan::MetricForm::rate) continue;
            columns.push_back(info);
            heads.emplace_back(info.of_class);
        }
        std::string rows = html_row(heads, "th");
        std::vector<double> sums(columns.size());
        double occurring = 0, all = 0;
        for (std::size_t one = 0; one < classes_; ++one) {
            const double right = counts_[one][one];
            const double labelled = labels(one), predicted = predictions(one);
            all += labelled;
            const bool occurs = labelled + predicted > 0;
            occurring += occurs ? 1 : 0;
            std::vector<std::string> cells = {names_[one], whole_text(labelled)};
            for (std::size_t i = 0; i < columns.size(); ++i) {
                const double rate = columns[i].rate.of(right, predicted - right, labelled - right);
                if (occurs) sums[i] += rate;
                cells.push_back(occurs ? rounded(rate) : "");
            }
            rows += html_row(cells);
        }
        std::vector<std::string> means = {"mean", whole_text(all)};
        for (const double sum : sums)
            means.push_back(occurring > 0 ? rounded(sum / occurring) : "");
        rows += html_row(means);
        return "<h3>Each class</h3>\n" + html_table("numbers", rows);
    }

    std::string mistakes() const {
        struct Mistake {
            double count;
            std::size_t truth, guess;
        };
        std::vector<Mistake> list;
        for (std::size_t r = 0; r < classes_; ++r)
            for (std::size_t c = 0; c < classes_; ++c)
                if (r != c && counts_[r][c] > 0) list.push_back({counts_[r][c], r, c});
        if (list.empty()) return "";
        std::stable_sort(list.begin(), list.end(),
                         [](const Mistake& a, const Mistake& b) { return a.count > b.count; });
        if (list.size() > kMostMistakes) list.resize(kMostMistakes);
        std::string rows = html_row({"true", "predicted", counted_}, "th");
        for (const Mistake& mistake : list)
            rows +=
                html_row({names_[mistake.truth], names_[mistake.guess], whole_text(mistake.count)});
        return "<h3>Most frequent mistakes</h3>\n" + html_table("", rows);
    }

    const std::vector<std::vector<double>>& counts_;
    const std::vector<std::string>& names_;
    const std::string& counted_;
    std::size_t classes_;
};

}  // namespace

std::string html_class_tables(const std::vector<std::vector<double>>& counts,
                              const std::vector<std::string>& names, const std::string& counted) {
    const bool square = std::all_of(counts.begin(), counts.end(),
                                    [&](const auto& row) { return row.size() == counts.size(); });
    if (!square || names.size() != counts.size()) return "";
    return ClassTables(counts, names, counted).write();
}

}  // namespace dtnn::runtime
