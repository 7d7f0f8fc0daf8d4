import type { Selection } from '#shared/kube/client.ts'
import type { Kind } from './kind.ts'
import { at, type Stored } from './object.ts'
import { statusError } from './status-error.ts'
import type { ModelStore, StoreEvent } from './store.ts'

/** Whether an object matches the request's selectors. */
export type Match = (object: Stored) => boolean

const terms = (selector: string | undefined): string[] =>
  selector === undefined || selector === '' ? [] : selector.split(/,(?![^(]*\))/)

const matchLabel = (term: string): Match => {
  const [, name = '', operator = '', value = ''] = /^([^=!\s(]+)\s*(?:(!=|==?| in )\s*\(?([^)]*)\)?)?$/.exec(term) ?? []
  if (term.startsWith('!')) return ({ metadata }) => metadata.labels?.[term.slice(1)] === undefined
  if (operator === '') return ({ metadata }) => metadata.labels?.[name] !== undefined
  const values = value.split(',').map((each) => each.trim())
  if (operator === '!=') return ({ metadata }) => !values.includes(metadata.labels?.[name] ?? '')
  return ({ metadata }) => values.includes(metadata.labels?.[name] ?? '\n')
}

const matchField = (term: string): Match => {
  const [path = '', value] = term.split(/!=|==?/)
  const isEqual: Match = (object) => (at(object, ...path.split('.')) ?? '') === value
  return term.includes('!=') ? (object) => !isEqual(object) : isEqual
}

export const matchOf = ({ labelSelector, fieldSelector }: Selection, namespace: string | undefined): Match => {
  const all = [...terms(labelSelector).map(matchLabel), ...terms(fieldSelector).map(matchField)]
  if (namespace !== undefined) all.push(({ metadata }) => metadata.namespace === namespace)
  return (object) => all.every((match) => match(object))
}

/** The event for a watch with selectors; undefined if the object matched neither before nor after. */
export const eventFor = (
  match: Match,
  { type, object, before }: StoreEvent,
): Omit<StoreEvent, 'before'> | undefined => {
  const version = Number(object.metadata.resourceVersion)
  const isIn = type !== 'DELETED' && match(object)
  const wasIn = before !== undefined && match(before)
  if (isIn) return { version, type: wasIn ? 'MODIFIED' : 'ADDED', object }
  if (!wasIn) return undefined
  // An object that no longer matches is reported in its old state, with the new version.
  const last =
    type === 'DELETED' ? object : { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } }
  return { version, type: 'DELETED', object: last }
}

type Remembered = { readonly items: readonly Stored[]; readonly version: number }

/** Serves lists in pages, all from the state at the first page. */
export class ModelLists {
  readonly #store: ModelStore
  readonly #remembered = new Map<string, Remembered>()
  #tokens = 0

  constructor(store: ModelStore) {
    this.#store = store
  }

  /** One page as on the real server. Items of built-in kinds have no kind and apiVersion. */
  page(kind: Kind, match: Match, { limit, token }: { limit: number; token: string | undefined }): object {
    const from = token === undefined ? this.#begin(kind, match) : this.#remembered.get(token)
    if (!from) throw statusError(410, 'Expired', 'The provided continue parameter is too old')
    const rest = from.items.slice(limit)
    const next = rest.length === 0 ? '' : this.#remember({ items: rest, version: from.version })
    const items = from.items.slice(0, limit).map((object) => (kind.isCustom ? object : bare(object)))
    const metadata = { resourceVersion: String(from.version), ...(next !== '' && { continue: next }) }
    return { apiVersion: kind.apiVersion, kind: `${kind.kind}List`, metadata, items }
  }

  /** Expires all continue tokens. */
  forget(): void {
    this.#remembered.clear()
  }

  #begin(kind: Kind, match: Match): Remembered {
    return { items: this.#store.all(kind.resource).filter(match), version: this.#store.version }
  }

  #remember(rest: Remembered): string {
    const token = `page-${(this.#tokens += 1)}`
    this.#remembered.set(token, rest)
    return token
  }
}

const bare = (object: Stored): object => {
  const { apiVersion: _, kind: __, ...rest } = object
  return rest
}
