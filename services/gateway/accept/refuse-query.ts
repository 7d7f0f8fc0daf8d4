import { collectFaults } from '#shared/capture/faults.ts'
import type { Parse } from '#gateway/http/read-parameters.ts'
import { gatherPlainQuery } from '#gateway/http/read-plain-query.ts'

/**
 * Parses a body as `parse` does, for an operation that takes nothing in its query: whatever stands there is a fault of its
 * name, told with those of the body. A caller who puts a parameter there would not see that it has no effect.
 */
export const refuseQuery =
  <Parsed extends { ok: true }>(query: string, parse: Parse<Parsed>): Parse<Parsed> =>
  async (input, found) => {
    const inQuery = Object.keys(gatherPlainQuery(query, []).faults.all() ?? {})
    const parsing = await parse(input, found)
    if (inQuery.length === 0) return parsing
    const faults = collectFaults(parsing.ok ? {} : parsing.faults)
    for (const name of inQuery)
      faults.report(name, 'must not stand in the query: parameters of a POST belong in the body')
    return { ok: false, faults: faults.all() ?? {} }
  }
