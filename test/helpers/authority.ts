import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const

/** A private CA: the PEM file of its certificate, and a certificate with key signed by it. */
export type TestAuthority = AsyncDisposable & {
  readonly caPath: string
  readonly certPath: string
  readonly keyPath: string
  /** Issues a certificate of a client to a pair of files, which replaces the one before. */
  readonly issue: (commonName: string) => Promise<{ readonly certPath: string; readonly keyPath: string }>
}

/** Creates a CA with openssl, in a temporary folder, and a certificate for localhost, 127.0.0.1 and `hosts`. */
export const makeAuthority = async (hosts: readonly string[] = []): Promise<TestAuthority> => {
  const folder = await mkdtemp(join(tmpdir(), 'authority-'))
  const openssl = (...args: readonly string[]) => run('openssl', args, { cwd: folder })
  await openssl(
    'req',
    '-x509',
    ...newKey,
    '-days',
    '2',
    '-subj',
    '/CN=authority',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
  )
  await openssl('req', ...newKey, '-subj', '/CN=server', '-keyout', 'server.key', '-out', 'server.csr')
  const names = ['IP:127.0.0.1', ...['localhost', ...hosts].map((host) => `DNS:${host}`)]
  await writeFile(join(folder, 'names'), `subjectAltName=${names.join(',')}`)
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'] as const
  await openssl('x509', '-req', '-in', 'server.csr', ...signing, '-extfile', 'names', '-out', 'server.pem')
  return {
    caPath: join(folder, 'ca.pem'),
    certPath: join(folder, 'server.pem'),
    keyPath: join(folder, 'server.key'),
    issue: async (commonName) => {
      await openssl('req', ...newKey, '-subj', `/CN=${commonName}`, '-keyout', 'client.key', '-out', 'client.csr')
      await openssl('x509', '-req', '-in', 'client.csr', ...signing, '-out', 'client.pem')
      return { certPath: join(folder, 'client.pem'), keyPath: join(folder, 'client.key') }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}
