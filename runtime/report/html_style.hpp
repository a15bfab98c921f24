#pragma once
/// The style sheet of pages about runs. Colours come in a light and a dark set, as the reader's
/// system asks.

namespace dtnn::runtime {

inline constexpr const char* kReportStyle = R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1d2430; --soft: #5f6878; --rule: #e3e7ee;
  --box: #f6f8fb; --link: #1d4ed8; --good: #1a7f4b; --bad: #b42318; --pause: #a24a06;
  --shade: rgba(20, 30, 50, .22); --right: 26, 127, 75; --wrong: 180, 35, 24;
  --c0: #1f5fbf; --c1: #d55e00; --c2: #0b7a4b; --c3: #c2379b; --c4: #0e93b8; --c5: #8a7a00;
  --c6: #1d2430; --c7: #7a8494; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --ink: #e6e9ef; --soft: #a0a9b8; --rule: #2b323d; --box: #1b212b;
    --link: #8ab4ff; --good: #4cc38a; --bad: #f2776b; --pause: #f59e5b;
    --shade: rgba(0, 0, 0, .6); --right: 76, 195, 138; --wrong: 242, 119, 107;
    --c0: #5b8def; --c1: #f58a3c; --c2: #3fbf83; --c3: #ee86cf; --c4: #7fe0f2; --c5: #e3c64a;
    --c6: #f4f6fa; --c7: #8d98a9; } }
* { box-sizing: border-box; }
body { margin: 2rem auto; max-width: 74rem; padding: 0 1rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.7rem; overflow-wrap: anywhere; }
h2 { margin: 2.2rem 0 .6rem; padding-bottom: .2rem; border-bottom: 1px solid var(--rule);
  font-size: 1.15rem; }
h3 { margin: 1.2rem 0 .4rem; font-size: 1rem; }
p { margin: .3rem 0; overflow-wrap: break-word; }
a { color: var(--link); }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: 1rem 0 0; font-size: .9rem; }
.path { color: var(--soft); font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); } .pause { color: var(--pause); }
.result { font-size: 1.1rem; font-weight: 600; }
.why { white-space: pre-line; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .4rem 1.2rem;
  margin: 1rem 0 0; }
dt { color: var(--soft); font-size: .85rem; } dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.charts { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(26rem, 100%), 1fr)); }
.chart { width: 100%; height: auto; border: 1px solid var(--rule); border-radius: 6px; }
.chart text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.chart .title { font-size: 13px; font-weight: 600; } .chart .tick { fill: var(--soft); }
.chart .grid { stroke: var(--rule); } .chart .mark { stroke: var(--soft); stroke-dasharray: 2 4; }
.chart .kept { stroke: var(--good); stroke-width: 1.5; stroke-dasharray: none; }
.chart circle.best { fill: none; stroke: var(--good); stroke-width: 2; }
.curve, .key { fill: none; stroke-width: 1.8; } .key { stroke-width: 3; } .curve.dashed { stroke-dasharray: 6 4; }
path.train, path.c0 { stroke: var(--c0); } circle.train, circle.c0 { fill: var(--c0); }
path.validation, path.c1 { stroke: var(--c1); } circle.validation, circle.c1 { fill: var(--c1); }
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
.swatch.kept { width: 0; height: 1.1em; margin: 0 .7em; border: 0; border-left: 2px solid var(--good); }
.swatch.ink { color: var(--ink); }
.swatch.best { width: .8em; height: .8em; border: 2px solid var(--good); border-radius: 50%; }
.swatch.point { width: .5em; height: .5em; border: 0; border-radius: 50%; background: var(--ink); }
/* Where a box has more than is in sight, its edge lies in shade. */
.wide { overflow: auto; max-height: 40rem; background:
    linear-gradient(to right, var(--paper) 40%, transparent) left / 2rem 100% no-repeat local,
    linear-gradient(to left, var(--paper) 40%, transparent) right / 2rem 100% no-repeat local,
    linear-gradient(to bottom, var(--paper) 40%, transparent) top / 100% 2rem no-repeat local,
    linear-gradient(to top, var(--paper) 40%, transparent) bottom / 100% 2rem no-repeat local,
    linear-gradient(to right, var(--shade), transparent) left / .7rem 100% no-repeat scroll,
    linear-gradient(to left, var(--shade), transparent) right / .7rem 100% no-repeat scroll,
    linear-gradient(to bottom, var(--shade), transparent) top / 100% .7rem no-repeat scroll,
    linear-gradient(to top, var(--shade), transparent) bottom / 100% .7rem no-repeat scroll; }
table { border-collapse: separate; border-spacing: 0; font-size: 13px; line-height: 20px; }
th, td { padding: 3px 9px; border-bottom: 1px solid var(--rule); text-align: left;
  vertical-align: top; }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; position: sticky; top: 0;
  z-index: 1; background: var(--paper); }
.words td { overflow-wrap: break-word; min-width: 5rem; max-width: 30rem; }
.words td:first-child { min-width: 9rem; } .soft td { color: var(--soft); }
.pairs td { overflow-wrap: anywhere; }
.pairs td:first-child { color: var(--soft); white-space: nowrap; }
.name { display: flex; align-items: center; min-width: 9rem; }
.numbers th { text-align: right; }
.numbers td, .matrix td { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.numbers th:first-child, .numbers td:first-child { text-align: left; white-space: normal; }
.numbers td:first-child, .matrix th:first-child, .layers td:nth-child(2) { position: sticky; left: 0;
  z-index: 1; background: var(--paper); }
.numbers th:first-child, .matrix tr:first-child th:first-child, .layers th:nth-child(2) { left: 0;
  z-index: 2; }
.best, .kept td { font-weight: 700; color: var(--good); }
/* In the words of some settings any place may be broken. */
.any { display: inline-block; min-width: 5rem; max-width: 14rem; white-space: normal; overflow-wrap: anywhere; }
.wide:has(> .cards) { max-height: none; }
.turned .name { justify-content: flex-end; } .turned td .swatch { display: none; }
.layers td:nth-child(n+6):nth-child(-n+7), .layers th:nth-child(n+6):nth-child(-n+7) {
  text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.layers td:first-child { color: var(--soft); } .layers td { white-space: nowrap; }
.layers td:last-child { white-space: normal; min-width: 16rem; }
.matrix td.right { background: rgba(var(--right), calc(var(--share) * .55)); }
.matrix td.wrong { background: rgba(var(--wrong), min(.6, calc(var(--share) * 1.6))); }
.matrix td.none { color: var(--soft); }
.matrix th.tall { writing-mode: vertical-rl; transform: rotate(180deg); text-align: left;
  border-bottom: 0; border-top: 1px solid var(--rule); }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; font-size: .87rem; }
.legend span { overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--soft); margin: .3rem 0; }
pre { overflow-x: auto; font: 12.5px/1.4 ui-monospace, monospace; }
pre.command { margin: .2rem 0 .8rem; padding: .5rem .7rem; border: 1px solid var(--rule);
  border-radius: 6px; background: var(--box); white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  body { margin: 1.2rem auto; }
  th, td { padding: 3px 6px; } .matrix th, .matrix td { padding: 3px 5px; }
  .layers td:last-child { white-space: nowrap; }
  .cards, .cards tbody, .cards tr, .cards td { display: block; } .cards .head { display: none; }
  .cards tr { padding: .25rem 0; border-bottom: 1px solid var(--rule); }
  .cards td { padding: 0; border: 0; max-width: none; white-space: normal; text-align: left; }
  .cards td:empty { display: none; } .cards td:first-child { font-weight: 600; overflow-wrap: anywhere; }
  .cards td[data-head]::before { content: attr(data-head) ": "; color: var(--soft); }
  .numbers.cards td { display: inline-block; margin-right: 1.2rem; }
  .turned .head, .turned .head th:not(:first-child) { display: block; }
  .turned .head th:first-child { display: none; } .turned .name { justify-content: flex-start; text-align: left; }
  .turned td .swatch { display: inline-block; } .turned td[data-head]::before { content: none; }
  .numbers.cards td:first-child { display: block; position: static; } .any { display: inline; }
}
@media print { details > * { display: block; } body { max-width: none; } nav { display: none; }
  .wide { max-height: none; overflow: visible; } th, td { position: static; } }
)css";

}  // namespace dtnn::runtime
