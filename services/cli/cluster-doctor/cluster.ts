import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '#local/doctor/check.ts'
import { type Env, readEnv } from '#shared/config/read-env.ts'
import { operatorSettings } from '#shared/config/settings/operator.ts'
import { createKubeApi, listPages } from '#shared/kube/client.ts'
import { type KubeResponse, type KubeConnection, type KubeRequest, openConnection } from '#shared/kube/connection.ts'
import { outcomeOf } from '#shared/kube/kube-error.ts'
import type { KubeObject, Resource } from '#shared/kube/resource.ts'

type Selected = { readonly namespace?: string | undefined; readonly labelSelector?: string }

/** Read access to the cluster for one check; its signal aborts all requests. */
export type Cluster = Readonly<ReturnType<typeof createCluster>>

/** A fault, or a possible one, and what to do about it. */
export type Problem = { readonly detail: string; readonly advice: string }

/** The result of checking one part of an installation; `summary` is shown if there are no problems. */
export type PartResult = {
  readonly summary: string
  readonly problems?: readonly Problem[]
  readonly warnings?: readonly Problem[]
}

/** A result with one problem. */
export const failing = (detail: string, advice: string): PartResult => ({ summary: '', problems: [{ detail, advice }] })

const checkMs = 20_000
const objectsMax = 10_000

/** `SHUTTERFLEET_KUBECONFIG`, else the kubeconfig of kubectl; undefined if there is none, as in a pod. */
const findKubeconfig = (env: Env): string | undefined => {
  const { kubeconfig } = readEnv({ kubeconfig: operatorSettings.kubeconfig }, env)
  // kubectl merges several files; only the first, to which it writes, is read here.
  const [first = ''] = (env['KUBECONFIG'] ?? '').split(':')
  const home = join(env['HOME'] ?? '', '.kube/config')
  return kubeconfig || first || (existsSync(home) ? home : undefined)
}

const createCluster = (connection: Pick<KubeConnection, 'send' | 'namespace'>, until: AbortSignal) => {
  const send = (request: KubeRequest) =>
    connection.send({ ...request, signal: AbortSignal.any([request.signal, until]) })
  const { get, create, list } = createKubeApi({ send })
  return {
    get,
    create,
    /** Objects of a kind in one namespace or in all. Stops after the page that reaches 10,000. */
    list: async <T extends KubeObject>(
      resource: Resource,
      { namespace, ...selection }: Selected = {},
    ): Promise<readonly T[]> => {
      const collection = { resource, ...selection, ...(namespace !== undefined && { namespace }) }
      const items: T[] = []
      for await (const page of listPages<T>({ list }, collection, () => until)) {
        items.push(...page.items)
        if (items.length >= objectsMax) break
      }
      return items
    },
    /** Sends a GET with a timeout of `waitMs`. */
    read: (path: string, waitMs = checkMs): Promise<KubeResponse> =>
      send({ method: 'GET', path, query: {}, signal: AbortSignal.timeout(waitMs) }),
    namespace: connection.namespace,
  }
}

/** Connects to the cluster of the caller's kubeconfig. Throws `CONFIGURATION` if there is none. */
export const connectAsCaller = (env: Env): KubeConnection => {
  const kubeconfig = findKubeconfig(env)
  return openConnection({ userAgent: 'shutterfleet', ...(kubeconfig && { kubeconfig }) })
}

const toFindings = (name: string, { summary, problems = [], warnings = [] }: PartResult): Finding[] => {
  const failed = problems.map((problem) => ({ name, ok: false, ...problem }))
  const warned = warnings.map(({ detail, advice }) => ({ name, ok: true, detail: `warning: ${detail}`, advice }))
  return failed.length === 0 ? [{ name, ok: true, detail: summary }, ...warned] : [...failed, ...warned]
}

/** The missing right: the API server's message without everything up to the status code. */
const missingRightIn = (message: string) => message.replace(/^.*?: 40[13] \w* /, '')

/** Runs one check for at most 20 s; never throws. A check that the account has no rights for is reported as not checked. */
export const examine = async (
  connection: Pick<KubeConnection, 'send' | 'namespace'>,
  name: string,
  check: (cluster: Cluster) => Promise<PartResult>,
  stop: AbortSignal,
): Promise<Finding[]> => {
  try {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(checkMs)])
    return toFindings(name, await check(createCluster(connection, signal)))
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    if (outcomeOf(thrown) !== 'forbidden') {
      const advice = 'check that the API server answers `kubectl get --raw /readyz`, and retry'
      return [{ name, ok: false, detail: message, advice }]
    }
    const advice = 'ask an administrator to grant this permission, or to run the command'
    return [{ name, ok: false, checked: false, detail: `not checked, ${missingRightIn(message)}`, advice }]
  }
}
