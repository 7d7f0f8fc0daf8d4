import { createContract } from './contract.ts'

type WithTeardown = { teardown: (clean: () => Promise<void>) => void }

const jsonOf = async (answer: Response): Promise<unknown> => {
  if (!answer.headers.get('content-type')?.startsWith('application/json')) return undefined
  // A body that breaks off is for the test itself to judge.
  return answer
    .clone()
    .json()
    .catch(() => undefined)
}

/**
 * Holds every answer that `fetch` gets from a gateway against the document of the interface, until the test ends;
 * `fetch` rejects one that does not fit. `seen` are the pairs of operation and status that were shown.
 */
export const watchAnswers = (t: WithTeardown, baseUrl: string): { readonly seen: ReadonlySet<string> } => {
  const contract = createContract()
  const unwatched = globalThis.fetch
  globalThis.fetch = async (input, init) => {
    const answer = await unwatched(input, init)
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
    if (origin !== new URL(baseUrl).origin) return answer
    const seen = {
      method: init?.method ?? (input instanceof Request ? input.method : 'GET'),
      path: pathname,
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: await jsonOf(answer),
    }
    const faults = contract.check(seen)
    if (faults.length > 0) throw new Error(`an answer is not as the document says:\n${faults.join('\n')}`)
    return answer
  }
  t.teardown(async () => {
    globalThis.fetch = unwatched
  })
  return { seen: contract.seen }
}
