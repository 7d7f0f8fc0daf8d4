/** A request of the playground, without what a link to the form leaves out. */
export type PastRequest = {
  /** Id of its capture. */
  readonly id: string
  /** ISO time of the request. */
  readonly at: string
  /** The parameter that named or contained the page. */
  readonly source: string
  /** The query of a link to the form. */
  readonly query: string
}

const prefix = 'shutterfleet-playground-'
const requestsMax = 20
/** Longer queries are not kept, so that an account takes at most 160,000 characters of what the browser stores. */
const queryCharactersMax = 8000

const isPastRequest = (value: unknown): value is PastRequest => {
  const { id, at, source, query } = (value ?? {}) as Readonly<Record<string, unknown>>
  return [id, at, source, query].every((each) => typeof each === 'string') && !Number.isNaN(Date.parse(String(at)))
}

/** The requests of an account from this browser, newest first, at most 20. Of what was stored by others, nothing. */
export const readHistory = (storage: Storage, accountId: string): readonly PastRequest[] => {
  try {
    const stored: unknown = JSON.parse(storage.getItem(prefix + accountId) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isPastRequest).slice(0, requestsMax) : []
  } catch {
    return []
  }
}

/** Adds a request and returns all; what cannot be stored is returned until the page is left. */
export const addToHistory = (storage: Storage, accountId: string, request: PastRequest): readonly PastRequest[] => {
  const before = readHistory(storage, accountId)
  if (request.query.length > queryCharactersMax) return before
  const requests = [request, ...before].slice(0, requestsMax)
  try {
    storage.setItem(prefix + accountId, JSON.stringify(requests))
  } catch {
    // The browser stores nothing, or nothing more.
  }
  return requests
}

/** Removes the requests of one account. */
export const clearHistory = (storage: Storage, accountId: string): void => storage.removeItem(prefix + accountId)

/** Removes the requests of all accounts. */
export const clearHistories = (storage: Storage): void => {
  for (const key of Object.keys(storage)) if (key.startsWith(prefix)) storage.removeItem(key)
}
