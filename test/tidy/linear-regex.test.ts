import t from 'tap'
import { linearRegex } from './checks/linear-regex.ts'
import { readSources, readTree } from './source.ts'
import { testCheck } from './test-check.ts'

const path = 'services/x/y.ts'
const bad = (text: string, at = path) => ({ name: text, tree: { [at]: text }, at: [`${at}:1`] })
const good = (text: string) => ({ name: text, tree: { [path]: text } })

// Proofs in a fresh clone take half a minute of processor time, which a busy machine may stretch to many minutes.
t.setTimeout(1_800_000)

await testCheck(t, {
  check: linearRegex,
  real: () => linearRegex([...readSources(), ...readTree('clients')]),
  bad: [
    bad('const x = /^(a+)+$/'),
    bad(String.raw`const x = /^(?:[0-9]|\\[0-9]{1,6}[0-9]?)*!$/`),
    bad(String.raw`const x = /^(?:[a-z0-9]|\\[0-9a-f]{1,6}\s?)*$/i`),
    bad('const x = /a+$/'),
    bad('const x = /^(.*):(.*):(.*)!$/s'),
    bad('const x = /a+$/', 'clients/typescript/y.js'),
    bad("const x = new RegExp(name + '$')"),
    bad('const x = RegExp(`^${name}$`)'),
    bad("const x = Type.String({ pattern: '(a|a)*!' })"),
    bad("const form = '^(a+)+$'"),
  ],
  good: [
    good('const x = /^[a-z]+$/'),
    good('const x = /^a{1,3}:[0-9]+$/i'),
    good("const form = '^[^\\u0000]*$'"),
    good("const cost = '5 $'"),
    { name: 'an expression of a test', tree: { 'test/x.ts': 'const x = /a+$/' } },
  ],
})

t.test('a finding names the expression', (t) => {
  const [finding] = linearRegex([{ path, text: 'const x = /^(a+)+$/' }])
  t.equal(finding?.message, '/^(a+)+$/ is not linear')
  t.end()
})

t.test('a proof is bounded by processor time, not by the time that a busy machine lets it wait', (t) => {
  t.teardown(() => Reflect.deleteProperty(performance, 'now'))
  let wallMs = performance.now()
  performance.now = () => (wallMs += 100_000)
  // Not proven before.
  const text = `const x = /^[a-z]{1,3}:[0-9]+${crypto.randomUUID().slice(0, 8)}$/`
  t.strictSame(linearRegex([{ path, text }]), [])
  t.end()
})
