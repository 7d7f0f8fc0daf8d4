import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { clusterFiles, type ClusterPlace, controllerUser } from './cluster-programs.ts'

/** A request of the controller, allowed or denied. */
export type ControllerRequest = {
  readonly verb: string
  /** Resource in RBAC's notation: `deployments.apps/scale`. */
  readonly resource: string
  readonly name: string | undefined
  /** Time of arrival, in milliseconds since 1970. */
  readonly atMs: number
  /** HTTP status of the response. */
  readonly status: number | undefined
}

/** The fields of an audit event that are read. */
type AuditEvent = {
  readonly stage: string
  readonly verb: string
  readonly requestReceivedTimestamp: string
  readonly responseStatus?: { readonly code: number }
  readonly objectRef?: {
    readonly apiGroup?: string
    readonly resource?: string
    readonly subresource?: string
    readonly name?: string
  }
}

/** Writes the policy that audits only the controller's requests. */
export const writeAuditPolicy = async (place: ClusterPlace): Promise<void> => {
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', users: [controllerUser] }, { level: 'None' }],
  }
  await writeFile(clusterFiles(place).auditPolicy, JSON.stringify(policy))
}

/** All resource requests of the controller so far, in the order of their responses; a watch at its start. */
export const controllerRequests = async (place: ClusterPlace): Promise<ControllerRequest[]> => {
  const { audit } = clusterFiles(place)
  if (!existsSync(audit)) return []
  const requests: ControllerRequest[] = []
  const file = await open(audit)
  for await (const line of file.readLines()) {
    const { stage, verb, objectRef, requestReceivedTimestamp, responseStatus } = JSON.parse(line) as AuditEvent
    const { resource, apiGroup = '', subresource = '', name } = objectRef ?? {}
    // Only long-running requests have a separate start event.
    if (!resource || (verb === 'watch' && stage === 'ResponseComplete')) continue
    requests.push({
      verb,
      resource: `${resource}${apiGroup && `.${apiGroup}`}${subresource && `/${subresource}`}`,
      name,
      atMs: Date.parse(requestReceivedTimestamp),
      status: responseStatus?.code,
    })
  }
  return requests
}

/** If a folder is given, writes the controller's requests to a new file in it, each verb of a resource once. */
export const writeUsedVerbs = async (place: ClusterPlace, folder: string | undefined): Promise<void> => {
  if (folder === undefined) return
  const used = new Set(
    (await controllerRequests(place)).flatMap(({ verb, resource, status }) => {
      // Applying an object that does not exist creates it, which requires both permissions.
      const verbs = verb === 'patch' && status === 201 ? [verb, 'create'] : [verb]
      return verbs.map((each) => `${each} ${resource}\n`)
    }),
  )
  if (used.size > 0) await writeFile(join(folder, randomUUID()), [...used].toSorted().join(''))
}
