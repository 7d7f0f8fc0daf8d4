import t from 'tap'
import { licences } from './checks/licences.ts'
import { readTree } from './source.ts'
import { testCheck } from './test-check.ts'

const lock = (packages: Readonly<Record<string, unknown>>) => ({
  'package-lock.json': JSON.stringify({ packages }, undefined, 1),
})
const root = { '': { name: 'shutterfleet' } }

await testCheck(t, {
  check: licences,
  real: () => licences(readTree('')),
  bad: [
    {
      name: 'a package under a licence that is not allowed, also below another one',
      tree: lock({ ...root, 'node_modules/a/node_modules/b': { license: 'AGPL-3.0-only' } }),
      at: ['package-lock.json:6'],
    },
    {
      name: 'one that demands a refused licence beside an allowed one',
      tree: lock({ ...root, 'node_modules/a': { license: '(MIT AND SSPL-1.0)' } }),
      at: ['package-lock.json:6'],
    },
    {
      name: 'one that demands a refused licence beside a choice',
      tree: lock({ ...root, 'node_modules/a': { license: '(MIT OR ISC) AND SSPL-1.0' } }),
      at: ['package-lock.json:6'],
    },
    {
      name: 'the same, with a choice on each side',
      tree: lock({ ...root, 'node_modules/a': { license: '(MIT OR ISC) AND (SSPL-1.0 OR BUSL-1.1)' } }),
      at: ['package-lock.json:6'],
    },
    { name: 'one without a licence', tree: lock({ ...root, 'node_modules/a': {} }), at: ['package-lock.json:6'] },
    {
      name: 'a licence that is allowed for other packages only',
      tree: lock({ ...root, 'node_modules/a': { license: 'LGPL-3.0-or-later' } }),
      at: ['package-lock.json:6'],
    },
  ],
  good: [
    {
      name: 'allowed licences, a choice with an allowed one, and packages for development',
      tree: lock({
        ...root,
        'node_modules/a': { license: 'MIT' },
        'node_modules/b': { license: '(GPL-2.0-only OR MIT)' },
        'node_modules/@img/sharp-libvips-linux-x64': { license: 'LGPL-3.0-or-later' },
        'node_modules/c': { license: 'AGPL-3.0-only', dev: true },
      }),
    },
  ],
})
