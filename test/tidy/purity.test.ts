import t from 'tap'
import { purity } from './checks/purity.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

const path = 'services/shared/policy/x.ts'
const bad = (text: string) => ({ name: text, tree: { [path]: text }, at: [`${path}:1`] })
const good = (text: string) => ({ name: text, tree: { [path]: text } })

await testCheck(t, {
  check: purity,
  real: () => purity(readSources()),
  bad: [
    bad(`import { readFile } from 'node:fs'`),
    bad(`import { readFile } from 'fs'`),
    bad(`import { fetch } from 'undici'`),
    bad('const now = Date.now()'),
    bad('const clock = Date.now'),
    bad('const now = new Date()'),
    bad('const now = Date()'),
    bad('const x = Math.random()'),
    bad('const x = performance.now()'),
    bad('const id = crypto.randomUUID()'),
    bad('setTimeout(f, 10)'),
    bad('const page = await fetch(url)'),
    bad('const home = process.env.HOME'),
  ],
  good: [
    good(`import { Type } from 'typebox'`),
    good(`import { x } from '#shared/errors/x.ts'`),
    good('const at = new Date(ms)'),
    good('const x = Math.max(1, 2)'),
    good('const x = job.process.env'),
    good(`const x = 'Date.now()' // Math.random()`),
    { name: 'the clock on floor 1', tree: { 'services/shared/db/x.ts': 'const now = Date.now()' } },
  ],
})
