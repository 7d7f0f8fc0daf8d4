import {
  compareLeaves,
  type Leaves,
  leavesOf,
  mergeApplied,
  minus,
  type Paths,
  pathsOfTree,
  treeOfPaths,
  withoutPaths,
} from './fields.ts'
import { isSameJson, type ManagedEntry, type JsonObject } from './object.ts'
import { statusError } from './status-error.ts'

/** A field manager, and the resource or subresource that it writes to. */
export type Writer = {
  readonly manager: string
  readonly subresource?: string
  readonly apiVersion: string
  readonly time: string
}

type Entries = readonly ManagedEntry[]

const isOf = (entry: ManagedEntry, { manager, subresource }: Writer, operation: ManagedEntry['operation']): boolean =>
  entry.manager === manager && entry.operation === operation && entry.subresource === subresource

const entryOf = (writer: Writer, operation: ManagedEntry['operation'], paths: Paths): ManagedEntry => {
  const { manager, apiVersion, time, subresource } = writer
  return {
    manager,
    operation,
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: treeOfPaths(paths),
    ...(subresource !== undefined && { subresource }),
  }
}

/** Removes paths from an entry; returns no entry if it becomes empty. */
const dropPaths = (entry: ManagedEntry, lost: Paths): Entries => {
  const owned = pathsOfTree(entry.fieldsV1)
  const remaining = minus(owned, lost)
  if (remaining.size === owned.size) return [entry]
  return remaining.size === 0 ? [] : [{ ...entry, fieldsV1: treeOfPaths(remaining) }]
}

const isSame = (one: Paths, other: Paths): boolean => one.size === other.size && minus(one, other).size === 0

/** Field ownership after an update: the writer owns changed fields; removed fields lose their owners. */
export const followUpdate = (before: JsonObject, after: JsonObject, entries: Entries, writer: Writer): Entries => {
  const { changed, removed } = compareLeaves(leavesOf(before), leavesOf(after))
  if (changed.size + removed.size === 0) return entries
  const mine = entries.find((entry) => isOf(entry, writer, 'Update'))
  const others = entries
    .filter((entry) => entry !== mine)
    .flatMap((entry) => dropPaths(entry, new Set([...changed, ...removed])))
  const owned: Paths = mine ? pathsOfTree(mine.fieldsV1) : new Set()
  const paths = new Set([...minus(owned, removed), ...changed])
  if (paths.size === 0) return others
  return [...others, mine && isSame(paths, owned) ? mine : entryOf(writer, 'Update', paths)]
}

/**
 * Applies a configuration. Different values of other owners are a conflict, or taken over by force; fields that the writer
 * applied before and no other manager owns are removed.
 */
export const applyConfig = (
  { live, config, entries }: { live: JsonObject; config: JsonObject; entries: Entries },
  writer: Writer,
  force: boolean,
): { merged: JsonObject; entries: Entries } => {
  const applied = leavesOf(config)
  const mine = entries.find((entry) => isOf(entry, writer, 'Apply'))
  const others = entries.filter((entry) => entry !== mine)
  const disputed = disputedPaths(others, applied, leavesOf(live))
  if (disputed.size > 0 && !force)
    throw statusError(409, 'Conflict', `Apply failed with ${disputed.size} conflict: ${[...disputed][0] ?? ''}`)

  const paths: Paths = new Set(applied.keys())
  const left = others.flatMap((entry) => dropPaths(entry, disputed))
  const owned: Paths = mine ? pathsOfTree(mine.fieldsV1) : new Set()
  const orphans = left.reduce((rest, { fieldsV1 }) => minus(rest, pathsOfTree(fieldsV1)), minus(owned, paths))
  const merged = mergeApplied(withoutPaths(live, orphans), config) as JsonObject
  if (paths.size === 0) return { merged, entries: left }
  return { merged, entries: [...left, mine && isSame(paths, owned) ? mine : entryOf(writer, 'Apply', paths)] }
}

const disputedPaths = (others: Entries, applied: Leaves, live: Leaves): Paths => {
  const owned = others.flatMap(({ fieldsV1 }) => [...pathsOfTree(fieldsV1)])
  return new Set(owned.filter((path) => applied.has(path) && !isSameJson(applied.get(path), live.get(path))))
}
