import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readConfig as readOperator } from '#controller/operator/config.ts'
import { workerPod } from '#controller/operator/manifests/worker-pod.ts'
import { chromiumPath } from './bare-browser.ts'
import { type ChartObject, type ChartPod, filesOf, podsOf } from './chart.ts'
import { endWithParent } from './cluster-processes.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { nodeEnv } from './node-env.ts'
import { testProgramPath } from './test-program-path.ts'

const root = resolve(import.meta.dirname, '../..')
const logCharsMax = 20_000

type Test = { readonly teardown: (end: () => unknown) => void }
type Texts = Readonly<Record<string, string>>

/** A rendered chart, and what takes the place of its cluster. */
export type ChartPlaces = {
  readonly objects: readonly ChartObject[]
  /** Folder for the files and volumes of containers. */
  readonly folder: string
  /** Replaces addresses and paths of the cluster with local ones. */
  readonly here: (text: string) => string
  /** Settings of a container with the ports on which it listens. */
  readonly ports: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** The content of a key of a Secret. */
  readonly secretText: (secret: string, key: string) => string | undefined
}

/** Runs the command of a container until the end of the test; resolves when it is ready. */
const runWith = (t: Test, ports: ChartPlaces['ports']) => async (name: string, args: readonly string[], env: Texts) => {
  const port = await freePort()
  const settings = Object.fromEntries(
    Object.entries({ ...ports[name], PROBE_PORT: port }).map(([each, value]) => [`SHUTTERFLEET_${each}`, `${value}`]),
  )
  const [, program = ''] = args
  const bundled = testProgramPath(program.replace(/^services\/|\.js$/g, ''))
  const child = spawn('setpriv', [...endWithParent, process.execPath, bundled], {
    cwd: root,
    env: { ...nodeEnv, ...env, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    // It may write into a folder of the test until then.
    await once(child, 'exit')
  })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-logCharsMax)
  })
  const isReady = async () => child.exitCode !== null || (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  await eventually(isReady, { withinMs: 60_000, what: `${name} is ready` }).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${log}`)
  })
  if (child.exitCode !== null) throw new Error(`${name} ended: ${log}`)
}

/** Runs containers of a rendered chart as processes of this machine, with the environment that the chart gives them. */
export const chartProcesses = (t: Test, { objects, folder, here, ports, secretText }: ChartPlaces) => {
  const podsByName = new Map(
    podsOf(objects).map((pod) => [pod.metadata.labels['app.kubernetes.io/component'] ?? '', pod]),
  )
  const podOf = (name: string): ChartPod => {
    const pod = podsByName.get(name)
    if (!pod) throw new Error(`the chart has no pod ${name}`)
    return pod
  }

  /** The environment of a container; writes its files and volumes to a separate folder. */
  const environmentOf = async (
    name: string,
    env: readonly { readonly name: string; readonly value?: string }[],
    files: Texts,
  ) => {
    const own = join(folder, name)
    await mkdir(join(own, 'images'), { recursive: true })
    for (const [file, content] of Object.entries(files))
      await writeFile(join(own, file), here(content), { mode: 0o600 })
    const texts = env.map((each) => [each.name, here(each.value ?? name)] as const)
    return Object.fromEntries(
      texts.map(([variable, value]) => [
        variable,
        value.replace('/run/secrets/shutterfleet', own).replace(/^\/images$/, join(folder, 'gateway/images')),
      ]),
    )
  }
  const environmentIn = (name: string) => {
    const pod = podOf(name)
    const contents = filesOf(pod).map(({ secret, key, path }) => [path, secretText(secret, key)])
    return environmentOf(name, pod.spec.containers[0].env ?? [], Object.fromEntries(contents))
  }

  const run = runWith(t, ports)
  return {
    podOf,
    environmentIn,
    /** Starts a service of the chart. */
    start: async (name: string) => run(name, podOf(name).spec.containers[0].args, await environmentIn(name)),
    /** Starts a worker with the pod spec that the controller creates, and the files of its Secret. */
    startWorker: async (secret: Texts) => {
      const settings = readOperator(await environmentIn('controller'))
      const { spec } = workerPod({
        ...{ pool: 'standard', browserPool: 'standard', template: {}, slots: 1, program: 'main', graceSeconds: 10 },
        settings,
      })
      const [container] = spec.containers
      const items = spec.volumes?.find(({ name }) => name === 'secrets')?.secret?.items ?? []
      const files = items.map(({ key, path }) => [path, secret[key] ?? ''])
      const env = await environmentOf('worker-1', container?.env ?? [], Object.fromEntries(files))
      await run('worker', container?.args ?? [], { ...env, SHUTTERFLEET_CHROMIUM: chromiumPath, TMPDIR: folder })
    },
  }
}
