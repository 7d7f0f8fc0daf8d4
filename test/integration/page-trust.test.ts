import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { makeAuthority } from '#test/helpers/authority.ts'
import { captureWith, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { type Certificate, makeCertificate } from '#test/helpers/webhook-receiver.ts'
import { makePageTrust } from '#worker/host/page-trust.ts'

const folder = await mkdtemp(join(tmpdir(), 'trust-'))
t.teardown(() => rm(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

const authority = await makeAuthority()

const startPage = async ({ certPath, keyPath }: Pick<Certificate, 'certPath' | 'keyPath'>) => {
  const tls = { cert: await readFile(certPath), key: await readFile(keyPath) }
  return listening(createServer(tls, (_request, response) => response.end('<p>A page')))
}
const signed = await startPage(authority)
const certificate = await makeCertificate(['localhost'])
const selfSigned = await startPage(certificate)
t.teardown(async () => {
  for (const each of [signed, selfSigned, certificate, authority]) await each[Symbol.asyncDispose]()
})

const captureBoth = async (trust: string | undefined) => {
  await using egress = await startTestEgress('127.0.0.0/8')
  await using host = await startTestHost(egress, {}, { trust })
  const outcomes: string[] = []
  for (const { port } of [signed, selfSigned]) {
    const outcome = await captureWith(host, { url: `https://127.0.0.1:${port}/`, timeout: 10 })
    outcomes.push(`${outcome.outcome === 'completed' ? outcome.shot.targetStatus : 'code' in outcome && outcome.code}`)
  }
  return outcomes
}

t.test('page trust: pages trust the authorities and the self-signed certificates of a file', async (t) => {
  const both = (await readFile(authority.caPath, 'utf8')) + (await readFile(certificate.certPath, 'utf8'))
  await writeFile(at('both.pem'), both)
  const trust = await makePageTrust(folder, at('both.pem'))
  t.same(await captureBoth(trust), ['200', '200'])
})

t.test('page trust: without the file their certificates are rejected', async (t) => {
  t.equal(await makePageTrust(folder, ''), undefined)
  t.same(await captureBoth(undefined), ['CONNECTION_FAILED', 'CONNECTION_FAILED'])
})

t.test('page trust: a missing certutil is an error that names its package', async (t) => {
  const { PATH } = process.env
  t.teardown(() => {
    process.env['PATH'] = PATH
  })
  process.env['PATH'] = folder
  await t.rejects(makePageTrust(await mkdtemp(at('none-')), authority.caPath), {
    code: 'CONFIGURATION',
    publicMessage: /SHUTTERFLEET_EXTRA_CA.*libnss3-tools/,
  })
})
