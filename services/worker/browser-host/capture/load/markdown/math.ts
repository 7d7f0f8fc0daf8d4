import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { renderToString } from 'katex'
import type { MarkdownIt } from 'markdown-it'

/** Bounds of the math that is rendered, in one formula and in a page: a character becomes a hundred of HTML. */
const formulaCharactersMax = 2000
const pageCharactersMax = 20_000
/** Most lines of a block between `$$`. */
const blockLinesMax = 100

const inline = /\$(?<tex>(?:\\.|[^\\$\n])+)\$/uy
const display = /\$\$(?<tex>(?:\\.|[^\\$])+)\$\$/uy

/** Whether dollars around a formula are math, as GitHub reads them: no space inside, no letter or digit outside; "$5 or $10" is money. */
const isMath = (tex: string, before: string, after: string): boolean =>
  tex.trim() === tex && !/[\p{L}\p{N}$]/u.test(before) && !/[\p{L}\p{N}$]/u.test(after)

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
        // Chromium draws MathML with fonts of the image, none of which has the variants of brackets and roots.
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
      return mark + String(rendered.length - 1) + mark
    },
    insert: (html: string): string =>
      html
        .split(mark)
        .map((part, index) => (index % 2 === 1 ? rendered[Number(part)] : part))
        .join(''),
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

const matchAt = (pattern: RegExp, { src, pos }: { readonly src: string; readonly pos: number }) => {
  pattern.lastIndex = pos
  return pattern.exec(src)
}

/** Adds `$math$`, `$$display$$` in a line, and blocks between lines of `$$`, each rendered by `render`. */
export const readMath = (markdown: MarkdownIt, render: PageMath['render']): void => {
  const { rules } = markdown.renderer
  rules['math_inline'] = (tokens, index) => render(tokens[index]?.content ?? '', false)
  rules['math_display'] = (tokens, index) => render(tokens[index]?.content ?? '', true)
  markdown.inline.ruler.before('escape', 'math', (state, silent) => {
    const match = [display, inline].map((pattern) => matchAt(pattern, state)).find((each) => each !== null)
    const tex = match?.groups?.['tex']
    if (!match || tex === undefined) return false
    const [whole] = match
    const isDisplay = whole.startsWith('$$')
    const end = state.pos + whole.length
    if (!isDisplay && !isMath(tex, state.src.charAt(state.pos - 1), state.src.charAt(end))) return false
    if (!silent) state.push(isDisplay ? 'math_display' : 'math_inline', 'math', 0).content = tex
    state.pos = end
    return true
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
