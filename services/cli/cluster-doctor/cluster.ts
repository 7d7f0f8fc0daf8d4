import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { Finding } from '#local/doctor/check.ts'
import { type Env, readEnv } from '#shared/config/read-env.ts'
import { knownNames } from '#shared/config/settings/all.ts'
import { operatorSettings } from '#shared/config/settings/operator.ts'
import { createKubeApi, type KubeApi, type Selection } from '#shared/kube/client.ts'
import { type KubeConnection, openConnection } from '#shared/kube/connection.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { Collection, KubeObject } from '#shared/kube/resource.ts'

/** The cluster that the kubeconfig of the caller leads to. */
export type Cluster = {
  readonly api: Pick<KubeApi, 'get' | 'list' | 'create'>
  readonly send: KubeConnection['send']
  /** The namespace that the kubeconfig names. */
  readonly namespace: string
}

/** Something that is wrong, or may be, and what to do about it. */
export type Trouble = { readonly detail: string; readonly advice: string }

/** What a look at one part of an installation found; `summary` is there for where nothing is wrong. */
export type Found = {
  readonly summary: string
  readonly troubles?: readonly Trouble[]
  readonly warnings?: readonly Trouble[]
}

/** One part of an installation; `look` rejects where it cannot be read. */
export type Part = { readonly name: string; readonly look: (signal: AbortSignal) => Promise<Found> }

const lookMs = 20_000
const pageObjects = 500
const pagesMax = 20

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/** `SHUTTERFLEET_KUBECONFIG`, else what kubectl goes by; undefined where only Kubernetes itself can give it, to a pod. */
const kubeconfigOf = async (env: Env): Promise<string | undefined> => {
  const { kubeconfig } = readEnv({ kubeconfig: operatorSettings.kubeconfig }, env, knownNames)
  // Of several files kubectl merges what is in them; the first is the one that it writes to.
  const [first = ''] = (env['KUBECONFIG'] ?? '').split(':')
  const home = join(env['HOME'] ?? '', '.kube/config')
  return kubeconfig || first || ((await exists(home)) ? home : undefined)
}

/** Runs `work` with the cluster of the caller's kubeconfig. Throws `CONFIGURATION` where there is none. */
export const withCallersCluster = async <T>(env: Env, work: (cluster: Cluster) => Promise<T>): Promise<T> => {
  const kubeconfig = await kubeconfigOf(env)
  await using connection = openConnection({ userAgent: 'shutterfleet', ...(kubeconfig && { kubeconfig }) })
  return await work({ api: createKubeApi(connection), send: connection.send, namespace: connection.namespace })
}

/** All objects of a collection, 10,000 at most. */
export const listAll = async <T extends KubeObject>(
  { api }: Pick<Cluster, 'api'>,
  of: Collection,
  signal: AbortSignal,
  selection: Selection = {},
): Promise<readonly T[]> => {
  const items: T[] = []
  let continueAt: string | undefined
  for (let page = 0; page < pagesMax; page += 1) {
    const query = { ...selection, limit: pageObjects, ...(continueAt !== undefined && { continueAt }) }
    const read = await api.list<T>(of, query, signal)
    items.push(...read.items)
    continueAt = read.continueAt
    if (continueAt === undefined) break
  }
  return items
}

const findingsOf = (name: string, { summary, troubles = [], warnings = [] }: Found): Finding[] => {
  const failed = troubles.map((trouble) => ({ name, ok: false, ...trouble }))
  const warned = warnings.map(({ detail, advice }) => ({ name, ok: true, detail: `warning: ${detail}`, advice }))
  return failed.length === 0 ? [{ name, ok: true, detail: summary }, ...warned] : [...failed, ...warned]
}

/** The missing right, from the API server's message: the part behind its code. */
const deniedIn = (message: string) => message.replace(/^.*?: 40[13] \w* /, '')

/** Looks at a part for at most 20 s, and never throws. What the account may not read is not checked, and said. */
export const examine = async ({ name, look }: Part, stop: AbortSignal): Promise<Finding[]> => {
  try {
    return findingsOf(name, await look(AbortSignal.any([stop, AbortSignal.timeout(lookMs)])))
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    if (outcomeOf(thrown) !== 'forbidden') {
      const advice = 'look whether the API server answers `kubectl get --raw /readyz`, and try again'
      return [{ name, ok: false, detail: message, advice }]
    }
    const advice = 'ask for that right, or let somebody who has it run this'
    return [{ name, ok: false, checked: false, detail: `not checked, ${deniedIn(message)}`, advice }]
  }
}
