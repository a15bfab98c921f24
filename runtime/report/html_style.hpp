#pragma once
/// The style sheet of html_report. Colours come in a light and a dark set, as the reader's system
/// asks.

namespace dtnn::runtime {

inline constexpr const char* kReportStyle = R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1d2430; --soft: #667085; --rule: #e3e7ee;
  --train: #2563c9; --validation: #c2410c; --other: #57606f; --good: #1a7f4b; --bad: #b42318;
  --right: 26, 127, 75; --wrong: 180, 35, 24; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --ink: #e6e9ef; --soft: #98a2b3; --rule: #2b323d; --train: #6ea8fe;
    --validation: #f59e5b; --other: #b4bcc8; --good: #4cc38a; --bad: #f2776b; } }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.7rem; overflow-wrap: anywhere; }
h2 { margin: 2.2rem 0 .6rem; padding-bottom: .2rem; border-bottom: 1px solid var(--rule);
  font-size: 1.15rem; }
h3 { margin: 1.2rem 0 .4rem; font-size: 1rem; }
p { margin: .3rem 0; }
.path { color: var(--soft); font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); } .pause { color: var(--validation); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .4rem 1.2rem;
  margin: 1rem 0 0; }
dt { color: var(--soft); font-size: .85rem; } dd { margin: 0; font-weight: 600; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); gap: 1rem; }
.chart { width: 100%; height: auto; border: 1px solid var(--rule); border-radius: 6px; }
.chart text { fill: var(--ink); font: 11px system-ui, sans-serif; }
.chart .title { font-size: 13px; font-weight: 600; } .chart .tick { fill: var(--soft); }
.chart .grid { stroke: var(--rule); } .curve { fill: none; stroke-width: 1.8; }
path.train { stroke: var(--train); } circle.train, text.train.legend { fill: var(--train); }
path.validation { stroke: var(--validation); }
circle.validation, text.validation.legend { fill: var(--validation); }
path.other { stroke: var(--other); } circle.other { fill: var(--other); }
table { border-collapse: collapse; font-size: .87rem; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--rule); text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 600; }
.numbers td, .matrix td { text-align: right; font-variant-numeric: tabular-nums; }
.matrix td.right { background: rgba(var(--right), calc(var(--share) * .6)); }
.matrix td.wrong { background: rgba(var(--wrong), calc(var(--share) * 2)); }
.wide { overflow-x: auto; } summary { cursor: pointer; color: var(--soft); margin: .3rem 0; }
pre { overflow-x: auto; font: 12.5px/1.4 ui-monospace, monospace; }
@media print { details > * { display: block; } body { max-width: none; } }
)css";

}  // namespace dtnn::runtime
