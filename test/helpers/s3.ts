import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
// @ts-expect-error the package carries no types
import S3rver from '@20minutes/s3rver'

/** A running S3 server with one empty bucket; `url` is the form that SHUTTERFLEET_S3_URL takes. */
export type TestS3 = AsyncDisposable & { readonly url: string }

type Server = { run: () => Promise<{ port: number }>; close: () => Promise<void> }

/** Starts an S3 server that verifies signatures, on a free port with a folder of its own; over TLS where it is given a certificate. */
export const startS3 = async (tls?: { readonly certPath: string; readonly keyPath: string }): Promise<TestS3> => {
  const folder = await mkdtemp(join(tmpdir(), 'shutterfleet-s3-'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    directory: folder,
    silent: true,
    resetOnClose: true,
    allowMismatchedSignatures: false,
    configureBuckets: [{ name: 'images' }],
    ...(tls && { cert: await readFile(tls.certPath), key: await readFile(tls.keyPath) }),
  }) as Server
  const { port } = await server.run()
  return {
    url: `${tls ? 'https' : 'http'}://S3RVER:S3RVER@127.0.0.1:${port}/images?region=us-east-1`,
    [Symbol.asyncDispose]: async () => {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
