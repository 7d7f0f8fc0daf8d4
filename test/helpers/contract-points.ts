/** A test that names the contract point it verifies: `// Contract: <point>` on the line above `t.test('<title>'`. */
export type NamedTest = { readonly point: string; readonly path: string; readonly line: number; readonly title: string }

type Text = { readonly path: string; readonly text: string }

const mark = /^([ \t]*)\/\/ Contract: (.+)$/gm
const below = /^(?:\/\/[^\n]*\n)*(?:await |void )?t\.test\(\s*(?:'((?:[^'\\]|\\.)*)'|"([^"]*)"|`([^`$]*)`)/

/** The points of the contract: the first column of every table of docs/http-contract.md. */
export const readPoints = (contract: string): string[] =>
  [...contract.matchAll(/^\| (.+?) \|/gm)].map(([, point = '']) => point).filter((point) => point !== 'Point')

/** The tests that name a point; `title` is empty if no top-level test with a literal title follows. */
export const namedTests = (files: readonly Text[]): NamedTest[] =>
  files.flatMap(({ path, text }) =>
    [...text.matchAll(mark)].map((found) => {
      const [whole, indent, point = ''] = found
      const [, single, double, backquoted] = below.exec(text.slice(found.index + whole.length + 1)) ?? []
      const title = indent === '' ? (single ?? double ?? backquoted ?? '').replaceAll(/\\(.)/g, '$1') : ''
      return { point, path, line: text.slice(0, found.index).split('\n').length, title }
    }),
  )
