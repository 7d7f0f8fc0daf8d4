/** RFC 9110 §7.6.1. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers between browsers and proxies, and between worker and egress; a page can set any header. */
const prefixes = ['proxy-', 'x-shutterfleet-']

const namesIn = (connection: string): readonly string[] =>
  connection.split(',').map((name) => name.trim().toLowerCase())

/**
 * The headers that egress passes on, names and values in turn as Node's `rawHeaders` has them: no
 * hop-by-hop headers, none that `Connection` names, none of `Proxy-*`, none of our own contract, and none of `also`.
 * Order, case and repetition stay.
 */
export const endToEndHeaders = (raw: readonly string[], also: readonly string[] = []): string[] => {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [{ name, value: raw[index + 1] ?? '' }] : []))
  const named = pairs.filter(({ name }) => name.toLowerCase() === 'connection').flatMap(({ value }) => namesIn(value))
  const dropped = new Set([...hopByHop, ...named, ...also])
  // Without it a body would run on into what the target takes for a second request.
  dropped.delete('content-length')
  const isKept = (name: string) => !dropped.has(name) && !prefixes.some((prefix) => name.startsWith(prefix))
  return pairs.filter(({ name }) => isKept(name.toLowerCase())).flatMap(({ name, value }) => [name, value])
}
