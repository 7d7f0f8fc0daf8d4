import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { renderToString } from 'katex'
import type { MarkdownIt } from 'markdown-it'

/** Bounds of the math that is rendered, in one formula and in a page: a character becomes a hundred of HTML. */
const formulaCharactersMax = 2000
const pageCharactersMax = 20_000
/** Most lines of a block between `$$`. */
const blockLinesMax = 100

/** Math in a line, as GitHub reads it: no space inside the dollars, no letter or digit outside, so that "$5 or $10" is money. */
const inline = /(?<![\p{L}\p{N}$\\])\$(?![\s$])(?<tex>(?:\\.|[^\\$\n])+)(?<!\s)\$(?![\p{L}\p{N}$])/uy
const display = /\$\$(?<tex>(?:\\.|[^\\$])+)\$\$/uy

/** The math of a page. */
export type PageMath = ReturnType<typeof createPageMath>

/**
 * Renders the math of one page. What is rendered gets past the sanitiser, which would remove its styles: `render` returns a
 * placeholder that no source can foresee, and `insert` replaces the placeholders in sanitised HTML.
 */
export const createPageMath = (escape: (text: string) => string) => {
  const rendered: string[] = []
  const mark = randomUUID()
  let charactersLeft = pageCharactersMax
  const renderTex = (tex: string, displayMode: boolean): string => {
    if (tex.length > Math.min(formulaCharactersMax, charactersLeft)) return `<code>${escape(tex)}</code>`
    charactersLeft -= tex.length
    try {
      return renderToString(tex, {
        displayMode,
        output: 'html',
        throwOnError: false,
        strict: 'ignore',
        maxSize: 20,
        maxExpand: 200,
      })
    } catch {
      // Formulas can be nested too deeply for the stack.
      return `<code>${escape(tex)}</code>`
    }
  }
  return {
    render: (tex: string, displayMode: boolean): string => {
      rendered.push(renderTex(tex, displayMode))
      return `${mark}:${rendered.length - 1};`
    },
    insert: (html: string): string =>
      html.replaceAll(new RegExp(`${mark}:(\\d+);`, 'g'), (_, index: string) => rendered[Number(index)] ?? ''),
    /** Style of the rendered math; empty if there is none. */
    style: () => (rendered.length === 0 ? '' : mathStyle()),
  }
}

const fontFile = /src:url\(fonts\/(?<name>[\w-]+\.woff2)\)[^;}]*/g

let style: string | undefined

/** KaTeX's style with its fonts, since a page loads nothing from elsewhere; 370 kB, built on first use. */
const mathStyle = (): string => {
  style ??= katexStyle.replaceAll(fontFile, (_, name: string) => {
    const font = readFileSync(new URL(`fonts/${name}`, katexFolder), 'base64')
    return `src:url(data:font/woff2;base64,${font})`
  })
  return style
}

const katexFolder = new URL('.', import.meta.resolve('katex'))
const katexStyle = readFileSync(new URL('katex.min.css', katexFolder), 'utf8')

/** Adds `$math$`, `$$display$$` in a line, and blocks between lines of `$$`, each rendered by `render`. */
export const readMath = (markdown: MarkdownIt, render: PageMath['render']): void => {
  const { rules } = markdown.renderer
  rules['math_inline'] = (tokens, index) => render(tokens[index]?.content ?? '', false)
  rules['math_display'] = (tokens, index) => render(tokens[index]?.content ?? '', true)
  markdown.inline.ruler.before('escape', 'math', (state, silent) => {
    for (const [pattern, type] of [
      [display, 'math_display'],
      [inline, 'math_inline'],
    ] as const) {
      pattern.lastIndex = state.pos
      const match = pattern.exec(state.src)
      if (!match) continue
      if (!silent) state.push(type, 'math', 0).content = match.groups?.['tex'] ?? ''
      state.pos += match[0].length
      return true
    }
    return false
  })
  markdown.block.ruler.before(
    'fence',
    'math_block',
    (state, startLine, endLine, silent) => {
      const lineAt = (line: number) => state.getLines(line, line + 1, state.blkIndent, false).trim()
      if (!lineAt(startLine).startsWith('$$')) return false
      const last = Math.min(endLine, startLine + blockLinesMax)
      let line = startLine
      let tex = lineAt(line).slice(2)
      while (!tex.includes('$$')) {
        line += 1
        if (line >= last) return false
        tex = `${tex}\n${lineAt(line)}`
      }
      const [content = '', rest] = tex.split('$$')
      if (rest !== '') return false
      if (silent) return true
      const token = state.push('math_display', 'math', 0)
      token.content = content.trim()
      token.block = true
      token.map = [startLine, line + 1]
      state.line = line + 1
      return true
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] },
  )
}
