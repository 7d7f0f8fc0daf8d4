import type { Term } from './term.ts'

/** Runs the terms of leadership one after another: what a term began has ended before the next one begins. */
export const createTermRunner = <Lead extends { readonly [Symbol.asyncDispose]: () => Promise<void> }>(
  begin: (term: Term) => Lead,
) => {
  let current: Lead | undefined
  let next: Term | undefined
  let isDisposed = false
  const ending = new Set<Promise<void>>()

  const end = () => {
    next = undefined
    if (!current) return
    const ended = current[Symbol.asyncDispose]()
    current = undefined
    ending.add(ended)
    void ended.finally(() => ending.delete(ended))
  }
  const start = async (term: Term) => {
    // Requests of earlier terms must end first, because the informers do not show their results yet.
    await Promise.allSettled(ending)
    if (!isDisposed && next === term && term.isValid()) current = begin(term)
  }
  return {
    begin: (term: Term) => {
      end()
      next = term
      void start(term)
    },
    end,
    current: () => current,
    [Symbol.asyncDispose]: async () => {
      isDisposed = true
      end()
      await Promise.all(ending)
    },
  }
}
