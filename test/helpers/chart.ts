import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const helmMs = 60_000
const outputBytesMax = 16_000_000

/** The versions of Helm that the chart supports. */
export const helms = ['helm3', 'helm4'] as const

export const chartFolder = join(root, 'charts/shutterfleet')
const ciFolder = join(chartFolder, 'ci')
/** Kubernetes version for rendering without a cluster. */
export const kubeVersion = '1.36.0'

/** A Kubernetes object in a chart. */
export type ChartObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly [field: string]: unknown
}

/**
 * Runs Helm from scripts/build-helm.sh, by default for at most a minute; returns its stdout, and rejects
 * with its stderr if it fails.
 */
export const helm = async (
  which: (typeof helms)[number],
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  withinMs = helmMs,
): Promise<string> => {
  const { stdout } = await run(join(root, '.tools/helm', which), args, {
    timeout: withinMs,
    maxBuffer: outputBytesMax,
    // Ends before its garbage is worth a collection, which takes two fifths of its time.
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', HELM_CACHE_HOME: '/tmp', GOGC: 'off', ...env },
  })
  return stdout
}

/** The values files of the chart, by their names without `-values.yaml`. */
export const ciNames = async (): Promise<readonly string[]> =>
  (await readdir(ciFolder)).map((name) => name.replace(/-values\.yaml$/, '')).toSorted()

export const ciPath = (name: string): string => join(ciFolder, `${name}-values.yaml`)

const ciValues = async (name: string): Promise<Values> => parse(await readFile(ciPath(name), 'utf8')) as Values

/** Renders the chart as release `shots` in a namespace of that name. */
export const renderText = (
  valuesFile: string,
  which: (typeof helms)[number] = 'helm4',
  more: readonly string[] = [],
  chart = chartFolder,
): Promise<string> =>
  helm(which, [
    ...['template', 'shots', chart, '--namespace=shots', `--kube-version=${kubeVersion}`],
    ...[`--values=${valuesFile}`, ...more],
  ])

/** What Helm prints of values that it refuses, by default beside the smallest ones; `rendered` if it takes them. */
export const refusalOf = (args: readonly string[], file = ciPath('minimal')): Promise<string> =>
  renderText(file, 'helm4', args).then(
    () => 'rendered',
    ({ stderr }: { stderr: string }) => stderr,
  )

/** The objects of a rendered chart. */
export const objectsOf = (text: string): readonly ChartObject[] =>
  parseAllDocuments(text).flatMap((document) => {
    const object = document.toJSON() as ChartObject | null
    return object === null ? [] : [object]
  })

type Values = { readonly [name: string]: unknown }

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const at = (values: unknown, path: readonly string[]): unknown =>
  path.reduce((each, name) => (isValues(each) ? each[name] : undefined), values)

const without = (values: Values, [name = '', ...below]: readonly string[]): Values => {
  const { [name]: value, ...others } = values
  return below.length > 0 && isValues(value) ? { ...others, [name]: without(value, below) } : others
}

/** The values that no file of `ci/` sets with an effect on the rendered `chart`. `folder` is for temporary files. */
export const unusedValues = async (
  paths: readonly (readonly string[])[],
  { chart, folder }: { readonly chart: string; readonly folder: string },
): Promise<readonly string[]> => {
  const render = (file: string) => renderText(file, 'helm4', [], chart)
  const files = await Promise.all((await ciNames()).map(async (name) => ({ name, values: await ciValues(name) })))
  const rendered = new Map(
    await Promise.all(files.map(async ({ name }) => [name, await render(ciPath(name))] as const)),
  )
  const isUsed = async (path: readonly string[]): Promise<boolean> => {
    for (const { name, values } of files.filter((file) => at(file.values, path) !== undefined)) {
      const file = join(folder, `${path.join('.')}.yaml`)
      await writeFile(file, JSON.stringify(without(values, path)))
      // Rendering fails without a required value.
      const withoutValue = await render(file).catch(() => '')
      if (withoutValue !== rendered.get(name)) return true
    }
    return false
  }
  const unused: string[] = []
  for (const path of paths) if (!(await isUsed(path))) unused.push(path.join('.'))
  return unused
}

type ChartContainer = {
  readonly name: string
  readonly image?: string
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
  readonly volumeMounts: readonly { readonly mountPath: string }[]
}

/** The fields of a pod that tests read. */
export type ChartPod = {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly serviceAccountName?: string
    readonly containers: readonly [ChartContainer, ...ChartContainer[]]
    readonly initContainers?: readonly ChartContainer[]
    readonly volumes: readonly {
      readonly name: string
      readonly persistentVolumeClaim?: { readonly claimName: string }
      readonly projected?: {
        readonly sources: readonly {
          readonly secret?: { readonly name: string; readonly items?: readonly { key: string; path: string }[] }
        }[]
      }
    }[]
  }
}

const isPod = (object: ChartObject): object is ChartObject & ChartPod => object.kind === 'Pod'

/** The pods and pod templates in a chart's objects. */
export const podsOf = (objects: readonly ChartObject[]): readonly ChartPod[] =>
  objects.flatMap((object): readonly ChartPod[] => {
    if (isPod(object)) return [object]
    const { template, volumeClaimTemplates: claims = [] } = (object['spec'] ?? {}) as {
      readonly template?: ChartPod
      readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[]
    }
    if (!template || object.kind === 'BrowserPool') return []
    const claimed = claims.map(({ metadata: { name } }) => ({ name, persistentVolumeClaim: { claimName: name } }))
    return [{ ...template, spec: { ...template.spec, volumes: [...template.spec.volumes, ...claimed] } }]
  })

/** Files with the settings of a pod, by setting name: Secret and key. */
export const filesOf = ({ spec }: ChartPod) =>
  spec.volumes
    .flatMap(({ name, projected }) => (name === 'secrets' ? (projected?.sources ?? []) : []))
    .flatMap(({ secret }) => (secret ? [secret] : []))
    .flatMap(({ name, items = [] }) => items.map(({ key, path }) => ({ secret: name, key, path })))
