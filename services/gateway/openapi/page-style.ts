/** How the reference page looks: a list of operations on the left, light or dark as the reader prefers. */
export const pageStyle = `
:root { color-scheme: light dark; --ground: #fff; --side: #f6f7f9; --line: #e3e6ea; --text: #1d2530; --soft: #5b6675;
  --link: #0b63c5; --mark: #eef1f5; --get: #0b63c5; --post: #12803c; --patch: #9a5b00; --delete: #c2293d; --head: #6b4fc8;
  }
@media (prefers-color-scheme: dark) { :root { --ground: #11161d; --side: #161c25; --line: #2a323d; --text: #dbe2ea;
  --soft: #93a0b0; --link: #6cb2ff; --mark: #1f2732; --get: #6cb2ff; --post: #5bd08a; --patch: #f0b357; --delete: #ff7b8a;
  --head: #b49bff; } }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 1fr); background: var(--ground); color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.4rem 1rem 2rem; background: var(--side);
  border-right: 1px solid var(--line) }
nav .brand { font-weight: 650; font-size: 1.1rem; color: var(--text); padding: 0 .5rem }
nav h2 { font-size: .72rem; letter-spacing: .07em; text-transform: uppercase; color: var(--soft); margin: 1.5rem .5rem .3rem }
nav ul { list-style: none; margin: 0; padding: 0 }
nav li a { display: flex; gap: .6rem; align-items: baseline; padding: .22rem .5rem; border-radius: 6px; color: var(--text);
  font-size: .88rem }
nav li a:hover { background: var(--mark); text-decoration: none }
nav .method { font-size: .62rem; flex: 0 0 3rem; padding: 0; background: none; text-align: right }
main { padding: 2.2rem clamp(1.2rem, 4vw, 4rem) 6rem; max-width: 64rem }
h1 { font-size: 2rem; line-height: 1.2; margin: 0; letter-spacing: -.015em }
.lead { font-size: 1.15rem; color: var(--soft); margin: .3rem 0 1.2rem }
h2.tag, section > h2 { margin: 3.5rem 0 .2rem; font-size: 1.5rem; letter-spacing: -.01em }
h3 { font-size: 1.15rem; margin: 0 0 .4rem }
h3 a { color: inherit }
h4 { font-size: .8rem; letter-spacing: .05em; text-transform: uppercase; color: var(--soft); margin: 1.5rem 0 .4rem }
h4 small { text-transform: none; letter-spacing: 0 }
a { color: var(--link); text-decoration: none }
a:hover { text-decoration: underline }
.operation { padding: 1.8rem 0 1.6rem; border-bottom: 1px solid var(--line) }
.address { margin: .2rem 0 .8rem }
.address code { font-size: .95rem; background: none; padding: 0 }
.address i { color: var(--soft) }
.method { font: 650 .72rem/1 ui-monospace, "Liberation Mono", monospace; padding: .28rem .45rem; border-radius: 5px;
  background: var(--mark); color: var(--get); letter-spacing: .03em }
.method.post { color: var(--post) } .method.patch { color: var(--patch) } .method.delete { color: var(--delete) }
.method.head { color: var(--head) }
code { font: .86em/1.45 ui-monospace, SFMono-Regular, Menlo, "Liberation Mono", monospace; background: var(--mark);
  padding: .1em .32em; border-radius: 4px; overflow-wrap: anywhere }
pre { background: var(--side); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto;
  margin: .7rem 0 }
pre code { background: none; padding: 0; overflow-wrap: normal }
.table { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; margin: .5rem 0 }
table { border-collapse: collapse; width: 100%; font-size: .92rem }
td, th { padding: .5rem .8rem; vertical-align: top; text-align: left; border-top: 1px solid var(--line) }
tr:first-child > td, tr:first-child > th { border-top: 0 }
td:first-child { white-space: nowrap; width: 1% }
td .name { background: none; padding: 0; font-weight: 600; overflow-wrap: normal }
td em { display: block; font-style: normal; font-size: .74rem; color: var(--delete) }
.schema td em, .answer td em { color: var(--soft) }
td small { display: block; font-size: .74rem; color: var(--soft) }
.kind { color: var(--soft); white-space: nowrap; width: 1% }
.values, .bound { display: inline-block; margin-right: .6rem; font-size: .86rem; color: var(--soft) }
.status { font: 650 .85rem/1 ui-monospace, "Liberation Mono", monospace; margin-right: .4rem }
.status.ok { color: var(--post) } .status.bad { color: var(--delete) }
.answer { border-left: 3px solid var(--line); padding-left: .9rem; margin: .7rem 0 }
.answer p { margin: .2rem 0 }
.headers, .type { font-size: .84rem; color: var(--soft) }
details > summary { cursor: pointer; color: var(--soft); font-size: .88rem; padding: .2rem 0 }
details.schema { border-bottom: 1px solid var(--line); padding: .35rem 0; scroll-margin-top: 1rem }
.errors { list-style: none; padding: 0; margin: .4rem 0 }
.errors li { display: flex; gap: .5rem; padding: .25rem 0; align-items: baseline }
@media (max-width: 60rem) { body { display: block } nav { position: static; height: auto; border-right: 0;
  border-bottom: 1px solid var(--line) } td { display: block; width: auto; border: 0; padding: .15rem .8rem }
  td:first-child { border-top: 1px solid var(--line); padding-top: .6rem; width: auto }
  td:last-child { padding-bottom: .6rem } }
@media print { nav { display: none } body { display: block } }
`
