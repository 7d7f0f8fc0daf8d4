import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { listening } from '#test/helpers/egress-filter.ts'
import { captureWith, startTestHost, startWayOut } from '#test/helpers/browser-host.ts'
import { type Certificate, makeCertificate } from '#test/helpers/webhook-receiver.ts'
import { makePageTrust } from '#worker/page-trust.ts'

const folder = await mkdtemp(join(tmpdir(), 'trust-'))
t.teardown(() => rm(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const

/** An authority, and a certificate that it signed for 127.0.0.1. */
openssl('req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=authority', '-keyout', 'ca.key', '-out', 'ca.pem')
openssl('req', ...newKey, '-subj', '/CN=page', '-keyout', 'page.key', '-out', 'page.csr')
await writeFile(at('names'), 'subjectAltName=IP:127.0.0.1')
const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names']
openssl('x509', '-req', '-in', 'page.csr', ...signing, '-out', 'page.pem')

const startPage = async ({ certPath, keyPath }: Pick<Certificate, 'certPath' | 'keyPath'>) => {
  const tls = { cert: await readFile(certPath), key: await readFile(keyPath) }
  return listening(createServer(tls, (_request, response) => response.end('<p>A page')))
}
const signed = await startPage({ certPath: at('page.pem'), keyPath: at('page.key') })
const certificate = await makeCertificate(['localhost'])
const selfSigned = await startPage(certificate)
t.teardown(async () => {
  for (const each of [signed, selfSigned, certificate]) await each[Symbol.asyncDispose]()
})

const captureBoth = async (trust: string | undefined) => {
  await using wayOut = await startWayOut('127.0.0.0/8')
  await using host = await startTestHost(wayOut, {}, { trust })
  const outcomes: string[] = []
  for (const { port } of [signed, selfSigned]) {
    const outcome = await captureWith(host, { url: `https://127.0.0.1:${port}/`, timeout: 10 })
    outcomes.push(`${outcome.outcome === 'completed' ? outcome.shot.targetStatus : 'code' in outcome && outcome.code}`)
  }
  return outcomes
}

t.test('pages trust the authorities of a file, and certificates that stand in it themselves', async (t) => {
  const both = (await readFile(at('ca.pem'), 'utf8')) + (await readFile(certificate.certPath, 'utf8'))
  await writeFile(at('both.pem'), both)
  const trust = await makePageTrust(folder, at('both.pem'))
  t.same(await captureBoth(trust), ['200', '200'])
})

t.test('without it they are refused', async (t) => {
  t.equal(await makePageTrust(folder, ''), undefined)
  t.same(await captureBoth(undefined), ['CONNECTION_FAILED', 'CONNECTION_FAILED'])
})

t.test('where certutil is missing the message names its package', async (t) => {
  const { PATH } = process.env
  t.teardown(() => {
    process.env['PATH'] = PATH
  })
  process.env['PATH'] = folder
  await t.rejects(makePageTrust(await mkdtemp(at('none-')), at('ca.pem')), {
    code: 'CONFIGURATION',
    publicMessage: /SHUTTERFLEET_EXTRA_CA.*libnss3-tools/,
  })
})
