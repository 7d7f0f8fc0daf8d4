import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import t from 'tap'
import { makeSelfSigned } from '#cli/cluster/self-signed.ts'
import { connectEgress, openEgressTrust } from '#shared/net/egress-trust.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { replaceFile } from '#test/helpers/replace-file.ts'

const certify = (hosts = ['localhost']) => makeSelfSigned(hosts, Date.now() - 1000, Date.now() + 60_000)
const unexpected = (cause: unknown) => void t.fail(String(cause))

/** A server that ends each connection, and what clients trust. */
const startServer = async (test: { testdir: (files: { ca: string }) => string }, { certificate, key } = certify()) => {
  const sessions: boolean[] = []
  const server = createServer({ cert: certificate, key }, (socket) => {
    sessions.push(socket.isSessionReused())
    socket.end('x')
  })
  const running = await listening(server)
  const ca = join(test.testdir({ ca: certificate }), 'ca')
  return { ...running, ca, sessions, at: { host: 'localhost', port: running.port } }
}

t.test(
  'egress trust: a later connection resumes the session of one before, which costs the server no signature',
  async (t) => {
    await using server = await startServer(t)
    using trust = await openEgressTrust(server.ca, unexpected)
    for (const _ of [1, 2, 3]) {
      const socket = connectEgress({ ...server.at, trust })
      socket.resume()
      await once(socket, 'end')
      socket.destroy()
    }
    t.same(server.sessions, [false, true, true])
  },
)

t.test(
  'egress trust: a server with another name never gets a connection, nor a session that would skip the check',
  async (t) => {
    await using server = await startServer(t, certify(['other.example.com']))
    using trust = await openEgressTrust(server.ca, unexpected)
    for (const _ of [1, 2, 3]) {
      const socket = connectEgress({ ...server.at, trust })
      const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
      t.equal(error.code, 'ERR_TLS_CERT_ALTNAME_INVALID')
    }
  },
)

t.test('egress trust: a file that changes replaces what is trusted, sessions of before included', async (t) => {
  const now = certify()
  await using server = await startServer(t, now)
  using trust = await openEgressTrust(server.ca, unexpected, 10)
  const isReached = () =>
    new Promise<boolean>((resolve) => {
      const socket = connectEgress({ ...server.at, trust })
      socket.on('error', () => resolve(false)).on('end', () => resolve(true))
      socket.resume()
    })
  t.ok(await isReached())
  await replaceFile(server.ca, certify().certificate)
  await eventually(async () => !(await isReached()))
  await replaceFile(server.ca, now.certificate)
  await eventually(isReached)
})

t.test('egress trust: files without a certificate are a fault of the configuration that names them', async (t) => {
  const folder = t.testdir({ empty: '', broken: '' })
  await writeFile(join(folder, 'broken'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
  for (const name of ['empty', 'broken', 'none']) {
    const opening = openEgressTrust(join(folder, name), unexpected)
    await t.rejects(opening, { code: 'CONFIGURATION', publicMessage: new RegExp(`EGRESS_CA_FILE = .*/${name}, `) })
  }
  t.equal(await openEgressTrust('', unexpected), undefined)
})
