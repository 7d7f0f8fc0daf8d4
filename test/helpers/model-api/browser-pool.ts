import { type TSchema, Type } from 'typebox'
import { createValidator } from '#shared/capture/check-schema.ts'
import { browserPools, browserPoolSpec } from '#shared/kube/browser-pool.ts'
import type { Kind } from './kind.ts'
import { isSameJson, isPlainObject, type Stored } from './object.ts'
import { statusError } from './status-error.ts'

type Schema = TSchema & {
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

/** Applies a schema's defaults and prunes unknown fields, as kube-apiserver does for custom resources. */
const applyDefaultsAndPrune = (schema: TSchema, input: unknown): unknown => {
  const { properties, items, default: fallback } = schema as Schema
  const value = input === undefined ? fallback : input
  if (Array.isArray(value) && items) return value.map((item) => applyDefaultsAndPrune(items, item))
  if (!isPlainObject(value) || !properties) return value
  const filled = Object.entries(properties).map(
    ([name, each]) => [name, applyDefaultsAndPrune(each, value[name])] as const,
  )
  return Object.fromEntries(filled.filter(([, each]) => each !== undefined))
}

const problemOf = createValidator(Type.Object({ spec: browserPoolSpec }))

/** The kind BrowserPool, from the schema that also generates its CustomResourceDefinition; without the CEL rules. */
export const browserPoolKind: Kind = {
  ...browserPools,
  resource: `${browserPools.apiVersion}/${browserPools.plural}`,
  hasStatus: true,
  hasScale: true,
  isCustom: true,
  isNewGeneration: (before, after) => !isSameJson(before['spec'], after['spec']),
  applyDefaults: (pool) => ({ ...pool, spec: applyDefaultsAndPrune(browserPoolSpec, pool['spec']) }),
  check: (pool: Stored) => {
    const problem = problemOf({ spec: pool['spec'] })
    if (!problem) return
    const { name } = pool.metadata
    throw statusError(422, 'Invalid', `BrowserPool "${name}" is invalid: ${problem.pointer} ${problem.message}`)
  },
}
