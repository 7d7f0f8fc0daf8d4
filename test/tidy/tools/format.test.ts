import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { plantProject, runTool } from './planted-project.ts'

const table = '| A | B |\n|---|---|\n| long cell | x |\n'
const untidy = 'export const x = { a: "1", };\nexport const f = (a) => {\n    return a\n}\n'
const tidy = "export const x = { a: '1' }\nexport const f = (a) => {\n  return a\n}\n"
const createLine = (characters: number) => `export const x = ['${'a'.repeat(characters - 26)}', 'b']\n`

t.test('oxfmt: reports an unformatted file, and formats it', (t) => {
  using project = plantProject({ 'services/x.ts': untidy, 'docs/x.md': table })
  const check = runTool(project.folder, 'oxfmt', ['--check'])
  t.equal(check.code, 1)
  t.match(check.out, 'services/x.ts')
  t.notMatch(check.out, 'x.md')
  t.equal(runTool(project.folder, 'oxfmt', []).code, 0)
  t.equal(readFileSync(join(project.folder, 'services/x.ts'), 'utf8'), tidy)
  t.equal(readFileSync(join(project.folder, 'docs/x.md'), 'utf8'), table)
  t.end()
})

t.test('oxfmt: a line has at most 120 characters', (t) => {
  t.equal(createLine(120).length, 121, 'with its end')
  using project = plantProject({ 'services/fits.ts': createLine(120), 'services/long.ts': createLine(121) })
  t.equal(runTool(project.folder, 'oxfmt', ['--list-different']).out, 'services/long.ts\n')
  t.end()
})
