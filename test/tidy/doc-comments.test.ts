import t from 'tap'
import { docComments } from './checks/doc-comments.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

const path = 'services/gateway/x.ts'
const bad = (name: string, text: string, line = 1) => ({ name, tree: { [path]: text }, at: [`${path}:${line}`] })
const good = (name: string, text: string, file = path) => ({ name, tree: { [file]: text } })

await testCheck(t, {
  check: docComments,
  real: () => docComments(readSources()),
  bad: [
    bad('a bare constant', 'export const x = 1'),
    bad('a bare function', 'export async function* f() {}'),
    bad('a bare class', 'export abstract class X {}'),
    bad('a bare type', 'export type X = string'),
    bad('a bare interface', 'export interface X { a: string }'),
    bad('a line comment', '// Says something.\nexport const x = 1', 2),
    bad('a plain block comment', '/* Says something. */\nexport const x = 1', 2),
    bad('an empty doc comment', '/** */\nexport const x = 1', 2),
    bad('a doc comment of something else', '/** Of y. */\nconst y = 1\nexport const x = y', 3),
    bad('an export away from its declaration', '/** Of x. */\nconst x = 1\nexport { x }', 3),
  ],
  good: [
    good('a documented constant', '/** Says something. */\nexport const x = 1'),
    good('several lines', '/**\n * Says something.\n */\nexport type X = string'),
    good('overloads after the first', '/** F. */\nexport function f(): void\nexport function f(a?: string): void {}'),
    good('names that are not exported', 'const x = 1'),
    good('a re-export', `export { x } from './y.ts'`),
    good('tests', 'export const x = 1', 'test/helpers/x.ts'),
  ],
})
