import { line } from '#shared/schema/fields.ts'
import { sourceText, withDoc } from './kinds.ts'

/** Sources of a capture; exactly one is given. */
export const source = {
  url: withDoc(line(1, 2048), {
    description: 'URL of the page to capture. It must be http or https, and public.',
    example: 'https://example.com/',
    plain: 'its origin only, by which operators see what is captured',
  }),
  html: withDoc(sourceText(), {
    description: 'Raw HTML to capture. It is rendered at an opaque origin and may load public sub-resources.',
    example: '<h1>Hello</h1>',
  }),
  markdown: withDoc(sourceText(), {
    description:
      'Markdown to capture: CommonMark and GFM, with footnotes, alerts, emoji names, math and Mermaid diagrams.',
    example: '# Hello',
    more: 'YAML front matter gives the page its `title`, `description`, `author`, `keywords` and `lang`. Math is written as on GitHub, diagrams in fences named `mermaid`; one with a mistake stays text.',
  }),
}
