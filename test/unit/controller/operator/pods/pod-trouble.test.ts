import t from 'tap'
import { isContainerStarting, troubleOf } from '#controller/operator/pods/pod-trouble.ts'
import { podObject, type PodParts } from '#test/helpers/kube-objects.ts'

const cases: readonly {
  name: string
  parts: PodParts
  startingMs?: number
  unscheduledMs?: number
  want: string | undefined
}[] = [
  { name: 'works', parts: {}, want: undefined },
  {
    name: 'has been starting for two minutes',
    parts: { ready: false, waiting: { reason: 'ContainerCreating' } },
    startingMs: 120_000,
    want: undefined,
  },
  {
    name: 'has been starting for longer',
    parts: { ready: false, waiting: { reason: 'ContainerCreating' } },
    startingMs: 120_001,
    want: 'not-starting',
  },
  {
    name: "waits for others' containers for longer",
    parts: { ready: false, waiting: { reason: 'PodInitializing' } },
    startingMs: 120_001,
    want: 'not-starting',
  },
  {
    name: 'waits for a sidecar that gets no image',
    parts: { ready: false, waiting: { reason: 'PodInitializing' }, sidecarWaiting: { reason: 'ImagePullBackOff' } },
    want: 'image-pull',
  },
  {
    name: 'works beside a sidecar that crashes',
    parts: { sidecarWaiting: { reason: 'CrashLoopBackOff' } },
    want: undefined,
  },
  {
    name: 'has long had a node that reports no status',
    parts: { ready: false, isStatusUnknown: true },
    startingMs: 120_001,
    want: 'not-starting',
  },
  {
    name: 'has long waited for its image, as its node reports',
    parts: { ready: false, waiting: { reason: 'ErrImagePull' } },
    startingMs: 120_001,
    want: 'image-pull',
  },
  {
    name: 'waits for a node',
    parts: { ready: false, unschedulable: 'no room' },
    unscheduledMs: 300_000,
    want: undefined,
  },
  {
    name: 'has no node',
    parts: { ready: false, unschedulable: 'no room' },
    unscheduledMs: 300_001,
    want: 'unschedulable',
  },
  { name: 'gets no image', parts: { ready: false, waiting: { reason: 'ErrImagePull' } }, want: 'image-pull' },
  {
    name: 'waits to get its image',
    parts: { ready: false, waiting: { reason: 'ImagePullBackOff' } },
    want: 'image-pull',
  },
  { name: 'names no image', parts: { ready: false, waiting: { reason: 'InvalidImageName' } }, want: 'image-pull' },
  { name: 'finds no image', parts: { ready: false, waiting: { reason: 'ErrImageNeverPull' } }, want: 'image-pull' },
  {
    name: 'crashes again and again',
    parts: { ready: false, waiting: { reason: 'CrashLoopBackOff' } },
    want: 'crash-looping',
  },
  {
    name: 'cannot be set up',
    parts: { ready: false, waiting: { reason: 'CreateContainerConfigError' } },
    want: 'config-error',
  },
  {
    name: 'cannot be created',
    parts: { ready: false, waiting: { reason: 'CreateContainerError' } },
    want: 'config-error',
  },
  { name: 'cannot be run', parts: { ready: false, waiting: { reason: 'RunContainerError' } }, want: 'config-error' },
  { name: 'has just crashed', parts: { ready: false, terminated: { exitCode: 70 } }, want: 'crash-looping' },
  { name: 'has just ended well', parts: { ready: false, terminated: { exitCode: 0 } }, want: undefined },
  {
    name: 'was restarted and is not ready yet',
    parts: { ready: false, restarts: 1, readySince: '2026-01-01T00:00:05Z', runningSince: '2026-01-01T00:00:05Z' },
    want: 'crash-looping',
  },
  { name: 'was restarted once and works', parts: { restarts: 1 }, want: undefined },
  {
    name: 'was restarted once, worked, and drains now',
    parts: { ready: false, restarts: 1, runningSince: '2026-01-01T00:00:05Z', readySince: '2026-01-01T00:07:00Z' },
    want: undefined,
  },
  {
    name: 'is terminating',
    parts: { ready: false, stopping: true, waiting: { reason: 'CrashLoopBackOff' } },
    want: undefined,
  },
  { name: 'has ended', parts: { ready: false, phase: 'Failed', terminated: { exitCode: 1 } }, want: undefined },
]

const provisionMs = 300_000
const justSeen = { unscheduledMs: 0, startingMs: 0 }

for (const { name, parts, startingMs = 0, unscheduledMs = 0, want } of cases)
  t.test(`pod trouble: a pod that ${name}: ${want ?? 'no trouble'}`, async (t) => {
    t.equal(troubleOf(podObject('a', parts), { unscheduledMs, startingMs }, provisionMs)?.trouble, want)
  })

t.test("pod trouble: Kubernetes' own message is kept", async (t) => {
  t.equal(
    troubleOf(
      podObject('a', { ready: false, unschedulable: '0/1 nodes' }),
      { ...justSeen, unscheduledMs: 300_001 },
      provisionMs,
    )?.message,
    '0/1 nodes',
  )
  const waiting = { reason: 'ErrImagePull', message: 'not found' }
  t.equal(troubleOf(podObject('a', { ready: false, waiting }), justSeen, provisionMs)?.message, 'not found')
  t.equal(
    troubleOf(podObject('a', { ready: false, waiting: { reason: 'ErrImagePull' } }), justSeen, provisionMs)?.message,
    'ErrImagePull',
  )
})

const messageOf = (parts: PodParts) =>
  troubleOf(podObject('a', { ready: false, ...parts }), justSeen, provisionMs)?.message

t.test(
  'pod trouble: a worker that cannot start reports what it wrote itself, such as the setting to change',
  async (t) => {
    const message = 'AppArmor denies mounts'
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 5m0s' }
    t.equal(messageOf({ terminated: { exitCode: 78, message } }), message)
    t.equal(messageOf({ waiting, lastMessage: message }), message)
    t.equal(messageOf({ restarts: 1, readySince: '2026-01-01T00:00:05Z', lastMessage: message }), message)
    t.equal(messageOf({ waiting }), 'back-off 5m0s')
    t.equal(messageOf({ terminated: { exitCode: 70 } }), 'the worker ended with code 70')
  },
)

t.test('pod trouble: a node without what a pod needs, such as the AppArmor profile, is named', async (t) => {
  const waiting = { reason: 'CreateContainerError', message: 'apparmor profile not found shutterfleet-worker' }
  t.equal(messageOf({ waiting, node: 'a1' }), `node a1: ${waiting.message}`)
})

t.test(
  'pod trouble: a pod that its node has not started reports the duration, and a command to inspect it',
  async (t) => {
    const pod = podObject('a', { ready: false, waiting: { reason: 'ContainerCreating' } })
    t.match(
      troubleOf(pod, { ...justSeen, startingMs: 120_001 }, provisionMs)?.message,
      /ContainerCreating for more than 120 s.*kubectl describe pod a/,
    )
  },
)

t.test('pod trouble: the container is starting once its pod has a node, until it runs or has a trouble', async (t) => {
  t.ok(isContainerStarting(podObject('a', { ready: false, waiting: { reason: 'ContainerCreating' } })))
  t.ok(isContainerStarting(podObject('a', { ready: false, isStatusUnknown: true })))
  for (const parts of [
    {},
    { ready: false },
    { ready: false, unschedulable: 'no room' },
    { ready: false, waiting: { reason: 'ImagePullBackOff' } },
    { ready: false, phase: 'Failed', isStatusUnknown: true },
  ] satisfies PodParts[]) {
    t.notOk(isContainerStarting(podObject('a', parts)), JSON.stringify(parts))
  }
})
