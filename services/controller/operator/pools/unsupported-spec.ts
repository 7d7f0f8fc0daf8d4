import { Compile } from 'typebox/compile'
import { type BrowserPool, browserPoolSpec } from '#shared/kube/browser-pool.ts'

const check = Compile(browserPoolSpec)

/**
 * What of a pool's spec this controller does not understand; undefined where it does. The API server checks each spec by the
 * definition that is installed, which may be another one.
 */
export const misunderstandingOf = ({ spec }: Pick<BrowserPool, 'spec'>): string | undefined => {
  if (check.Check(spec)) return undefined
  const [first] = check.Errors(spec)
  return `spec${(first?.instancePath ?? '').replaceAll('/', '.')} ${first?.message ?? 'is invalid'}`
}
