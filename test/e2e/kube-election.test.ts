import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createKubeApi } from '#shared/kube/client.ts'
import { systemClock } from '#controller/kube/clock.ts'
import { openConnection } from '#shared/kube/connection.ts'
import { Reflector } from '#controller/kube/reflector.ts'
import type { KubeObject } from '#shared/kube/resource.ts'
import { startCluster } from '#test/helpers/cluster.ts'
import { eventually } from '#test/helpers/eventually.ts'

const cluster = await startCluster(t, { controllerManager: false, kwok: false })
const connection = openConnection({ kubeconfig: cluster.kubeconfig, userAgent: 'test' })
t.teardown(() => connection[Symbol.asyncDispose]())
const api = createKubeApi(connection)
const program = fileURLToPath(import.meta.resolve('#test/fixtures/elector-process.ts'))

type Written = KubeObject & { readonly data?: { readonly writer?: string } }

/** Starts a candidate process; resolves when it runs. */
const compete = async (name: string, fencing = 'fenced'): Promise<ChildProcess> => {
  const { NODE_OPTIONS: _, ...env } = process.env
  const command = ['-u', 'NODE_OPTIONS', process.execPath, program, cluster.kubeconfig, name, fencing]
  const child = spawn('env', command, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  t.teardown(() => void child.kill('SIGKILL'))
  await once(child, 'message')
  return child
}

/** Records the writers of the ConfigMap in order; consecutive writes of the same writer count once. */
const followWriters = async () => {
  const written = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'written' } }
  const collection = { resource: { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' }, namespace: 'default' }
  await api.remove({ ...collection, name: 'written' }).catch(() => {})
  await api.create(collection, written)
  const writers: string[] = []
  const reflector = new Reflector<Written>(
    {
      api,
      clock: systemClock,
      random: Math.random,
      changed: ({ object }) => {
        const writer = object.data?.writer
        if (writer !== undefined && writer !== writers.at(-1)) writers.push(writer)
      },
      events: { listed: () => {}, ended: () => {} },
    },
    { ...collection, fieldSelector: 'metadata.name=written' },
  )
  const until = (writer: string, withinMs: number) =>
    eventually(() => writers.at(-1) === writer, { withinMs, what: `${writer} writes` })
  return { writers, until, [Symbol.asyncDispose]: () => reflector[Symbol.asyncDispose]() }
}

const end = async (child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL') => {
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

t.test('kube election: a stopped leader releases the Lease, and a killed leader is replaced', async (t) => {
  await using writes = await followWriters()
  const one = await compete('one')
  await writes.until('one', 10_000)
  const two = await compete('two')
  await end(one, 'SIGTERM')
  await writes.until('two', 5000)
  const three = await compete('three')
  await end(two, 'SIGKILL')
  await writes.until('three', 20_000)
  t.strictSame(writes.writers, ['one', 'two', 'three'])
  await end(three, 'SIGTERM')
})

/** Freezes a leader until another leads, and thaws it; returns the writers in order. */
const freezeLeader = async (fencing: 'fenced' | 'unfenced') => {
  await using writes = await followWriters()
  const frozen = await compete('frozen', fencing)
  await writes.until('frozen', 10_000)
  const next = await compete('next')
  frozen.kill('SIGSTOP')
  await writes.until('next', 20_000)
  frozen.kill('SIGCONT')
  // The process exits after its last pending write.
  await end(frozen, 'SIGTERM')
  await end(next, 'SIGTERM')
  return writes.writers
}

t.test('kube election: a leader that was frozen and thawed does not write', async (t) => {
  t.strictSame(await freezeLeader('fenced'), ['frozen', 'next'])
})

t.test('planted fault: without a fence a thawed leader writes', async (t) => {
  const writers = await freezeLeader('unfenced')
  t.strictSame(writers.slice(0, 3), ['frozen', 'next', 'frozen'])
})
