import { isSameJson, isPlainObject, type JsonObject } from './object.ts'

/** Values by path, as FieldsV1 names paths; its steps are joined by line breaks. */
export type Leaves = ReadonlyMap<string, unknown>

/** Paths that have an owner. */
export type Paths = ReadonlySet<string>

/** Key fields of list items by list; other lists are atomic. */
const itemKeys: Readonly<Record<string, readonly string[]>> = {
  conditions: ['type'],
  containers: ['name'],
  env: ['name'],
  imagePullSecrets: ['name'],
  ownerReferences: ['uid'],
  ports: ['containerPort', 'protocol'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
}
const itemDefaults: JsonObject = { protocol: 'TCP' }
/** Atomic objects. */
const atomic = ['selector', 'labelSelector', 'fieldRef', 'secretKeyRef', 'configMapKeyRef', 'nodeSelector']
/** Fields without an owner. */
const identity = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
]
const separator = '\n'
const itself = '.'

/** Key fields of a list's items; undefined if the list is atomic. */
const keysOfItems = (field: string): readonly string[] | undefined => itemKeys[field]

/** The key of an item of a keyed list. */
const itemKey = (keys: readonly string[], item: unknown): string => {
  const fields: JsonObject = isPlainObject(item) ? item : {}
  return JSON.stringify(Object.fromEntries(keys.map((key) => [key, fields[key] ?? itemDefaults[key]])))
}

/** All fields of an object that can have an owner. */
export const leavesOf = (object: JsonObject): Leaves => {
  const leaves = new Map<string, unknown>()
  const { apiVersion: _, kind: __, metadata, ...rest } = object
  if (isPlainObject(metadata)) {
    const decided = Object.fromEntries(Object.entries(metadata).filter(([name]) => !identity.includes(name)))
    if (Object.keys(decided).length > 0) gather(leaves, ['f:metadata'], decided)
  }
  gather(leaves, [], rest)
  return leaves
}

const gather = (target: Map<string, unknown>, path: readonly string[], tree: JsonObject) => {
  for (const [field, value] of Object.entries(tree)) {
    if (value === undefined) continue
    const here = [...path, `f:${field}`]
    const keys = keysOfItems(field)
    if (keys && Array.isArray(value)) gatherItems(target, here, { items: value, keys })
    else if (isPlainObject(value) && Object.keys(value).length > 0 && !atomic.includes(field))
      gather(target, here, value)
    else target.set(here.join(separator), value)
  }
}

const gatherItems = (
  target: Map<string, unknown>,
  path: readonly string[],
  { items, keys }: { items: readonly unknown[]; keys: readonly string[] },
) => {
  for (const item of items) {
    const here = [...path, `k:${itemKey(keys, item)}`]
    target.set([...here, itself].join(separator), true)
    if (isPlainObject(item)) gather(target, here, item)
  }
}

/** Paths whose values are different or new, and removed paths. */
export const compareLeaves = (before: Leaves, after: Leaves): { changed: Paths; removed: Paths } => ({
  changed: new Set([...after].filter(([path, value]) => !isSameJson(before.get(path), value)).map(([path]) => path)),
  removed: new Set([...before.keys()].filter((path) => !after.has(path))),
})

/** Set difference: `paths` without `others`. */
export const minus = (paths: Paths, others: Paths): Paths => new Set([...paths].filter((path) => !others.has(path)))

/** Paths as FieldsV1. */
export const treeOfPaths = (paths: Paths): JsonObject => {
  const tree: Record<string, unknown> = {}
  for (const path of paths) {
    let here = tree
    for (const step of path.split(separator)) here = (here[step] ??= {}) as Record<string, unknown>
  }
  return tree
}

const pathsByTree = new WeakMap<JsonObject, Paths>()

/** Paths of a FieldsV1, cached by identity: an entry stays the same object through many changes of its owner. */
export const pathsOfTree = (tree: JsonObject): Paths => {
  const paths = pathsByTree.get(tree) ?? walkTree(tree)
  pathsByTree.set(tree, paths)
  return paths
}

const walkTree = (tree: JsonObject): Paths => {
  const paths = new Set<string>()
  const walk = (here: JsonObject, path: readonly string[]) => {
    const steps = Object.entries(here)
    if (steps.length === 0 && path.length > 0) paths.add(path.join(separator))
    for (const [step, below] of steps) if (isPlainObject(below)) walk(below, [...path, step])
  }
  walk(tree, [])
  return paths
}

/** Removes paths from the object, and containers that become empty. */
export const withoutPaths = (object: JsonObject, paths: Paths): JsonObject =>
  [...paths].reduce((rest, path) => (without(rest, path.split(separator)) ?? {}) as JsonObject, object)

const without = (value: unknown, steps: readonly string[]): unknown => {
  const [step = '', ...rest] = steps
  if (step === itself) return undefined
  if (!step.startsWith('f:') || !isPlainObject(value)) return value
  const field = step.slice(2)
  if (!(field in value)) return value
  const { [field]: old, ...others } = value
  const left = rest.length === 0 ? undefined : withoutBelow(old, rest, field)
  if (left !== undefined) return { ...value, [field]: left }
  return Object.keys(others).length === 0 ? undefined : others
}

const withoutBelow = (value: unknown, steps: readonly string[], field: string): unknown => {
  const keys = keysOfItems(field)
  if (!keys || !Array.isArray(value)) return without(value, steps)
  const [key = '', ...rest] = steps
  const items = value.flatMap((item: unknown) => {
    if (`k:${itemKey(keys, item)}` !== key) return [item]
    const left = without(item, rest)
    return left === undefined ? [] : [left]
  })
  return items.length === 0 ? undefined : items
}

/** Merges an applied configuration into the object. Keyed lists are merged by item, other lists are replaced. */
export const mergeApplied = (live: unknown, config: unknown, field = ''): unknown => {
  const keys = keysOfItems(field)
  if (keys && Array.isArray(config)) return mergeItems(Array.isArray(live) ? live : [], config, keys)
  if (!isPlainObject(config) || atomic.includes(field)) return config
  const merged: Record<string, unknown> = isPlainObject(live) ? { ...live } : {}
  for (const [name, value] of Object.entries(config))
    if (value !== undefined) merged[name] = mergeApplied(merged[name], value, name)
  return merged
}

const mergeItems = (live: readonly unknown[], config: readonly unknown[], keys: readonly string[]): unknown[] => {
  const applied = new Map(config.map((item) => [itemKey(keys, item), item]))
  const existing = live.map((item) => {
    const key = itemKey(keys, item)
    const change = applied.get(key)
    applied.delete(key)
    return change === undefined ? item : mergeApplied(item, change)
  })
  return [...existing, ...applied.values()]
}
