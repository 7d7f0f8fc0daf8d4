import t from 'tap'
import { catalog } from '#shared/errors/catalog.ts'
import { errorCatalog } from './checks/error-catalog.ts'
import { readTree } from './source.ts'
import { testCheck } from './test-check.ts'

const docs = 'docs/errors.md'
const test = 'test/unit/x.test.ts'
const tree = { [docs]: '# Errors\n\n## `TIMEOUT`\n\n### DNS_FAILED\n', [test]: `f('TIMEOUT', 'DNS_FAILED')` }

await testCheck(t, {
  check: (files) => errorCatalog(files, ['TIMEOUT', 'DNS_FAILED']),
  real: () => errorCatalog(readTree(''), Object.keys(catalog)),
  bad: [
    { name: 'a code without a section', tree: { ...tree, [docs]: '## TIMEOUT\n\nDNS_FAILED\n' }, at: [`${docs}:1`] },
    {
      name: 'a section without a code',
      tree: { ...tree, [docs]: `${tree[docs]}\n## BLOCKED\n` },
      at: [`${docs}:7`],
    },
    { name: 'no document', tree: { [test]: tree[test] ?? '' }, at: [`${docs}:1`, `${docs}:1`] },
    {
      name: 'a code that no test names',
      tree: { ...tree, [test]: `f('TIMEOUT', 'DNS_FAILED_TWICE')` },
      at: ['services/shared/errors/catalog.ts:1'],
    },
    {
      name: 'a code that only a tidy test names',
      tree: { ...tree, [test]: `f('TIMEOUT')`, 'test/tidy/x.test.ts': `f('DNS_FAILED')` },
      at: ['services/shared/errors/catalog.ts:1'],
    },
  ],
  good: [{ name: 'a complete catalogue', tree }],
})
