#include "tools/dtnnc/draw/graph_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/escape.hpp"
#include "tools/dtnnc/draw/graph_families.hpp"

namespace dtnn::tools {
namespace {

constexpr const char* kDarkColours =
    "--paper: #14181f; --ink: #e6e9ef; --soft: #a6b0bf; --rule: #343c49; --bar: #1a1f28; "
    "--box: #1b212b; --inner: #242b37; --line: #94a0b2; --found: #ff8a80;";

constexpr const char* kLightColours = R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1d2430; --soft: #5b6573;
  --rule: #d5dae3; --bar: #f7f8fa; --box: #f7f8fa; --inner: #eef0f4; --line: #5b6573;
  --found: #d0261e; }
)css";

constexpr const char* kPageStyle = R"css(
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: flex; flex-direction: column; background: var(--paper);
  color: var(--ink); font: 14px/1.4 system-ui, sans-serif; }
header { flex: none; padding: .6rem .9rem; background: var(--bar);
  border-bottom: 1px solid var(--rule); }
h1 { display: inline; margin: 0 .6rem 0 0; font-size: 1.15rem; overflow-wrap: anywhere; }
.about { color: var(--soft); }
.tools { display: flex; flex-wrap: wrap; gap: .35rem; margin-top: .45rem; align-items: center; }
input { flex: 1 1 11rem; max-width: 22rem; }
input, button { padding: .25rem .55rem; border: 1px solid var(--rule); border-radius: 5px;
  background: var(--paper); color: var(--ink); font: inherit; }
button { cursor: pointer; min-width: 2.1rem; }
output { color: var(--soft); min-width: 4.5rem; font-variant-numeric: tabular-nums; }
ul { display: flex; flex-wrap: wrap; gap: .25rem .3rem; margin: .5rem 0 0; padding: 0;
  list-style: none; }
li { padding: 0 .45rem; border: 1px solid; border-radius: 4px; color: #111; font-size: .8rem; }
main { flex: 1; overflow: auto; padding: .8rem; cursor: grab; touch-action: pan-x pan-y; }
main.held { cursor: grabbing; user-select: none; }
main svg { display: block; margin: 0 auto; }
.graph > polygon { fill: none; stroke: none; }
)css";

/// The style of what Graphviz has drawn, wherever it stands.
constexpr const char* kDrawingStyle = R"css(
.cluster > path { fill: var(--box); stroke: var(--rule); }
.cluster > path[fill="#eef0f4"] { fill: var(--inner); }
.cluster > text { fill: var(--soft); }
.edge path { stroke: var(--line); } .edge polygon { fill: var(--line); stroke: var(--line); }
.edge text { fill: var(--soft); }
.node a { text-decoration: none; }
/* Between the stripes of a folded block, through its words. */
.node polygon[stroke-width="0.5"] { stroke: none; }
)css";

constexpr const char* kFoundStyle = R"css(
.searching .node:not(.found) { opacity: .25; }
.found path, .found polygon:not([stroke-width="0.5"]) { stroke: var(--found); stroke-width: 3; }
.current path, .current polygon:not([stroke-width="0.5"]) { stroke-width: 4; }
)css";

constexpr const char* kScript = R"js(
const main = document.querySelector("main"), picture = main.querySelector("svg");
const box = picture.viewBox.baseVal, nodes = [...picture.querySelectorAll(".node")];
const text = nodes.map(node => (node.textContent + " " +
  [...node.querySelectorAll("a")].map(a => a.getAttribute("xlink:title")).join(" ")).toLowerCase());
const search = document.querySelector("input"), said = document.querySelector("output");
let scale = 1, found = [], current = -1;
// Graphviz counts in points, of which a pixel has three quarters.
function zoom(wanted, x = main.clientWidth / 2, y = main.clientHeight / 2) {
  const before = scale;
  scale = Math.min(8, Math.max(.01, wanted));
  const left = (main.scrollLeft + x) * scale / before, top = (main.scrollTop + y) * scale / before;
  picture.setAttribute("width", box.width * scale);
  picture.setAttribute("height", box.height * scale);
  main.scrollTo(left - x, top - y);
}
function fit() {
  zoom(Math.min((main.clientWidth - 30) / box.width, (main.clientHeight - 30) / box.height, 4 / 3));
  main.scrollTo(0, 0);
}
function show(next) {
  if (current >= 0 && found[current]) found[current].classList.remove("current");
  current = found.length ? (next + found.length) % found.length : -1;
  said.textContent = !search.value ? "" : found.length ? `${current + 1} of ${found.length}` : "none";
  if (current < 0) return;
  found[current].classList.add("current");
  const at = found[current].getBoundingClientRect(), whole = main.getBoundingClientRect();
  main.scrollBy(at.left + at.width / 2 - whole.left - whole.width / 2,
                at.top + at.height / 2 - whole.top - whole.height / 2);
}
function look() {
  const words = search.value.trim().toLowerCase().split(/\s+/).filter(word => word);
  for (const node of nodes) node.classList.remove("found", "current");
  found = words.length ? nodes.filter((_, i) => words.every(word => text[i].includes(word))) : [];
  for (const node of found) node.classList.add("found");
  picture.classList.toggle("searching", words.length > 0);
  current = -1;
  show(0);
}
search.addEventListener("input", look);
search.addEventListener("keydown", event => {
  if (event.key === "Enter") show(current + (event.shiftKey ? -1 : 1));
  if (event.key === "Escape") { search.value = ""; look(); }
});
document.addEventListener("keydown", event => {
  if (event.target === search || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { event.preventDefault(); search.focus(); }
  if (event.key === "+" || event.key === "=") zoom(scale * 1.25);
  if (event.key === "-") zoom(scale / 1.25);
  if (event.key === "0") fit();
});
document.getElementById("in").onclick = () => zoom(scale * 1.25);
document.getElementById("out").onclick = () => zoom(scale / 1.25);
document.getElementById("fit").onclick = fit;
main.addEventListener("wheel", event => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  const whole = main.getBoundingClientRect();
  zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - whole.left, event.clientY - whole.top);
}, {passive: false});
let held = null;
main.addEventListener("pointerdown", event => {
  if (event.pointerType === "mouse" && event.button === 0)
    held = [event.clientX + main.scrollLeft, event.clientY + main.scrollTop];
});
window.addEventListener("pointermove", event => {
  if (!held) return;
  main.classList.add("held");
  main.scrollTo(held[0] - event.clientX, held[1] - event.clientY);
});
window.addEventListener("pointerup", () => { held = null; main.classList.remove("held"); });
fit();
)js";

/// Without the XML declaration and the comments before it, which pages do not have.
std::string_view svg_element(std::string_view svg) {
    const std::size_t start = svg.find("<svg");
    return start == std::string_view::npos ? svg : svg.substr(start);
}

/// The value of an element's attribute; empty: it has none.
std::string_view attribute_of(std::string_view element, std::string_view name) {
    const std::string opening = fmt::format(" {}=\"", name);
    const std::size_t begin = element.find(opening);
    if (begin == std::string_view::npos) return {};
    element.remove_prefix(begin + opening.size());
    return element.substr(0, element.find('"'));
}

double number_at(std::string_view text) {
    return std::strtod(std::string(text.substr(0, 32)).c_str(), nullptr);
}

struct Extent {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();

    void take(double value) {
        least = std::min(least, value);
        most = std::max(most, value);
    }
    double middle() const { return (least + most) / 2; }
};

/// Of one node: its texts in the middle of its box.
std::string centred_node(std::string_view node) {
    constexpr std::string_view kStart = "<text text-anchor=\"start\"";
    /// Of capitals, in parts of the font's size.
    constexpr double kCapital = 0.72;
    Extent x, y, lines;
    const auto for_each_element = [&](const auto& see) {
        for (std::size_t at = 0; (at = node.find('<', at)) != std::string_view::npos; ++at)
            see(at, node.substr(at, node.find('>', at) - at));
    };
    for_each_element([&](std::size_t, std::string_view element) {
        if (element.starts_with(kStart)) {
            const double base = number_at(attribute_of(element, "y"));
            lines.take(base - kCapital * number_at(attribute_of(element, "font-size")));
            lines.take(base);
        }
        std::string_view points = attribute_of(element, "d");
        if (points.empty()) points = attribute_of(element, "points");
        for (std::size_t comma = 0; (comma = points.find(',', comma)) != std::string_view::npos;
             ++comma) {
            const std::size_t begin = points.find_last_of("MC ", comma);
            x.take(number_at(points.substr(begin == std::string_view::npos ? 0 : begin + 1)));
            y.take(number_at(points.substr(comma + 1)));
        }
    });
    if (x.least > x.most || lines.least > lines.most) return std::string(node);
    std::string result;
    std::size_t done = 0;
    for_each_element([&](std::size_t at, std::string_view element) {
        if (!element.starts_with(kStart)) return;
        const std::string_view base = attribute_of(element, "y");
        result += node.substr(done, at - done);
        result += fmt::format("<text text-anchor=\"middle\" x=\"{:.2f}\" y=\"{:.2f}\"", x.middle(),
                              number_at(base) + y.middle() - lines.middle());
        done = std::size_t(base.data() - node.data()) + base.size() + 1;
    });
    return result += node.substr(done);
}

/// Graphviz places the starts of texts, by the widths of its own font; another one that a browser
/// has would leave them beside the middle of their boxes.
std::string centred(std::string_view svg) {
    std::string result;
    std::size_t done = 0;
    for (std::size_t begin = 0;
         (begin = svg.find(" class=\"node\"", begin)) != std::string_view::npos;) {
        const std::size_t end = std::min(svg.find("\n<!--", begin), svg.size());
        result += svg.substr(done, begin - done);
        result += centred_node(svg.substr(begin, end - begin));
        begin = done = end;
    }
    return result += svg.substr(done);
}

}  // namespace

std::string graph_page(const Drawing& drawing, const std::string& svg) {
    std::string legend;
    for (const FamilyStyle* family : drawing.families)
        legend += fmt::format("<li style=\"background: {}; border-color: {}\">{}</li>",
                              family->fill, family->border, html_escaped(family->name));
    const std::string style =
        fmt::format("{}@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}{}{}{}",
                    kLightColours, kDarkColours, kPageStyle, kDrawingStyle, kFoundStyle);
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<header>\n"
        "<h1>{0}</h1><span class=\"about\">{2}</span>\n<div class=\"tools\">\n"
        "<input type=\"search\" placeholder=\"Search names, types, fields ( / )\" "
        "aria-label=\"Search\">\n<output aria-live=\"polite\"></output>\n"
        "<button id=\"out\" title=\"Smaller ( - )\">&minus;</button>\n"
        "<button id=\"in\" title=\"Larger ( + ), or Ctrl and the wheel\">+</button>\n"
        "<button id=\"fit\" title=\"The whole in the window ( 0 )\">fit</button>\n</div>\n"
        "<ul>{3}</ul>\n</header>\n<main>\n{4}</main>\n<script>{5}</script>\n</body>\n</html>\n",
        html_escaped(drawing.title), style, html_escaped(drawing.subtitle), legend,
        centred(svg_element(svg)), kScript);
}

std::string graph_picture(const std::string& svg) {
    // The titles' colours are those that graph_dot.cpp gives them.
    constexpr const char* kTitles =
        ".graph > polygon[fill=\"white\"] { fill: var(--paper); }\n"
        ".graph > text[fill=\"#1d2430\"], .graph > text[fill=\"#333333\"] { fill: var(--ink); }\n";
    const std::size_t start = svg.find("<svg");
    const std::size_t end = start == std::string::npos ? start : svg.find('>', start);
    if (end == std::string::npos) return svg;
    const std::string style = fmt::format(
        "\n<style>\n.node polygon[stroke-width=\"0.5\"] {{ stroke: none; }}\n"
        "@media (prefers-color-scheme: dark) {{\n:root {{ {} background: var(--paper); }}\n{}{}}}\n"
        "</style>",
        kDarkColours, kTitles, kDrawingStyle);
    return svg.substr(0, end + 1) + style + centred(svg.substr(end + 1));
}

}  // namespace dtnn::tools
