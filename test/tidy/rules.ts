// All rules in one process: each file of the tree is read and parsed once.
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import './casts.test.ts'
import './contract-points.test.ts'
import './doc-comments.test.ts'
import './doc-paths.test.ts'
import './error-catalog.test.ts'
import './events-called.test.ts'
import './figures.test.ts'
import './file-lines.test.ts'
import './folder-circles.test.ts'
import './forbidden-text.test.ts'
import './hop-table.test.ts'
import './import-rights.test.ts'
import './import-style.test.ts'
import './json-output.test.ts'
import './layers.test.ts'
import './licences.test.ts'
import './linear-regex.test.ts'
import './measures-run.test.ts'
import './mirror.test.ts'
import './names.test.ts'
import './observability.test.ts'
import './process-edges.test.ts'
import './promised-tests.test.ts'
import './purity.test.ts'
import './service-parts.test.ts'
import './subjects.test.ts'
import './workflow-tiers.test.ts'

t.test('rules: every rule is imported here', (t) => {
  const here = [...readFileSync(import.meta.filename, 'utf8').matchAll(/^import '\.\/(.*)'$/gm)].map(
    ([, name = '']) => name,
  )
  const all = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'))
  t.same(here.toSorted(), all.toSorted())
  t.end()
})
