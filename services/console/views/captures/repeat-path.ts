import { leftOutOf, queryOf } from '#console/views/playground/form.ts'

/**
 * Path of the playground with the parameters of a capture. `left_out` names those that no address should show, or of which the record
 * has only a mask.
 */
export const repeatPath = ({ url, options }: { readonly url: string | null; readonly options: object }): string => {
  const { source, ...others } = Object.fromEntries<unknown>(Object.entries(options))
  const parameters = { ...(url !== null && { url }), ...(typeof source === 'string' && { [source]: '' }), ...others }
  const query = new URLSearchParams(queryOf(parameters))
  const leftOut = leftOutOf(parameters)
  if (leftOut.length > 0) query.set('left_out', leftOut.join(','))
  return `/playground?${query}`
}
