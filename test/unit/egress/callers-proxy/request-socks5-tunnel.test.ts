import t from 'tap'
import { requestSocks5Tunnel } from '#egress/callers-proxy/request-socks5-tunnel.ts'
import type { Line } from '#shared/net/handshake.ts'
import { parseCallersProxy } from '#shared/net/callers-proxy.ts'

/** A line with the proxy's replies buffered; reads fail at its end. */
const lineOf = (answers: readonly number[]) => {
  const sent: string[] = []
  let rest = Buffer.from(answers)
  const line: Line = {
    write: (bytes) => void sent.push(Buffer.from(bytes as Uint8Array).toString('hex')),
    read: async (bytes) => {
      if (rest.length < bytes) throw new Error('no more')
      const bytesRead = rest.subarray(0, bytes)
      rest = rest.subarray(bytes)
      return bytesRead
    },
    readHead: () => Promise.reject(new Error('SOCKS has no head')),
  }
  return { line, sent, left: () => rest.length }
}

const proxyOf = (credentials = '') => parseCallersProxy(`socks5://${credentials}p.test:1080`)!
const granted = [5, 0, 0, 1, 9, 9, 9, 9, 0, 1]

t.test('request SOCKS5 tunnel: encodes names, IPv4 and IPv6 as RFC 1928 does', async (t) => {
  for (const [host, hex] of [
    ['a.test', '0306612e74657374'],
    ['1.2.3.4', '0101020304'],
    ['2606:4700::1', '0426064700000000000000000000000001'],
  ] as const) {
    const { line, sent } = lineOf([5, 0, ...granted])
    await requestSocks5Tunnel(line, proxyOf(), { host, port: 443 })
    t.same(sent, ['050100', `050100${hex}01bb`], host)
  }
})

t.test('request SOCKS5 tunnel: sends the credentials in UTF-8 if the proxy requests them', async (t) => {
  const { line, sent } = lineOf([5, 2, 1, 0, ...granted])
  await requestSocks5Tunnel(line, proxyOf('%C3%A9:pw@'), { host: '1.2.3.4', port: 80 })
  t.same(sent, ['05020002', '0102c3a9027077', '05010001010203040050'])
  const open = lineOf([5, 0, ...granted])
  await requestSocks5Tunnel(open.line, proxyOf('u:pw@'), { host: '1.2.3.4', port: 80 })
  t.same(open.sent, ['05020002', '05010001010203040050'], 'none are sent if the proxy does not request them')
})

t.test('request SOCKS5 tunnel: reads the whole reply with any kind of address, and not a byte more', async (t) => {
  const answers = [granted, [5, 0, 0, 4, ...Array(18).fill(7)], [5, 0, 0, 3, 2, 7, 7, 0, 1], [5, 0, 0, 3, 0, 0, 1]]
  for (const answer of answers as number[][]) {
    const { line, left } = lineOf([5, 0, ...answer, 1, 2, 3])
    await requestSocks5Tunnel(line, proxyOf(), { host: 'a.test', port: 443 })
    t.equal(left(), 3)
  }
})

t.test('request SOCKS5 tunnel: any reply but success is CONNECTION_FAILED', async (t) => {
  for (const answers of [
    [4, 0, ...granted],
    [72, 84, 84, 80],
    [5, 255],
    [5, 1, ...granted],
    [5, 2, 1, 0, ...granted],
    [5, 0, 4, 0, 0, 1, 9, 9, 9, 9, 0, 1],
    [5, 0, 5, 1, 0, 1, 9, 9, 9, 9, 0, 1],
    [5, 0, 5, 0, 0, 2, 9, 9, 9, 9, 0, 1],
  ]) {
    const tunnel = requestSocks5Tunnel(lineOf(answers).line, proxyOf(), { host: 'a.test', port: 443 })
    await t.rejects(tunnel, { code: 'CONNECTION_FAILED' }, answers.join(' '))
  }
  const { line } = lineOf([5, 2, 1, 1, ...granted])
  const refused = requestSocks5Tunnel(line, proxyOf('u:s3cret@'), { host: 'a.test', port: 443 })
  await t.rejects(refused, { code: 'CONNECTION_FAILED', message: /^it refused the credentials$/ })
})

t.test('request SOCKS5 tunnel: rejects a name that is too long, without a request', async (t) => {
  const { line, sent } = lineOf([5, 0, ...granted])
  const tunnel = requestSocks5Tunnel(line, proxyOf(), { host: `${'a.'.repeat(130)}test`, port: 443 })
  await t.rejects(tunnel, { code: 'CONNECTION_FAILED' })
  t.same(sent, [])
})
