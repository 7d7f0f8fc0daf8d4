import { isId } from '#shared/db/is-id.ts'
import type { Exchange } from './exchange.ts'

/** An id that nothing has: malformed ids take the same way and the same time as unknown ones. */
const nobody = '00000000-0000-0000-0000-000000000000'

/** The id that stands in the path under `name`, in lower case. */
export const pathId = ({ params }: Pick<Exchange, 'params'>, name = 'id'): string => {
  const given = params[name] ?? ''
  return isId(given) ? given.toLowerCase() : nobody
}
