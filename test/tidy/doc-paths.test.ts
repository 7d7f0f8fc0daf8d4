import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { docPaths } from './checks/doc-paths.ts'
import { readTree, root } from './source.ts'
import { testCheck } from './test-check.ts'

const present = new Set(['services/a/main.ts', 'docs/errors.md', 'README.md'])

await testCheck(t, {
  check: (files) => docPaths(files, (path) => present.has(path)),
  real: () =>
    docPaths(
      readTree('').filter(({ path }) => path.endsWith('.md')),
      (path) => existsSync(join(root, path)),
    ),
  bad: [
    { name: 'a missing file named in code', tree: { 'a.md': 'see\n`services/a/gone.ts`' }, at: ['a.md:2'] },
    { name: 'a broken link', tree: { 'docs/a.md': '[x](gone.md)' }, at: ['docs/a.md:1'] },
    { name: 'a link from the wrong folder', tree: { 'docs/a.md': '[x](docs/errors.md)' }, at: ['docs/a.md:1'] },
  ],
  good: [
    { name: 'existing files', tree: { 'a.md': '`services/a/main.ts` [e](docs/errors.md) [e](docs/errors.md#x)' } },
    { name: 'links to a parent folder', tree: { 'docs/a.md': '[readme](../README.md)' } },
    {
      name: 'addresses, anchors and patterns',
      tree: { 'a.md': '[a](https://a.b/c.md) [b](#x) `services/<x>/main.ts`' },
    },
  ],
})
