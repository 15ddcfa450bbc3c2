/** Style of the documentation page: from 320 px on, light and dark. */
export const STYLE = `:root { --line: #d5d9e0; --soft: #f4f6f8; --dim: #5a6270; --link: #0b57d0; --warn: #8a5300; color-scheme: light dark; }
* { box-sizing: border-box; }
body { font: 16px/1.5 sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem; color: #1b1f24; background: #fff; overflow-wrap: anywhere; }
a { color: var(--link); }
h2 { border-bottom: 1px solid var(--line); margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 1rem 0 0.3rem; }
[hidden] { display: none !important; }
[id] { scroll-margin-top: 7rem; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0.4rem 0; padding: 0.4rem 0.8rem; }
summary { cursor: pointer; }
code, pre, .method { font-family: ui-monospace, monospace; font-size: 0.92em; }
pre { background: var(--soft); border-radius: 6px; padding: 0.6rem; overflow: auto; max-height: 26rem; white-space: pre-wrap; }
.method { display: inline-block; min-width: 4rem; font-weight: bold; }
.get { color: #0b6b3a; } .post { color: #0b57d0; } .put { color: #8a5300; } .delete { color: #b3261e; }
.title, .meaning, .type { color: var(--dim); }
.type { font-size: 0.9em; }
.meaning { display: block; }
.absent { color: var(--warn); }
.link { font-size: 0.85em; }
ul.fields { list-style: none; margin: 0.3rem 0; padding: 0; }
ul.fields li { border-top: 1px solid var(--line); padding: 0.25rem 0; }
ul.fields ul.fields { margin-left: 1rem; }
.bar { position: sticky; top: 0; z-index: 1; background: #fff; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
input, select, textarea, button { font: inherit; max-width: 100%; padding: 0.3rem 0.5rem; border: 1px solid var(--line); border-radius: 6px; color: inherit; background: transparent; }
#search { width: 100%; }
textarea { width: 100%; min-height: 8rem; font-family: ui-monospace, monospace; font-size: 0.9em; }
button { cursor: pointer; background: var(--soft); }
form.try { border-top: 2px solid var(--line); margin-top: 1rem; padding-top: 0.5rem; }
form.try label, #login label { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: 0.5rem; align-items: center; margin: 0.3rem 0; }
.failed { color: #b3261e; }
@media (max-width: 30rem) {
  body { padding: 0.6rem; }
  details { padding: 0.3rem 0.5rem; }
  form.try label, #login label { grid-template-columns: 1fr; gap: 0; }
  input, select { width: 100%; }
}
@media (prefers-color-scheme: dark) {
  :root { --line: #363c44; --soft: #1e2328; --dim: #a3abb8; --link: #8ab4f8; --warn: #e0b84c; }
  body, .bar { color: #e6e8eb; background: #14171a; }
  .get { color: #6fcf97; } .post { color: #8ab4f8; } .put { color: #e0b84c; } .delete, .failed { color: #f2867f; }
}
`;
