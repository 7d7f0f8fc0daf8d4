/** Style of a Markdown page: one readable column, wider only for the words of a table; dark in dark mode; wraps wide content, as a picture cannot be scrolled; highlight.js' class names. */
export const markdownStyle = `
:root { --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --back: #fff; --code: #f6f8fa; --link: #0969da;
  --keyword: #cf222e; --string: #0a3069; --number: #0550ae; --name: #6639ba;
  --tip: #1a7f37; --important: #8250df; --warning: #9a6700; --caution: #d1242f }
@media (prefers-color-scheme: dark) {
  :root { --text: #f0f6fc; --soft: #9198a1; --line: #3d444d; --back: #0d1117; --code: #151b23; --link: #4493f8;
    --keyword: #ff7b72; --string: #a5d6ff; --number: #79c0ff; --name: #d2a8ff;
    --tip: #3fb950; --important: #ab7df8; --warning: #d29922; --caution: #f85149 }
}
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.6 system-ui, "Noto Sans", sans-serif }
body { display: grid; grid-template-columns: minmax(min-content, 844px); justify-content: safe center }
main { padding: 40px 32px; overflow-wrap: break-word }
main > :not(table) { max-width: 780px }
main > :first-child { margin-top: 0 }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.5em 0 .6em }
h1, h2 { padding-bottom: .3em; border-bottom: 1px solid var(--line) }
p, ul, ol, blockquote, pre, table { margin: 0 0 1em }
a { color: var(--link) }
img { max-width: 100% }
hr { border: 0; border-top: 2px solid var(--line); margin: 2em 0 }
blockquote { padding: 0 1em; color: var(--soft); border-left: 4px solid var(--line) }
code { font: .875em/1.5 ui-monospace, "Noto Sans Mono", monospace; background: var(--code); padding: .2em .4em; border-radius: 4px }
pre { background: var(--code); padding: 16px; border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere }
pre code { padding: 0; background: none }
table { border-collapse: collapse; max-width: 100% }
th, td { border: 1px solid var(--line); padding: 6px 13px }
tr:nth-child(2n) td { background: var(--code) }
li.task { list-style: none }
li.task input { margin: 0 .4em 0 -1.4em }
pre.is-drawn { background: none; padding: 0; text-align: center }
pre.is-drawn svg { max-width: 100%; height: auto }
.katex-display { overflow-wrap: normal }
.footnotes { color: var(--soft); font-size: .875em }
.footnotes-sep { margin-top: 3em; border-top-width: 1px }
.markdown-alert { --alert: var(--link); padding: .5em 1em; margin: 0 0 1em; border-left: 4px solid var(--alert) }
.markdown-alert > :last-child { margin-bottom: 0 }
.markdown-alert-title { display: flex; align-items: center; gap: .5em; margin-bottom: .5em; color: var(--alert); font-weight: 500 }
.markdown-alert-title svg { fill: currentColor }
.markdown-alert-tip { --alert: var(--tip) }
.markdown-alert-important { --alert: var(--important) }
.markdown-alert-warning { --alert: var(--warning) }
.markdown-alert-caution { --alert: var(--caution) }
.hljs-comment, .hljs-quote { color: var(--soft) }
.hljs-keyword, .hljs-tag, .hljs-deletion, .hljs-meta { color: var(--keyword) }
.hljs-string, .hljs-regexp, .hljs-addition { color: var(--string) }
.hljs-number, .hljs-literal, .hljs-attr, .hljs-attribute, .hljs-built_in, .hljs-variable { color: var(--number) }
.hljs-title, .hljs-name, .hljs-type, .hljs-section { color: var(--name) }
`
