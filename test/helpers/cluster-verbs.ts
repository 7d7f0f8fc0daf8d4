import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { clusterFiles, type ClusterPlace, controllerUser } from './cluster-programs.ts'

/** A request of the controller, allowed or not. */
export type Asked = {
  readonly verb: string
  /** What it was about, as RBAC names it: `deployments.apps/scale`. */
  readonly resource: string
  readonly name: string | undefined
  /** Calendar time at which it came. */
  readonly atMs: number
  /** HTTP status of the answer. */
  readonly status: number | undefined
}

/** The part of an audit event that is read. */
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

/** Has kube-apiserver write down what the controller asks for, and nothing of anybody else. */
export const writeAuditPolicy = async (place: ClusterPlace): Promise<void> => {
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', users: [controllerUser] }, { level: 'None' }],
  }
  await writeFile(clusterFiles(place).auditPolicy, JSON.stringify(policy))
}

/** All requests of the controller about objects so far, in the order in which they were answered; a watch when it began. */
export const requestedReplicas = async (place: ClusterPlace): Promise<Asked[]> => {
  const { audit } = clusterFiles(place)
  if (!existsSync(audit)) return []
  const asked: Asked[] = []
  const file = await open(audit)
  for await (const line of file.readLines()) {
    const { stage, verb, objectRef, requestReceivedTimestamp, responseStatus } = JSON.parse(line) as AuditEvent
    const { resource, apiGroup = '', subresource = '', name } = objectRef ?? {}
    // Only what lasts has a beginning of its own.
    if (!resource || (verb === 'watch' && stage === 'ResponseComplete')) continue
    asked.push({
      verb,
      resource: `${resource}${apiGroup && `.${apiGroup}`}${subresource && `/${subresource}`}`,
      name,
      atMs: Date.parse(requestReceivedTimestamp),
      status: responseStatus?.code,
    })
  }
  return asked
}

/** Leaves what the controller asked for in a file of its own, each verb of a resource once, where a folder is given. */
export const keepVerbs = async (place: ClusterPlace, folder: string | undefined): Promise<void> => {
  if (folder === undefined) return
  const used = new Set(
    (await requestedReplicas(place)).flatMap(({ verb, resource, status }) => {
      // What is applied and does not exist yet is created, which takes both rights.
      const verbs = verb === 'patch' && status === 201 ? [verb, 'create'] : [verb]
      return verbs.map((each) => `${each} ${resource}\n`)
    }),
  )
  if (used.size > 0) await writeFile(join(folder, randomUUID()), [...used].toSorted().join(''))
}
