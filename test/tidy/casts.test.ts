import t from 'tap'
import { type AllowedCast, casts } from './checks/casts.ts'
import { readSources, readTree, show } from './source.ts'
import { testCheck } from './test-check.ts'

/** Casts in the whole tree at most. */
const castsMax = 15

/** Every cast that turns off the compiler, one entry each. */
const allowed: readonly AllowedCast[] = [
  {
    path: 'services/shared/kube/connection.ts',
    reason: 'the Kubernetes client opens its connections in a private method, which must be replaced',
  },
  {
    path: 'services/webhooks/receiver-agent.ts',
    reason: "the type of the agent's callback requires a socket even with an error",
  },
  {
    path: 'test/faults/world/bus.ts',
    reason: "the connection of the NATS client has some forty members, of which JetStream's management uses two",
  },
  { path: 'test/helpers/s3.ts', reason: 'the package of the S3 server has no types' },
  { path: 'test/helpers/s3.ts', reason: 'nor has the module of its accounts' },
  {
    path: 'test/unit/shared/policy/ports.test.ts',
    reason: "`fetch` takes a dispatcher of Node's own undici, whose class Node does not export",
  },
]

const path = 'test/unit/x.test.ts'
const bad = (text: string) => ({ name: text, tree: { [path]: text }, at: [`${path}:1`] })
const good = (text: string) => ({ name: text, tree: { [path]: text } })
const sources = () => [
  ...readSources(),
  ...['clients', 'docs'].flatMap(readTree).filter((file) => file.path.endsWith('.ts')),
]

await testCheck(t, {
  check: (files) => casts(files, []),
  real: () => casts(sources(), allowed),
  bad: [
    bad('const x = undefined as never'),
    bad('const x = y as any'),
    bad('const x = <any>y'),
    bad('const x = y as unknown as X'),
    bad('const x = (y as unknown) as X'),
    bad('const x = <X>(<unknown>y)'),
    bad('const x = y as object as X'),
    bad('// @ts-expect-error the double lacks a method'),
    bad('// @ts-ignore'),
    bad('/* @ts-nocheck */'),
  ],
  good: [
    good('const x = JSON.parse(text) as X'),
    good("const x = y as 'a'"),
    good('const x = { a: y as X } as const'),
    good("const x = 'y as unknown as X' // as never, or @ts-ignore"),
    good('const x: never[] = y as readonly never[]'),
  ],
})

t.test('casts: an entry allows one cast of its file, and one that is not needed is found', (t) => {
  const planted = (text: string) => [{ path, text }]
  const entries = [{ path, reason: 'a foreign type' }]
  t.strictSame(casts(planted('f(x as never)'), entries), [])
  t.strictSame(show(casts(planted('f(x as never, y as any)'), entries)), [
    `${path}:1 casts: a cast to any fits every type`,
  ])
  t.strictSame(show(casts(planted('f(x)'), entries)), [`${path}:1 casts: an allowed cast is gone`])
  t.end()
})

t.test('casts: few are allowed', (t) => {
  t.ok(allowed.length <= castsMax, `${allowed.length} casts`)
  t.end()
})
