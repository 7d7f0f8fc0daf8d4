import t from 'tap'
import { type EdgeException, processEdges } from './checks/process-edges.ts'
import { readSources, show, type SourceFile } from './source.ts'
import { testCheck } from './test-check.ts'

/** All code outside main files that touches the process. */
const exceptions: readonly EdgeException[] = [
  {
    path: 'services/shared/process/run-main.ts',
    edges: ['env', 'signal'],
    reason: 'called by every main file: passes environment and stop signal on as arguments',
  },
  {
    path: 'services/shared/db/password.ts',
    edges: ['env'],
    reason: 'the program that prints a password inherits the environment, without our settings',
  },
  {
    path: 'services/shared/telemetry/probe-server.ts',
    edges: ['listen'],
    reason: 'probes and metrics listen alike in every service',
  },
  {
    path: 'services/worker/isolation/browser-users.ts',
    edges: ['listen'],
    reason: 'an abstract socket is a lock that the kernel frees',
  },
  {
    path: 'services/worker/host/host-environment.ts',
    edges: ['listen'],
    reason: 'the host environment is the same for both kinds of worker: the canary',
  },
  {
    path: 'services/local/doctor/egress-check.ts',
    edges: ['listen'],
    reason: 'a canary that must receive no connection, for the time of one check',
  },
  {
    path: 'services/local/ports.ts',
    edges: ['listen'],
    reason: 'only listening for a moment shows whether a port is free',
  },
]

const path = 'services/gateway/app.ts'
const bad = (text: string) => ({ name: text, tree: { [path]: text }, at: [`${path}:1`] })
const good = (text: string, file = path) => ({ name: `${text} in ${file}`, tree: { [file]: text } })

await testCheck(t, {
  check: (files) => processEdges(files, []),
  real: () => processEdges(readSources(), exceptions),
  bad: [
    bad('const port = process.env.PORT'),
    bad(`const port = process['env'].PORT`),
    bad('const { env } = process'),
    bad(`import { env } from 'node:process'`),
    bad(`process.on('SIGTERM', stop)`),
    bad(`process.once('SIGINT', stop)`),
    bad('process.exit(1)'),
    bad('await app.listen({ port: 0 })'),
  ],
  good: [
    good('const port = process.env.PORT', 'services/gateway/main.ts'),
    good(`process.on('SIGTERM', stop)`, 'services/worker/main-job.ts'),
    good('server.listen(0)', 'services/worker/browser-host/main.ts'),
    good('process.exitCode = 1'),
    good(`child.on('exit', stop)`),
    good('const port = env.PORT'),
    good('process.env.PORT', 'test/helpers/x.ts'),
  ],
})

const listening: SourceFile[] = [{ path: 'services/worker/relay.ts', text: 'server.listen(path)' }]
const exception = (over: Partial<EdgeException>): EdgeException => ({
  path: 'services/worker/relay.ts',
  edges: ['listen'],
  reason: 'a local socket',
  ...over,
})

t.test('process edges: an exception allows its edge in its file', (t) => {
  t.strictSame(processEdges(listening, [exception({})]), [])
  t.strictSame(processEdges(listening, [exception({ path: 'services/worker/' })]), [])
  t.end()
})

t.test('process edges: an exception allows no other edge, and an unused one is found', (t) => {
  t.strictSame(show(processEdges(listening, [exception({ edges: ['env'] })])), [
    'services/worker/relay.ts:1 process-edges: listen belongs to a main file',
    'services/worker/relay.ts:1 process-edges: the exception for env is not used',
  ])
  t.end()
})
