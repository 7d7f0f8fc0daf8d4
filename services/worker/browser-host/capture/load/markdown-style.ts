/** The look of a Markdown page: one readable column, dark where the page is to be. Nobody scrolls a picture: what is too wide is wrapped. Code is coloured by highlight.js' class names. */
export const markdownStyle = `
:root { --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --back: #fff; --code: #f6f8fa; --link: #0969da;
  --keyword: #cf222e; --string: #0a3069; --number: #0550ae; --name: #6639ba }
@media (prefers-color-scheme: dark) {
  :root { --text: #f0f6fc; --soft: #9198a1; --line: #3d444d; --back: #0d1117; --code: #151b23; --link: #4493f8;
    --keyword: #ff7b72; --string: #a5d6ff; --number: #79c0ff; --name: #d2a8ff }
}
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.6 system-ui, "Noto Sans", sans-serif }
main { max-width: 780px; margin: 0 auto; padding: 40px 32px; overflow-wrap: break-word }
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
table { border-collapse: collapse; max-width: 100%; overflow-wrap: anywhere }
th, td { border: 1px solid var(--line); padding: 6px 13px }
tr:nth-child(2n) td { background: var(--code) }
li.task { list-style: none }
li.task input { margin: 0 .4em 0 -1.4em }
.hljs-comment, .hljs-quote { color: var(--soft) }
.hljs-keyword, .hljs-tag, .hljs-deletion, .hljs-meta { color: var(--keyword) }
.hljs-string, .hljs-regexp, .hljs-addition { color: var(--string) }
.hljs-number, .hljs-literal, .hljs-attr, .hljs-attribute, .hljs-built_in, .hljs-variable { color: var(--number) }
.hljs-title, .hljs-name, .hljs-type, .hljs-section { color: var(--name) }
`
