import { type Finding, findingAt, type SourceFile } from '#test/tidy/source.ts'

const rule = 'error-catalog'
const docsPath = 'docs/errors.md'

/** Every code of the catalogue has a section in docs/errors.md and is named by a test; no section names an unknown code. */
export const errorCatalog = (files: readonly SourceFile[], codes: readonly string[]): Finding[] => {
  const docs = files.find(({ path }) => path === docsPath) ?? { path: docsPath, text: '' }
  const tests = files.filter(({ path }) => /^test\/(?!tidy\/).*\.ts$/.test(path))
  const sections = [...docs.text.matchAll(/^#+ +`?([A-Z][A-Z_]{3,})`?/gm)]
  return [
    ...codes
      .filter((code) => !sections.some((section) => section[1] === code))
      .map((code) => findingAt(docs, 0, rule, `${code} has no section`)),
    ...sections
      .filter((section) => !codes.includes(section[1] ?? ''))
      .map((section) => findingAt(docs, section.index, rule, `${section[1]} is not in the catalogue`)),
    ...codes
      .filter((code) => !tests.some(({ text }) => text.includes(`'${code}'`)))
      .map((code) =>
        findingAt({ path: 'services/shared/errors/catalog.ts', text: '' }, 0, rule, `no test names ${code}`),
      ),
  ]
}
