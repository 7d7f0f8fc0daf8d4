import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import MarkdownIt from 'markdown-it'

// Otherwise a paragraph that begins with a status is a list.
const markdown = new MarkdownIt().disable('list')
const style = `:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
code { font-size: 0.9em } pre { overflow-x: auto } :target { background: Mark; color: MarkText }`

/** docs/errors.md as a page of the gateway; the heading of each code is its anchor. */
export const errorsPage = (root: string): string => {
  const tokens = markdown.parse(readFileSync(join(root, 'docs/errors.md'), 'utf8'), {})
  for (const [index, token] of tokens.entries()) {
    const code = tokens[index + 1]?.content ?? ''
    if (token.type === 'heading_open' && token.tag === 'h3') token.attrSet('id', code)
  }
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Shutterfleet API errors</title>
<style>${style}</style>
</head>
<body>
${markdown.renderer.render(tokens, markdown.options, {})}</body>
</html>
`
}
