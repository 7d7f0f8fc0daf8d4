import { proxyHeader } from '#shared/net/callers-proxy.ts'
import { captureHeader, refusalHeader } from '#shared/net/refusal.ts'

/** RFC 9110 §7.6.1, and the headers of our own contract. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  captureHeader,
  refusalHeader,
  proxyHeader,
])

const namesIn = (connection: string): readonly string[] =>
  connection.split(',').map((name) => name.trim().toLowerCase())

/**
 * The headers that a message keeps beyond the filter, names and values in turn as Node's `rawHeaders` has them: no
 * hop-by-hop headers, none that `Connection` names, none of `Proxy-*`, none of the filter's own contract, and none of
 * `also`. Order, case and repetition stay.
 */
export const endToEndHeaders = (raw: readonly string[], also: readonly string[] = []): string[] => {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [{ name, value: raw[index + 1] ?? '' }] : []))
  const named = pairs.filter(({ name }) => name.toLowerCase() === 'connection').flatMap(({ value }) => namesIn(value))
  const dropped = new Set([...hopByHop, ...named, ...also])
  // Without it a body would run on into what the target takes for a second request.
  dropped.delete('content-length')
  return pairs
    .filter(({ name }) => !dropped.has(name.toLowerCase()) && !name.toLowerCase().startsWith('proxy-'))
    .flatMap(({ name, value }) => [name, value])
}
