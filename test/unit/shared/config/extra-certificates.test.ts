import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import t from 'tap'
import { readExtraCertificates } from '#shared/config/extra-certificates.ts'

t.test('extra certificates: all certificates of a file are read, whatever stands between them', async (t) => {
  const path = join(t.testdir(), 'ca.pem')
  writeFileSync(path, `one\n${rootCertificates[0]}\nanother\n${rootCertificates[1]}\n`)
  t.equal((await readExtraCertificates(path)).length, 2)
})

t.test(
  'extra certificates: a certificate that cannot be read is skipped with a warning that names its place',
  async (t) => {
    const path = join(t.testdir(), 'ca.pem')
    const broken = '-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----'
    writeFileSync(path, `${rootCertificates[0]}\n${broken}\n${rootCertificates[1]}\n`)
    const written = t.capture(process.stderr, 'write', () => true)
    t.equal((await readExtraCertificates(path, 'NAME')).length, 2)
    t.same(
      written().map(({ args }) => args[0]),
      [`NAME = ${path}, certificate 2 cannot be read and is skipped\n`],
    )
  },
)

t.test('extra certificates: where no file is named there are none', async (t) => {
  t.same(await readExtraCertificates(''), [])
})

t.test('extra certificates: a file that holds none is a fault of the setting', async (t) => {
  const folder = t.testdir({ empty: '', broken: '-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----' })
  const fault = { code: 'CONFIGURATION', message: /EXTRA_CA = .*, holds no certificates/ }
  for (const name of ['empty', 'broken', 'absent']) await t.rejects(readExtraCertificates(join(folder, name)), fault)
})
