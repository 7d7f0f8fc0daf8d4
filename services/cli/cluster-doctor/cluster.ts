import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '#local/doctor/check.ts'
import { type Env, readEnv } from '#shared/config/read-env.ts'
import { operatorSettings } from '#shared/config/settings/operator.ts'
import { createKubeApi, listPages } from '#shared/kube/client.ts'
import { type KubeAnswer, type KubeConnection, type KubeRequest, openConnection } from '#shared/kube/connection.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'

type Selected = { readonly namespace?: string | undefined; readonly labelSelector?: string }

/** What the cluster of the caller's kubeconfig shows to one look, all of whose requests end with it. */
export type Cluster = Readonly<ReturnType<typeof boundTo>>

/** Something that is wrong, or may be, and what to do about it. */
export type Trouble = { readonly detail: string; readonly advice: string }

/** What a look at one part of an installation found; `summary` is there for where nothing is wrong. */
export type Found = {
  readonly summary: string
  readonly troubles?: readonly Trouble[]
  readonly warnings?: readonly Trouble[]
}

/** What is found where one thing is wrong. */
export const failing = (detail: string, advice: string): Found => ({ summary: '', troubles: [{ detail, advice }] })

const lookMs = 20_000
const objectsMax = 10_000

/** `SHUTTERFLEET_KUBECONFIG`, else what kubectl goes by; undefined where only Kubernetes itself can give it, to a pod. */
const kubeconfigOf = (env: Env): string | undefined => {
  const { kubeconfig } = readEnv({ kubeconfig: operatorSettings.kubeconfig }, env)
  // Of several files kubectl merges what is in them; the first is the one that it writes to.
  const [first = ''] = (env['KUBECONFIG'] ?? '').split(':')
  const home = join(env['HOME'] ?? '', '.kube/config')
  return kubeconfig || first || (existsSync(home) ? home : undefined)
}

const boundTo = (connection: Pick<KubeConnection, 'send' | 'namespace'>, until: AbortSignal) => {
  const send = (request: KubeRequest) =>
    connection.send({ ...request, signal: AbortSignal.any([request.signal, until]) })
  const { get, create, list } = createKubeApi({ send })
  return {
    get,
    create,
    /** All objects of a kind, in one namespace or in all, 10,000 at most. */
    list: async <T extends KubeObject>(
      resource: Resource,
      { namespace, ...selection }: Selected = {},
    ): Promise<readonly T[]> => {
      const of = { resource, ...selection, ...(namespace !== undefined && { namespace }) }
      const items: T[] = []
      for await (const page of listPages<T>({ list }, of, () => until)) {
        items.push(...page.items)
        if (items.length >= objectsMax) break
      }
      return items
    },
    /** The answer to a GET, for at most `waitMs`. */
    read: (path: string, waitMs = lookMs): Promise<KubeAnswer> =>
      send({ method: 'GET', path, query: {}, signal: AbortSignal.timeout(waitMs) }),
    /** The namespace that the kubeconfig names. */
    namespace: connection.namespace,
  }
}

/** A connection to the cluster of the caller's kubeconfig. Throws `CONFIGURATION` where there is none. */
export const connectAsCaller = (env: Env): KubeConnection => {
  const kubeconfig = kubeconfigOf(env)
  return openConnection({ userAgent: 'shutterfleet', ...(kubeconfig && { kubeconfig }) })
}

const findingsOf = (name: string, { summary, troubles = [], warnings = [] }: Found): Finding[] => {
  const failed = troubles.map((trouble) => ({ name, ok: false, ...trouble }))
  const warned = warnings.map(({ detail, advice }) => ({ name, ok: true, detail: `warning: ${detail}`, advice }))
  return failed.length === 0 ? [{ name, ok: true, detail: summary }, ...warned] : [...failed, ...warned]
}

/** The missing right, from the API server's message: the part behind its code. */
const deniedIn = (message: string) => message.replace(/^.*?: 40[13] \w* /, '')

/** Examines a part for at most 20 s, and never throws. What the account may not read is reported as not checked. */
export const examine = async (
  connection: Pick<KubeConnection, 'send' | 'namespace'>,
  name: string,
  look: (cluster: Cluster) => Promise<Found>,
  stop: AbortSignal,
): Promise<Finding[]> => {
  try {
    return findingsOf(name, await look(boundTo(connection, AbortSignal.any([stop, AbortSignal.timeout(lookMs)]))))
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    if (outcomeOf(thrown) !== 'forbidden') {
      const advice = 'check that the API server answers `kubectl get --raw /readyz`, and retry'
      return [{ name, ok: false, detail: message, advice }]
    }
    const advice = 'ask for that right, or let somebody who has it run this'
    return [{ name, ok: false, checked: false, detail: `not checked, ${deniedIn(message)}`, advice }]
  }
}
