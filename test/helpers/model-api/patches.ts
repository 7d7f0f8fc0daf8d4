import { statusError } from './status-error.ts'
import { isSameJson, isPlainObject, type JsonObject } from './object.ts'

/** RFC 7396: null removes a field, objects are merged, any other value replaces the old one. */
export const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isPlainObject(patch)) return patch
  const merged: Record<string, unknown> = isPlainObject(target) ? { ...target } : {}
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field]
    else if (value !== undefined) merged[field] = mergePatch(merged[field], value)
  }
  return merged
}

type Operation = { readonly op: string; readonly path: string; readonly value?: unknown; readonly from?: string }

/**
 * RFC 6902. As on the real server, an impossible operation or a failed test makes the request invalid, and
 * the target of a replace may be missing.
 */
export const jsonPatch = (target: JsonObject, operations: readonly object[]): JsonObject => {
  let patched: unknown = target
  for (const operation of operations as readonly Operation[]) patched = operate(patched, operation)
  return patched as JsonObject
}

const operate = (target: unknown, { op, path, value, from = '' }: Operation): unknown => {
  const steps = stepsOf(path)
  switch (op) {
    case 'test':
      if (!isSameJson(read(target, steps) ?? null, value)) throw failed(`testing value ${path} failed`)
      return target
    case 'add':
      return edit(target, steps, () => value)
    case 'replace':
      return edit(target, steps, () => value, true)
    case 'remove':
      if (read(target, steps) === undefined) throw failed(`remove operation does not apply: doc is missing ${path}`)
      return edit(target, steps, () => undefined)
    case 'copy':
      return edit(target, steps, () => read(target, stepsOf(from)))
    default:
      throw failed(`unexpected operation ${op}`)
  }
}

const failed = (message: string) => statusError(422, 'Invalid', `the server rejected our request: ${message}`)

const stepsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

const read = (value: unknown, steps: readonly string[]): unknown => {
  let here = value
  for (const step of steps) {
    if (Array.isArray(here)) here = here[Number(step)]
    else here = isPlainObject(here) ? here[step] : undefined
  }
  return here
}

/** Sets the result of `make` at a path; undefined removes. Inserts into a list unless `replaces`. */
const edit = (value: unknown, steps: readonly string[], make: () => unknown, replaces = false): unknown => {
  const [step, ...rest] = steps
  if (step === undefined) return make()
  if (Array.isArray(value)) return editList(value, step, { rest, make, replaces })
  if (!isPlainObject(value)) throw failed(`doc is missing ${step}`)
  const edited = edit(rest.length === 0 ? undefined : value[step], rest, make, replaces)
  const { [step]: _, ...others } = value
  return edited === undefined ? others : { ...value, [step]: edited }
}

const editList = (
  list: readonly unknown[],
  step: string,
  { rest, make, replaces }: { rest: readonly string[]; make: () => unknown; replaces: boolean },
): unknown[] => {
  const index = step === '-' ? list.length : Number(step)
  if (rest.length > 0) return list.with(index, edit(list[index], rest, make, replaces))
  const edited = make()
  if (edited === undefined) return list.toSpliced(index, 1)
  return list.toSpliced(index, replaces ? 1 : 0, edited)
}
