import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// @ts-expect-error the package carries no types
import S3rver from '@20minutes/s3rver'
// @ts-expect-error the package carries no types
import account from '@20minutes/s3rver/lib/models/account.js'
import { freePort } from './free-port.ts'
import { type Minio, startMinio } from './minio.ts'

/** A running S3 server with one empty bucket. */
export type TestS3 = Omit<Minio, 'otherFile'>

type Server = {
  run: () => Promise<unknown>
  close: () => Promise<void>
  httpServer: { closeAllConnections: () => void }
}
type Account = { createKeyPair: (key: string, secret: string) => void }
type Certificate = { readonly certPath: string; readonly keyPath: string }

const { DUMMY_ACCOUNT: user } = account as { readonly DUMMY_ACCOUNT: Account }
const secret = 'S3RVER'

/** Whether tests use MinIO (`make test-s3`) instead of a small in-process server. */
export const onMinio = process.env['TEST_S3'] === 'minio'

/** Whether tests use MinIO or versitygw, which honour If-None-Match. */
export const onRealServer = onMinio || process.env['TEST_S3'] === 'versitygw'

/** A server that verifies signatures, but overwrites objects despite If-None-Match. */
const startSmallServer = async (tls?: Certificate): Promise<TestS3> => {
  const folder = await mkdtemp(join(tmpdir(), 'shutterfleet-s3-'))
  const port = await freePort()
  const key = `S3RVER${port}`
  const certificate = tls && { cert: await readFile(tls.certPath), key: await readFile(tls.keyPath) }
  const launch = async (secretNow = secret) => {
    user.createKeyPair(key, secretNow)
    const server = new S3rver({
      address: '127.0.0.1',
      port,
      directory: folder,
      silent: true,
      allowMismatchedSignatures: false,
      configureBuckets: [{ name: 'images' }],
      ...certificate,
    }) as Server
    await server.run()
    return server
  }
  let running: Server | undefined = await launch()
  const stop = async () => {
    const closed = running?.close()
    running?.httpServer.closeAllConnections()
    running = undefined
    await closed
  }
  return {
    url: `${tls ? 'https' : 'http'}://${key}:${secret}@127.0.0.1:${port}/images?region=us-east-1`,
    stop,
    start: async (secretNow) => {
      running = await launch(secretNow)
    },
    [Symbol.asyncDispose]: async () => {
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Starts an S3 server on a free port with a new folder; over TLS if a certificate is given. */
export const startS3 = (tls?: Certificate): Promise<TestS3> =>
  onRealServer ? startMinio({ tls }) : startSmallServer(tls)
