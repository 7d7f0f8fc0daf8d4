import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Client } from 'minio'
import { endWithParent } from './cluster-processes.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

/** The server of compose.yaml instead of MinIO (`TEST_S3=versitygw make test-s3`). */
const isVersitygw = process.env['TEST_S3'] === 'versitygw'
/** Built by scripts/build-minio.sh or scripts/build-versitygw.sh. */
const program = resolve(import.meta.dirname, '../../.tools', isVersitygw ? 'versitygw/versitygw' : 'minio/minio')
const [bucket, accessKey, region] = ['images', 'tests', 'us-east-1'] as const
const firstSecret = 'secret-of-tests'
const startMs = 60_000
const logTailChars = 2000

/** A MinIO on loopback with one empty bucket; `url` has the format of SHUTTERFLEET_S3_URL. */
export type Minio = AsyncDisposable & {
  readonly url: string
  /** Kills it; its objects stay, except on a disk in memory. Idempotent. */
  readonly stop: () => Promise<void>
  /** Restarts it at its address; with a different secret, it rejects the one in `url`. */
  readonly start: (secret?: string) => Promise<void>
  /** Path of a file on its disk that is not an object. */
  readonly otherFile: () => string
}

type Options = {
  readonly tls?: { readonly certPath: string; readonly keyPath: string } | undefined
  /** Size of a disk in memory to use (requires root). */
  readonly diskBytes?: number
  /** Further variables of its configuration. */
  readonly env?: Readonly<Record<string, string>>
}
type Place = Options & { readonly folder: string; readonly port: number }

const commandOf = ({ folder, port, tls }: Place): string[] => {
  const [certificates, objects] = [join(folder, 'certs'), join(folder, 'disk/objects')]
  if (!isVersitygw) return ['server', '--address', `127.0.0.1:${port}`, '--certs-dir', certificates, objects]
  const flags = tls ? ['--cert', join(certificates, 'public.crt'), '--key', join(certificates, 'private.key')] : []
  return ['--port', `127.0.0.1:${port}`, ...flags, 'posix', objects]
}

const spawnServer = async (place: Place, secret: string) => {
  const { folder, diskBytes, env } = place
  const disk = join(folder, 'disk')
  const mount = `mount -t tmpfs -o size=${diskBytes} tmpfs ${disk}\nexec "$@"`
  const mounted = diskBytes === undefined ? [] : ['unshare', '--mount', 'sh', '-ec', mount, 'sh']
  const settings = {
    MINIO_ROOT_USER: accessKey,
    MINIO_ROOT_PASSWORD: secret,
    MINIO_BROWSER: 'off',
    MINIO_UPDATE: 'off',
    ROOT_ACCESS_KEY: accessKey,
    ROOT_SECRET_KEY: secret,
  }
  await using log = await open(join(folder, 'log'), 'a')
  return spawn('setpriv', [...endWithParent, ...mounted, program, ...commandOf(place)], {
    stdio: ['ignore', log.fd, log.fd],
    env: { PATH: process.env['PATH'], HOME: folder, ...settings, ...env },
  })
}

/** Rejects with the end of its log if it exits, or does not serve within a minute. */
const launch = async (place: Place, secret = firstSecret) => {
  const { folder, port, tls } = place
  const child = await spawnServer(place, secret)
  const ended = once(child, 'exit')
  const where = { endPoint: '127.0.0.1', port, useSSL: tls !== undefined, region }
  const client = new Client({ ...where, accessKey, secretKey: secret, retryOptions: { disableRetry: true } })
  client.setRequestOptions({ rejectUnauthorized: false })
  // Neither the banner in its log nor the open port means that it serves requests yet.
  const makeBucket = async () => {
    if (!(await client.bucketExists(bucket))) await client.makeBucket(bucket, region)
    return true
  }
  const serves = eventually(makeBucket, { withinMs: startMs, what: 'MinIO serves' })
  const failed = ended.then(() => Promise.reject(new Error('MinIO has ended')))
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  try {
    await Promise.race([serves, failed])
  } catch (cause) {
    await stop()
    throw new Error((await readFile(join(folder, 'log'), 'utf8')).slice(-logTailChars), { cause })
  }
  return { pid: child.pid ?? 0, stop }
}

/** Starts MinIO, or what `TEST_S3` names, on a free port with a new folder; over TLS if a certificate is given. */
export const startMinio = async (options: Options = {}): Promise<Minio> => {
  const folder = await mkdtemp(join(tmpdir(), 'minio-'))
  const place = { ...options, folder, port: await freePort() }
  for (const name of ['certs', 'disk/objects']) await mkdir(join(folder, name), { recursive: true })
  if (options.tls) {
    await copyFile(options.tls.certPath, join(folder, 'certs/public.crt'))
    await copyFile(options.tls.keyPath, join(folder, 'certs/private.key'))
  }
  let running = await launch(place)
  return {
    url: `${options.tls ? 'https' : 'http'}://${accessKey}:${firstSecret}@127.0.0.1:${place.port}/${bucket}?region=${region}`,
    stop: () => running.stop(),
    start: async (secret) => {
      running = await launch(place, secret)
    },
    otherFile: () => `/proc/${running.pid}/root${folder}/disk/other`,
    [Symbol.asyncDispose]: async () => {
      await running.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
