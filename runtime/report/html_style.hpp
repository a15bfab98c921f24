#pragma once
/// The style sheet of pages about runs. Colours come in a light and a dark set, as the reader's
/// system asks.

namespace dtnn::runtime {

inline constexpr const char* kReportStyle = R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1d2430; --soft: #667085; --rule: #e3e7ee;
  --box: #f6f8fb; --link: #1d4ed8; --good: #1a7f4b; --bad: #b42318; --pause: #b45309;
  --right: 26, 127, 75; --wrong: 180, 35, 24;
  --c0: #2563c9; --c1: #c2410c; --c2: #15803d; --c3: #a21caf; --c4: #0f766e; --c5: #854d0e;
  --c6: #be123c; --c7: #57606f; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --ink: #e6e9ef; --soft: #98a2b3; --rule: #2b323d; --box: #1b212b;
    --link: #8ab4ff; --good: #4cc38a; --bad: #f2776b; --pause: #f59e5b; --right: 76, 195, 138;
    --wrong: 242, 119, 107; --c0: #6ea8fe; --c1: #f59e5b; --c2: #4cc38a; --c3: #e879f9;
    --c4: #2dd4bf; --c5: #eab308; --c6: #fb7185; --c7: #b4bcc8; } }
* { box-sizing: border-box; }
body { margin: 2rem auto; max-width: 74rem; padding: 0 1rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.7rem; overflow-wrap: anywhere; }
h2 { margin: 2.2rem 0 .6rem; padding-bottom: .2rem; border-bottom: 1px solid var(--rule);
  font-size: 1.15rem; }
h3 { margin: 1.2rem 0 .4rem; font-size: 1rem; }
p { margin: .3rem 0; }
a { color: var(--link); }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: 1rem 0 0; font-size: .9rem; }
.path { color: var(--soft); font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); } .pause { color: var(--pause); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .4rem 1.2rem;
  margin: 1rem 0 0; }
dt { color: var(--soft); font-size: .85rem; } dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.charts { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
.chart { width: 100%; height: auto; border: 1px solid var(--rule); border-radius: 6px; }
.chart text { fill: var(--ink); font: 11px system-ui, sans-serif; }
.chart .title { font-size: 13px; font-weight: 600; } .chart .tick { fill: var(--soft); }
.chart .grid { stroke: var(--rule); } .chart .mark { stroke: var(--soft); stroke-dasharray: 2 4; }
.curve { fill: none; stroke-width: 1.8; } .curve.dashed { stroke-dasharray: 6 4; }
path.train, path.c0 { stroke: var(--c0); } circle.train, circle.c0, text.train { fill: var(--c0); }
path.validation, path.c1 { stroke: var(--c1); }
circle.validation, circle.c1, text.validation { fill: var(--c1); }
path.other, path.c7 { stroke: var(--c7); } circle.other, circle.c7 { fill: var(--c7); }
path.c2 { stroke: var(--c2); } circle.c2 { fill: var(--c2); }
path.c3 { stroke: var(--c3); } circle.c3 { fill: var(--c3); }
path.c4 { stroke: var(--c4); } circle.c4 { fill: var(--c4); }
path.c5 { stroke: var(--c5); } circle.c5 { fill: var(--c5); }
path.c6 { stroke: var(--c6); } circle.c6 { fill: var(--c6); }
.swatch { display: inline-block; width: 1.6em; margin-right: .5em; vertical-align: middle; flex: none;
  border-top: 3px solid; } .swatch.dashed { border-top-style: dashed; }
.swatch.c0 { color: var(--c0); } .swatch.c1 { color: var(--c1); } .swatch.c2 { color: var(--c2); }
.swatch.c3 { color: var(--c3); } .swatch.c4 { color: var(--c4); } .swatch.c5 { color: var(--c5); }
.swatch.c6 { color: var(--c6); } .swatch.c7 { color: var(--c7); } .swatch.none { color: transparent; }
table { border-collapse: collapse; font-size: .87rem; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--rule); text-align: left;
  vertical-align: top; }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
.words td { overflow-wrap: break-word; min-width: 5rem; max-width: 30rem; }
.words td:first-child { min-width: 9rem; } .name { display: flex; align-items: center; min-width: 11rem; } .soft td { color: var(--soft); }
.numbers th { text-align: right; }
.numbers td, .matrix td { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.numbers th:first-child, .numbers td:first-child { text-align: left; white-space: normal; }
.best { font-weight: 700; color: var(--good); }
.layers td:nth-child(n+6):nth-child(-n+7), .layers th:nth-child(n+6):nth-child(-n+7) {
  text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.layers td:first-child { color: var(--soft); } .layers td { white-space: nowrap; }
.layers td:last-child { white-space: normal; min-width: 16rem; }
.matrix td.right { background: rgba(var(--right), calc(var(--share) * .6)); }
.matrix td.wrong { background: rgba(var(--wrong), calc(var(--share) * 2)); }
.matrix th.tall { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left;
  border-bottom: 0; border-top: 1px solid var(--rule); }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; font-size: .87rem; }
.wide { overflow: auto; max-height: 40rem; }
summary { cursor: pointer; color: var(--soft); margin: .3rem 0; }
pre { overflow-x: auto; font: 12.5px/1.4 ui-monospace, monospace; }
pre.command { margin: .2rem 0 .8rem; padding: .5rem .7rem; border: 1px solid var(--rule);
  border-radius: 6px; background: var(--box); white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { details > * { display: block; } body { max-width: none; } nav { display: none; }
  .wide { max-height: none; overflow: visible; } }
)css";

}  // namespace dtnn::runtime
