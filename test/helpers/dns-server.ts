import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import ipaddr from 'ipaddr.js'

const typeA = 1
const typeAaaa = 28
const nameError = 3

/** A DNS server on UDP: the queried names, and its address in the form that resolvers accept. */
export type DnsServer = AsyncDisposable & { readonly address: string; readonly queried: string[] }

/** Records by name (RFC 1035 §4.1): addresses of both families; `silent` sends no response; other names do not exist. */
export type DnsRecords = Readonly<Record<string, readonly string[] | 'silent'>>

const readName = (query: Buffer): { readonly name: string; readonly end: number } => {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

const recordOf = (type: number, address: string): Buffer => {
  const bytes = ipaddr.parse(address).toByteArray()
  // The name as a pointer to the question, class IN, 0 s to live.
  return Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes])
}

const answerTo = (query: Buffer, addresses: readonly string[] | undefined): Buffer => {
  const { end } = readName(query)
  const type = query.readUInt16BE(end)
  const kind = type === typeA ? 'ipv4' : type === typeAaaa ? 'ipv6' : ''
  const found = (addresses ?? []).filter((address) => ipaddr.parse(address).kind() === kind)
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 | (addresses === undefined ? nameError : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(found.length, 6)
  return Buffer.concat([head, query.subarray(12, end + 4), ...found.map((address) => recordOf(type, address))])
}

/** Returns addresses, `silent`, or undefined if the name does not exist. A failed lookup sends no response. */
type Lookup = (name: string) => Promise<DnsRecords[string] | undefined>

/** Starts a DNS server, by default on a free port of loopback. It serves only the records, which may change while it runs. */
export const startDnsServer = async (
  records: DnsRecords | Lookup,
  { host = '127.0.0.1', port = 0 } = {},
): Promise<DnsServer> => {
  const lookup = typeof records === 'function' ? records : async (name: string) => records[name]
  const queried: string[] = []
  const socket: Socket = createSocket('udp4')
  const answer = async (query: Buffer, client: { readonly port: number; readonly address: string }) => {
    const { name } = readName(query)
    queried.push(name)
    const addresses = await lookup(name).catch(() => 'silent' as const)
    if (addresses === 'silent') return
    // The server may have been closed meanwhile.
    socket.send(answerTo(query, addresses), client.port, client.address, () => {})
  }
  socket.on('message', (query, client) => void answer(query, client))
  socket.bind(port, host)
  await once(socket, 'listening')
  return {
    address: `${host}:${socket.address().port}`,
    queried,
    [Symbol.asyncDispose]: async () => {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}
