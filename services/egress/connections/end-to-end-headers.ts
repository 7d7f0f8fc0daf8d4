/** RFC 9110 §7.6.1. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Prefixes of headers for proxies, and between worker and egress; a page can set any header. */
const prefixes = ['proxy-', 'x-shutterfleet-']

const namesIn = (connection: string): readonly string[] =>
  connection.split(',').map((name) => name.trim().toLowerCase())

/**
 * Returns the headers to forward, names and values in turn like Node's `rawHeaders`: without hop-by-hop headers, those that
 * `Connection` names, `Proxy-*`, our own headers, and those in `also`. Keeps order, case and repetition.
 */
export const endToEndHeaders = (raw: readonly string[], also: readonly string[] = []): string[] => {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [{ name, value: raw[index + 1] ?? '' }] : []))
  const named = pairs.filter(({ name }) => name.toLowerCase() === 'connection').flatMap(({ value }) => namesIn(value))
  const dropped = new Set([...hopByHop, ...named, ...also])
  // Without it the target would read the body as a second request.
  dropped.delete('content-length')
  const isKept = (name: string) => !dropped.has(name) && !prefixes.some((prefix) => name.startsWith(prefix))
  return pairs.filter(({ name }) => isKept(name.toLowerCase())).flatMap(({ name, value }) => [name, value])
}
