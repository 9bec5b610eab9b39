"""What the page of `report.html` looks like, and the script that filters it: text without findings, nothing else."""

from __future__ import annotations

STYLE = """
:root { --text: #1c1e21; --soft: #62676f; --line: #dfe2e6; --back: #ffffff; --page: #f5f6f8; --code: #f8f9fb;
  --error: #c62828; --warning: #a15c00; --smell: #00727a; --strict: #3b5bb5; --rail: #e4572e; --mark: #ffe3d9; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e6ea; --soft: #9aa1ab; --line: #363b43; --back: #1e2127;
  --page: #15171b; --code: #191c21; --error: #ff7b72; --warning: #e3a341; --smell: #4cc4cd; --strict: #8fb0ff;
  --rail: #ff8a65; --mark: #5b3226; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
header, form, main, footer { max-width: 78rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.25rem; } h1 { margin: 0; font-size: 1.4rem; }
header p { margin: .2rem 0 1rem; color: var(--soft); }
form { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: center;
  background: var(--page); padding-top: .6rem; padding-bottom: .6rem; border-bottom: 1px solid var(--line); }
fieldset { border: 0; margin: 0; padding: 0; display: flex; gap: .75rem; }
legend { position: absolute; left: -99rem; }
select, input[type=search] { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line);
  border-radius: 4px; padding: .15rem .4rem; max-width: 22rem; }
output { color: var(--soft); margin-left: auto; }
h2 { font: 600 1rem/1.4 ui-monospace, monospace; margin: 1.75rem 0 .6rem; overflow-wrap: anywhere; }
article { background: var(--back); border: 1px solid var(--line); border-left: 4px solid var(--kind);
  border-radius: 6px; margin: 0 0 1rem; padding: .8rem 1rem; }
.error { --kind: var(--error); } .warning { --kind: var(--warning); }
.smell { --kind: var(--smell); } .strict { --kind: var(--strict); }
form label[class] { color: var(--kind); }
h3 { margin: 0; font-size: 1rem; font-weight: 500; } .level { color: var(--kind); font-weight: 700; }
.code { font-weight: 700; }
.where { margin: .1rem 0 .5rem; color: var(--soft); font-size: .87rem; } .note { margin: .5rem 0 0; }
.verdict.confirmed b { color: var(--error); }
code, pre { font: 13px/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.listing { background: var(--code); border: 1px solid var(--line); border-radius: 4px; padding: .4rem 0;
  overflow-x: auto; display: grid; grid-template-columns: auto minmax(24rem, max-content) minmax(16rem, 1fr); }
.row { display: contents; } .row > * { min-height: 1.55em; }
.row i { font: 13px/1.55 ui-monospace, monospace; color: var(--soft); padding: 0 .75rem; text-align: right;
  user-select: none; }
.row pre { margin: 0; padding-right: 1.5rem; white-space: pre; tab-size: 4; }
.row > span { position: relative; padding-left: 1.9rem; font-size: .87rem; line-height: 1.5; }
.row.main i { color: var(--kind); font-weight: 700; } .row.step pre { font-weight: 600; }
.row.rail > span::before { content: ""; position: absolute; left: .72rem; top: 0; bottom: 0;
  border-left: 2px solid var(--rail); }
.row.top > span::before { top: .7rem; } .row.bottom > span::before { bottom: calc(100% - .7rem); }
.row.top.bottom > span::before { display: none; }
.row em { display: block; font-style: normal; position: relative; }
.row em b { position: absolute; left: -1.85rem; top: .12rem; width: 1.2rem; height: 1.2rem; border-radius: 50%;
  background: var(--rail); color: #fff; font-size: .72rem; line-height: 1.2rem; text-align: center; }
.row em.here b { background: var(--code); border: 2px solid var(--rail); } .row em.here { color: var(--soft); }
.row.main em b { box-shadow: 0 0 0 3px var(--mark); }
mark { background: var(--mark); color: inherit; border-radius: 2px; } .gap pre { color: var(--soft); }
.none { color: var(--soft); padding: 2rem 0; }
footer { color: var(--soft); padding: 1rem 1.25rem 2rem; font-size: .85rem; }
@media print { form { display: none; } article { break-inside: avoid; } }
"""

SCRIPT = """
const form = document.getElementById("filters");
function update() {
  const wanted = new FormData(form), code = wanted.get("code"), path = wanted.get("path");
  const levels = new Set(wanted.getAll("level")), text = wanted.get("text").toLowerCase();
  let shown = 0;
  for (const file of document.querySelectorAll("section.file")) {
    let any = false;
    for (const card of file.querySelectorAll("article")) {
      const fits = (!code || card.dataset.code === code) && (!path || file.dataset.path === path)
        && levels.has(card.dataset.level) && (!text || card.textContent.toLowerCase().includes(text));
      card.hidden = !fits; any ||= fits; shown += fits;
    }
    file.hidden = !any;
  }
  document.getElementById("shown").textContent = shown + " shown";
  document.getElementById("nothing").hidden = shown > 0;
}
if (form) {
  form.addEventListener("input", update);
  form.addEventListener("submit", event => event.preventDefault());
  update();
}
"""
