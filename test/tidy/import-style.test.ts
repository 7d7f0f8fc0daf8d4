import t from 'tap'
import { importStyle } from './checks/import-style.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

const path = 'services/gateway/x.ts'
const bad = (name: string, text: string, file = path) => ({ name, tree: { [file]: text }, at: [`${file}:1`] })
const good = (name: string, text: string) => ({ name, tree: { [path]: text } })

await testCheck(t, {
  check: importStyle,
  real: () => importStyle(readSources()),
  bad: [
    bad('a parent folder', `import { x } from '../x.ts'`),
    bad('a parent folder on the way', `import { x } from '#shared/queue/../x.ts'`),
    bad('a parent folder in a test', `await import('../x.ts')`, 'test/unit/x.test.ts'),
    bad('a missing ending', `import { x } from './x'`),
    bad('a foreign ending', `import { x } from '#shared/x.js'`),
    bad('a client by another ending', `import { x } from '#client/x.ts'`),
    bad('a built-in module without node:', `import { join } from 'path'`),
    bad('a computed import', `await import(name)`),
    bad('an index file', 'export const x = 1', 'services/gateway/index.ts'),
    bad('a barrel of names', `export { x } from './y.ts'\nexport type { Z } from './z.ts'`),
    bad('a barrel of everything', `export * from './y.ts'`),
    bad('a barrel in two steps', `import { x } from './y.ts'\nexport { x }`),
  ],
  good: [
    good('a neighbour', `import { x } from './x.ts'`),
    good('a subpath', `import { x } from '#shared/queue/x.ts'`),
    good('the client', `import { x } from '#client/x.js'`),
    good('JSON', `import x from '#shared/x.json' with { type: 'json' }`),
    good('a built-in module', `import { join } from 'node:path'`),
    good('a re-export beside code', `export { x } from './x.ts'\nexport const y = 1`),
    good('a file of side effects', `import './x.ts'`),
  ],
})
