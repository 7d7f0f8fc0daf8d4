import { loadavg } from 'node:os'
import type { WithTeardown } from '#test/helpers/cluster.ts'
import { addLocalVolumes } from '#test/helpers/nodes/local-volumes.ts'
import { startNodeCluster } from '#test/helpers/nodes/node-cluster.ts'
import { startOutsideServices } from '#test/helpers/nodes/outside-services.ts'
import { evaluationOf, prepareRelease, type Release, releaseOf } from '#test/helpers/nodes/release.ts'
import { burstPool, replayNodeBurst, type NodeBurst } from './replay-node-burst.ts'
import { untilWorkers } from '#test/helpers/nodes/workers.ts'

const rounds = 5
/** The least times after which the last worker goes, so that rounds follow each other. */
const fromZero = {
  autoscaling: { minReplicas: 0, maxReplicas: 2, cooldownSeconds: 10 },
  scaleDown: { stabilizationWindowSeconds: 1, periodSeconds: 1 },
}

/** Seconds that something took each time, and how loaded the machine was meanwhile. */
export type Measured = { readonly seconds: readonly number[]; readonly load: number }

/** What `measureNodes` measures. */
export type NodeTimes = Readonly<Record<'evaluation' | 'release' | 'zero' | 'proxied' | 'spare', Measured>> & {
  readonly burst: NodeBurst
}

/** Runs `act` `times` times, each after `prepare`, which does not count. */
const measure = async (
  times: number,
  prepare: () => Promise<unknown>,
  act: (round: number) => Promise<void>,
): Promise<Measured> => {
  const seconds: number[] = []
  for (let round = 0; round < times; round += 1) {
    await prepare()
    const startedAt = performance.now()
    await act(round)
    seconds.push((performance.now() - startedAt) / 1000)
  }
  return { seconds, load: loadavg()[0] ?? 0 }
}

const capture = async (release: Release, parameters: object): Promise<void> => {
  const response = await release.request('/v1/screenshots/capture', parameters)
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  await response.arrayBuffer()
}

/** Installs the chart on two nodes with its images, as evaluation and with services outside of it, and captures small pages. */
export const measureNodes = async (t: WithTeardown): Promise<NodeTimes> => {
  const cluster = await startNodeCluster(t, { count: 2 })
  const outside = await startOutsideServices(cluster.network)
  t.teardown(async () => outside[Symbol.asyncDispose]())
  await addLocalVolumes(cluster)

  const install = (release: Release, secrets: Parameters<typeof prepareRelease>[2]) =>
    measure(
      1,
      () => prepareRelease(cluster, release.namespace, secrets),
      async () => {
        await release.deploy('install')
        await capture(release, { url: outside.page(`first-of-${release.name}`) })
      },
    )
  const trial = evaluationOf(cluster)
  const evaluation = await install(trial, {})
  await trial.helm('uninstall', '--wait', '--timeout=4m')
  const shots = releaseOf(cluster, outside)
  const release = await install(shots, outside.secrets)

  await shots.deploy('upgrade', { pools: { standard: { spec: fromZero } } })
  const isEmpty = () => untilWorkers(cluster, shots, (workers) => workers.length === 0)
  const zero = await measure(rounds, isEmpty, (round) => capture(shots, { url: outside.page(`zero-${round}`) }))

  const { url, proxy } = outside.proxied
  const proxiedCapture = (name: string) => (round: number) => capture(shots, { url: `${url}?${name}-${round}`, proxy })
  const proxied = await measure(rounds, async () => {}, proxiedCapture('alone'))
  await shots.deploy('upgrade', { pools: { standard: { spec: fromZero }, proxied: { spec: { jobs: { spares: 1 } } } } })
  const used = new Set<string>()
  const untilSpare = async () => {
    const isWarm = (workers: Awaited<ReturnType<typeof untilWorkers>>) =>
      workers.some(({ name, isReady }) => isReady && !used.has(name))
    for (const { name } of await untilWorkers(cluster, shots, isWarm, 'proxied')) used.add(name)
  }
  const spare = await measure(rounds, untilSpare, proxiedCapture('spare'))
  await shots.deploy('upgrade', { pools: { standard: { spec: burstPool } } })
  const burst = await replayNodeBurst(cluster, shots, outside.page('burst'))
  return { evaluation, release, zero, proxied, spare, burst }
}
