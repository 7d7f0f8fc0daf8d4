import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Most diagrams of a page, and most characters and edges of one; what is beyond stays text. */
const diagramsMax = 50
const charactersMax = 20_000
const edgesMax = 500

const mermaid = readFileSync(fileURLToPath(import.meta.resolve('@mermaid-js/tiny')), 'utf8')

/**
 * Draws each `pre.mermaid` in its place, in the page's colour scheme, without scripts and links to scripts. A diagram with a
 * mistake stays text. The library needs a layout, so it runs in the browser; its variable must be global.
 */
export const drawDiagrams = `${mermaid};
(async () => {
  const { mermaid } = globalThis
  mermaid.startOnLoad = false
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    deterministicIds: true,
    maxTextSize: ${charactersMax},
    maxEdges: ${edgesMax},
    fontFamily: getComputedStyle(document.body).fontFamily,
    theme: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'default',
  })
  const blocks = Array.from(document.querySelectorAll('pre.mermaid')).slice(0, ${diagramsMax})
  for (const [index, block] of blocks.entries()) {
    try {
      const { svg } = await mermaid.render('diagram-' + index, block.textContent)
      block.innerHTML = svg
      block.classList.add('is-drawn')
    } catch {}
  }
})()`
