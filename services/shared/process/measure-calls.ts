import { toAppError } from '#shared/errors/app-error.ts'

type Call = (...input: unknown[]) => Promise<unknown>

/** Reports a call that has ended: its name, its milliseconds, and whether the service or its store failed; refusals of a caller's input do not count. */
type CallEnded = (operation: string, ms: number, isFailed: boolean) => void

const measure =
  (operation: string, call: Call, ended: CallEnded): Call =>
  async (...input) => {
    const began = performance.now()
    let isFailed = false
    try {
      return await call(...input)
    } catch (error) {
      isFailed = toAppError(error).blame === 'service'
      throw error
    } finally {
      ended(operation, performance.now() - began, isFailed)
    }
  }

/** A copy of the client of a store, an object without a prototype of its own, that reports each call of `methods`. */
export const measureCalls = <T extends object>(
  client: T,
  methods: readonly (keyof T & string)[],
  ended: CallEnded,
): T => {
  const measured = methods.map((name) => [name, measure(name, (...input) => (client[name] as Call)(...input), ended)])
  return { ...client, ...(Object.fromEntries(measured) as Partial<T>) }
}
