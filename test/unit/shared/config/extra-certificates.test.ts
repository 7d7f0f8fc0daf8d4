import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import t from 'tap'
import { readExtraCertificates } from '#shared/config/extra-certificates.ts'

t.test('extra certificates: reads all certificates of a file, with any text between them', async (t) => {
  const path = join(t.testdir(), 'ca.pem')
  writeFileSync(path, `one\n${rootCertificates[0]}\nanother\n${rootCertificates[1]}\n`)
  t.equal((await readExtraCertificates(path)).length, 2)
})

t.test('extra certificates: skips an unreadable certificate with a warning that gives its index', async (t) => {
  const path = join(t.testdir(), 'ca.pem')
  const broken = '-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----'
  writeFileSync(path, `${rootCertificates[0]}\n${broken}\n${rootCertificates[1]}\n`)
  const written = t.capture(process.stderr, 'write', () => true)
  t.equal((await readExtraCertificates(path, 'NAME')).length, 2)
  t.same(
    written().map(({ args }) => args[0]),
    [`NAME = ${path}, certificate 2 cannot be read and is skipped\n`],
  )
})

t.test('extra certificates: returns none if no file is set', async (t) => {
  t.same(await readExtraCertificates(''), [])
})

t.test('extra certificates: a file without certificates is a configuration error', async (t) => {
  const folder = t.testdir({ empty: '', broken: '-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----' })
  const fault = { code: 'CONFIGURATION', message: /EXTRA_CA = .*, holds no certificates/ }
  for (const name of ['empty', 'broken', 'absent']) await t.rejects(readExtraCertificates(join(folder, name)), fault)
  await t.rejects(readExtraCertificates(join(folder, 'broken')), { message: /: none of 1 can be read \(.*PEM/ })
})
