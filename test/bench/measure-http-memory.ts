import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '#shared/db/connection.ts'
import { hourPrefix } from '#shared/storage/objects.ts'
import { pssBytes } from '#test/helpers/process-tree.ts'
import { createClients, createRequest, getRequest, type Served, startServed } from './served.ts'

/** Memory of the gateway's process in bytes. */
export type GatewayMemory = {
  /** After each tenth of the requests. */
  readonly tenths: readonly number[]
  readonly before: number
  /** Most while all downloads were under way. */
  readonly during: number
  readonly after: number
}

/** How much is measured. */
export type MemoryWorkload = {
  readonly requests: number
  /** Requests are sent for so long, again and again, until they are enough. */
  readonly sendSeconds: number
  readonly downloads: number
  readonly imageBytes: number
  readonly settleMs: number
  readonly watchMs: number
}

const accounts = 50
const connections = 32
const lookMs = 500
/** A download of about 64 KiB a second. */
const sipMs = 1000

const sendMany = async ({ gateway, send }: Served, keys: readonly string[], workload: MemoryWorkload) => {
  const { requests, sendSeconds } = workload
  const texts = keys.map((key) => createRequest(key))
  const tenths: number[] = []
  for (let tenth = 0; tenth < 10; tenth += 1) {
    let sent = 0
    while (sent < requests / 10) sent += (await send({ requests: texts, connections, seconds: sendSeconds })).answers
    tenths.push(pssBytes(gateway.pid))
  }
  return tenths
}

const storeImage = async (database: Database, folder: string, image: { accountId: string; imageBytes: number }) => {
  const { accountId, imageBytes } = image
  const id = randomUUID()
  const key = `${hourPrefix(new Date())}${id}/${'0'.repeat(32)}`
  await mkdir(dirname(join(folder, key)), { recursive: true })
  await writeFile(join(folder, key), Buffer.alloc(imageBytes))
  await database.query(
    `insert into capture (id, account_id, pool, lane, status, url, options, token_hash, budget_ms, period,
       retention_seconds, created_at, completed_at, expires_at, object_key, file_size, sha256, mime_type, width, height, part)
     values ($1, $2, 'standard', 'normal', 'completed', 'https://example.com/', '{"format":"png"}', 'x', 1000, now(), 3600,
       now(), now(), now() + interval '1 hour', $3, $4, $5, 'image/png', 1, 1, 'ended')`,
    [id, accountId, key, imageBytes, '0'.repeat(64)],
  )
  return `/v1/screenshots/${id}/image`
}

/** Reads what has come once a second, and pauses. */
const sip = (port: number, request: string): Socket => {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.on('data', () => {
    socket.pause()
    setTimeout(() => socket.resume(), sipMs)
  })
  socket.write(request)
  return socket
}

const mostOver = async (pid: number, ms: number): Promise<number> => {
  let most = 0
  for (const end = performance.now() + ms; performance.now() < end; await delay(lookMs)) {
    most = Math.max(most, pssBytes(pid))
  }
  return most
}

/** Measures the gateway's memory over a number of accepted requests, then with slow downloads of a large image. */
export const measureGatewayMemory = async (workload: MemoryWorkload): Promise<GatewayMemory> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-images-'))
  try {
    await using served = await startServed({ STORAGE_FOLDER: folder })
    const clients = await createClients(served.gateway.database, accounts)
    const [first] = clients
    if (!first) throw new Error('there is no client')
    const tenths = await sendMany(
      served,
      clients.map(({ key }) => key),
      workload,
    )
    const path = await storeImage(served.gateway.database, folder, {
      accountId: first.accountId,
      imageBytes: workload.imageBytes,
    })
    const { pid, baseUrl } = served.gateway
    await delay(workload.settleMs)
    const before = pssBytes(pid)
    const port = Number(new URL(baseUrl).port)
    const sockets = Array.from({ length: workload.downloads }, () => sip(port, getRequest(first.key, path)))
    const during = await mostOver(pid, workload.watchMs)
    for (const socket of sockets) socket.destroy()
    // What is free is given back as others are served.
    const few = [createRequest(first.key)]
    await served.send({ requests: few, connections: 1, seconds: workload.settleMs / 1000, perSecond: 100 })
    return { tenths, before, during, after: pssBytes(pid) }
  } finally {
    await rm(folder, { recursive: true })
  }
}
