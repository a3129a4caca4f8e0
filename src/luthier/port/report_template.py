"""The report's page without its content: one file that needs no network."""

from __future__ import annotations

__all__ = ["SCRIPT", "STYLE"]

STYLE = """
:root { --line: #d8dce2; --text: #1d2430; --dim: #667085; --mark: #fff3c4;
        --green: #2e8b57; --yellow: #c98a00; --red: #c0392b; --back: #ffffff; --code: #f7f8fa; }
@media (prefers-color-scheme: dark) { :root { --line: #343b46; --text: #e4e7ec; --dim: #98a2b3; --mark: #4a4222;
        --green: #58c08a; --yellow: #e6b450; --red: #ee7d72; --back: #14181f; --code: #1b212a; } }
body { margin: 0; font: 14px/1.5 system-ui, "Noto Sans CJK SC", sans-serif;
        color: var(--text); background: var(--back); }
header, section { padding: 12px 20px; } h1 { font-size: 18px; margin: 4px 0; } h2 { font-size: 15px; margin: 8px 0; }
table { border-collapse: collapse; } td, th { text-align: left; padding: 3px 12px 3px 0; vertical-align: top;
        border-bottom: 1px solid var(--line); } .dim { color: var(--dim); }
.green::before, .yellow::before, .red::before { content: "\\25CF\\A0"; } .green::before { color: var(--green); }
.yellow::before { color: var(--yellow); } .red::before { color: var(--red); }
main { display: grid; grid-template-columns: minmax(200px, 1fr) 2fr 2fr; gap: 1px;
        background: var(--line); height: 78vh; }
main > div { background: var(--back); overflow: auto; } .tree ul { list-style: none; margin: 0; padding-left: 16px; }
.tree li { white-space: nowrap; } .tree a { color: inherit; text-decoration: none; cursor: pointer; }
.tree a:hover, .tree a.on { background: var(--mark); }
pre { margin: 0; font: 12px/1.5 ui-monospace, Menlo, Consolas, monospace; background: var(--code); }
pre span { display: block; white-space: pre; padding: 0 12px; } pre span::before { content: attr(data-n);
        display: inline-block; width: 3.5em; color: var(--dim); } pre span.on { background: var(--mark); }
.file { padding: 4px 12px; position: sticky; top: 0; background: var(--back); border-bottom: 1px solid var(--line); }
"""

SCRIPT = """
function show(side, place) {
  if (!place) return;
  const cut = place.lastIndexOf(":"), file = place.slice(0, cut), line = place.slice(cut + 1);
  document.querySelectorAll("#" + side + " article").forEach(a => { a.hidden = a.dataset.file !== file; });
  document.querySelectorAll("#" + side + " span.on").forEach(s => s.classList.remove("on"));
  const found = document.querySelector("#" + side + ' article:not([hidden]) span[data-n="' + line + '"]');
  if (found) { found.classList.add("on"); found.scrollIntoView({ block: "center" }); }
}
document.querySelectorAll(".tree a").forEach(a => a.addEventListener("click", () => {
  document.querySelectorAll(".tree a.on").forEach(b => b.classList.remove("on"));
  a.classList.add("on");
  show("source", a.dataset.source); show("emitted", a.dataset.emitted);
}));
"""
