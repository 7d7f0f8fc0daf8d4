import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:tls'
import t from 'tap'
import { makeSelfSigned } from '#cli/cluster/self-signed.ts'
import { listening } from '#test/helpers/egress-filter.ts'

t.test('self-signed certificate: is one of a server with these names and times, and no authority', async (t) => {
  const names = ['shots-egress.shots.svc', ...Array.from({ length: 40 }, (_, index) => `name-${index}.example.com`)]
  const fromMs = Date.UTC(2026, 0, 2, 3, 4, 5)
  for (const untilMs of [Date.UTC(2049, 11, 31, 23, 59, 59), Date.UTC(2050, 0, 1)]) {
    const { certificate, key } = makeSelfSigned(names, fromMs, untilMs)
    const read = new X509Certificate(certificate)
    t.equal(read.subject, `CN=${names[0]}\nserialNumber=${read.serialNumber.toLowerCase()}`)
    t.equal(read.subjectAltName, names.map((name) => `DNS:${name}`).join(', '))
    t.same([read.validFromDate, read.validToDate], [new Date(fromMs), new Date(untilMs)])
    t.notOk(read.ca)
    t.ok(read.verify(read.publicKey))
    t.ok(read.checkPrivateKey(createPrivateKey(key)))
    t.equal(read.toString().trim(), certificate.trim())
  }
})

t.test('self-signed certificate: a common name is cut at 64 characters, which no longer name has', async (t) => {
  const { certificate } = makeSelfSigned([`${'n'.repeat(60)}.svc.cluster.local`], 0, 1000)
  t.match(new X509Certificate(certificate).subject, /^CN=.{64}\n/)
})

t.test('self-signed certificate: is verified among others with the same names', async (t) => {
  const all = [1, 2, 3].map(() => makeSelfSigned(['localhost'], Date.now() - 1000, Date.now() + 60_000))
  for (const { certificate: cert, key } of all) {
    const server = createServer({ cert, key }, (socket) => void socket.end())
    await using running = await listening(server)
    const ca = all.map(({ certificate }) => certificate).join('')
    const socket = connect({ host: 'localhost', port: running.port, ca })
    await once(socket, 'secureConnect')
    t.ok(socket.authorized)
    socket.destroy()
  }
})
