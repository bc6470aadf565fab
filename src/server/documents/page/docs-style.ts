/**
 * The style of `GET /docs` and of the manual's chapters, for light and dark themes and wide and
 * narrow windows. Colours, type and spacing are those of the console.
 */

export const DOCS_STYLE = `
:root { color-scheme: light dark;
  --page: light-dark(#fbfaf7, #14181a); --card: light-dark(#fff, #1b2123);
  --text: light-dark(#1f2421, #e4e8e5); --soft: light-dark(#58625d, #a3aea8);
  --line: light-dark(#dcdad1, #333d3f); --code: light-dark(#f3f1ea, #111517);
  --accent: light-dark(#0b6e4f, #5fd4a8);
  --get: light-dark(#1a62d6, #6ea8fe); --post: light-dark(#0b6e4f, #5fd4a8);
  --put: light-dark(#8a5200, #f0b45a); --patch: light-dark(#7a4fbf, #c3a3f5);
  --delete: light-dark(#b3261e, #ff8f85); }
:root[data-theme='light'] { color-scheme: light; }
:root[data-theme='dark'] { color-scheme: dark; }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
a { color: var(--accent); text-underline-offset: .2em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: .2rem; }
header, .columns { max-width: 80rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 2rem; }
h1 { margin: 0; font-size: 2rem; letter-spacing: -.02em; }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.25rem; }
header p { margin: .35rem 0; color: var(--soft); }
nav ul { list-style: none; margin: 1rem 0 0; padding: 0; display: flex; flex-wrap: wrap;
  gap: .4rem; }
nav a { display: block; padding: .3rem .65rem; border: 1px solid var(--line);
  border-radius: .4rem; background: var(--card); text-decoration: none; font-size: .9rem; }
nav a:hover { border-color: var(--accent); }
details { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  margin: .5rem 0; }
summary { display: grid; grid-template-columns: 4.75rem minmax(0, 1fr); gap: .1rem .75rem;
  align-items: baseline; padding: .7rem .9rem; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary:hover { background: var(--code); border-radius: .5rem; }
summary code { overflow-wrap: anywhere; font-weight: 600; }
summary .what { grid-column: 2; color: var(--soft); font-size: .925rem; }
.model summary { display: block; }
.method { padding: .12rem 0; border-radius: .3rem; border: 1px solid; font-size: .72rem;
  font-weight: 700; letter-spacing: .04em; text-align: center; color: var(--soft); }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); }
.patch { color: var(--patch); } .delete { color: var(--delete); }
details > div { padding: .1rem .9rem .9rem; border-top: 1px solid var(--line); }
h3 { margin: 1.1rem 0 .2rem; font-size: .95rem; }
h3 + p { margin: 0; }
.value { white-space: nowrap; }
.about { color: var(--soft); font-size: .925rem; }
.code { position: relative; }
.copy { position: absolute; top: .4rem; right: .4rem; padding: .15rem .5rem; font-size: .75rem;
  color: var(--soft); cursor: pointer; border-radius: .3rem; }
.copy:hover { color: var(--text); border-color: var(--accent); }
.code pre { padding-right: 4.5rem; }
pre { margin: .9rem 0; padding: .75rem .9rem; background: var(--code); border-radius: .4rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
pre code { font: inherit; }
main li { margin: .15rem 0; }
.chapter { max-width: 60rem; padding-bottom: 4rem; }
.chapter h1 { margin-top: 1.5rem; }
.chapter th { min-width: 6rem; text-transform: none; letter-spacing: 0; }
main.findings { max-width: 80rem; margin: 0 auto; padding: 0 1rem 4rem; }
form { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin: 1rem 0; }
input, button { font: inherit; padding: .3rem .65rem; border: 1px solid var(--line);
  border-radius: .4rem; color: var(--text); background: var(--card); }
input { flex: 1; min-width: 8rem; max-width: 24rem; border-color: var(--soft); }
nav [aria-current] { border-color: var(--accent); font-weight: 600; }
nav ul ul { margin: .2rem 0 .4rem .75rem; position: static; }
p code, td code { padding: .05rem .3rem; background: var(--code); border-radius: .25rem; }
table { border-collapse: collapse; width: 100%; margin-top: .75rem; font-size: .925rem; }
th { color: var(--soft); font-size: .75rem; font-weight: 600; text-transform: uppercase;
  letter-spacing: .05em; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
tr:last-child td { border-bottom: 0; }
details th:first-child { width: 11rem; }
details th:nth-child(2):not(:last-child) { width: 15rem; }
.note { color: var(--soft); font-size: .8rem; overflow-wrap: anywhere; }
footer { padding: 3rem 1rem; }
@media (min-width: 62rem) {
  .columns { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2.5rem; }
  nav ul { position: sticky; top: 1rem; flex-flow: column; gap: .1rem; margin-top: 2.25rem; }
  nav > ul { max-height: calc(100vh - 2rem); overflow-y: auto; }
  nav a { border-color: transparent; background: none; }
  summary .what { grid-column: 3; }
  summary { grid-template-columns: 4.75rem minmax(0, 21rem) minmax(0, 1fr); }
}
@media (max-width: 61.99rem) {
  .chapters li:not(.here, .here li) { display: none; }
}
@media (max-width: 30rem) {
  thead { display: none; }
  tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td { display: block; padding: .1rem 0; border: 0; }
  td:empty { display: none; }
}
`;
