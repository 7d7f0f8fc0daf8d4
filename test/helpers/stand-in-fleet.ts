import { createHash } from 'node:crypto'
import { type Lane, lanes, type Pool } from '#shared/capture/lane.ts'
import type { CaptureErrorCode } from '#shared/errors/catalog.ts'
import type { ResultDetails } from '#shared/capture/result-details.ts'
import { sealDetails } from '#shared/db/result-seal.ts'
import { publishCompletion } from '#ledger/reports/publish-completion.ts'
import { changeCaptures } from '#shared/db/change-captures.ts'
import {
  captureCodec,
  type CompletedResult,
  resultCodec,
  sealedCodec,
  type SealedPart,
} from '#shared/queue/messages.ts'
import type { Delivery } from '#shared/queue/pull.ts'
import { pullBatch } from '#test/helpers/pull-batch.ts'
import { open } from '#shared/queue/seal.ts'
import { publishStored } from '#shared/queue/stored.ts'
import { resultSubject } from '#shared/queue/subjects.ts'
import { capturesStream, laneConsumerName } from '#shared/queue/topology.ts'
import type { RunningGateway } from './running-gateway.ts'

/** Outcome of a capture: an image of these bytes from a page with status 200 or `targetStatus`, a failure, or none. */
export type Behaviour =
  | {
      readonly image: Buffer
      readonly targetStatus?: number
      readonly before?: () => Promise<void>
      readonly warnings?: ResultDetails['warnings']
      readonly metadata?: ResultDetails['metadata']
      readonly finalUrl?: string
      /** Stored behind the image. */
      readonly html?: Buffer
    }
  | { readonly fails: CaptureErrorCode; readonly message?: string }
  | 'nothing'

/** A stand-in for workers, and the captures that it received, with their lanes. */
export type StandInFleet = AsyncDisposable & {
  readonly received: { readonly id: string; readonly lane: Lane; readonly part: SealedPart }[]
}

/**
 * Stands in for the workers of one pool and the ledger: pulls captures, opens their secrets, PUTs bytes to the signed URL,
 * reports, commits the end to the row unless a ledger does, and publishes the completion unless `silent`.
 */
export const startStandInFleet = (
  gateway: RunningGateway,
  behave: (part: SealedPart) => Behaviour,
  { silent = false, pool = 'standard', commits = true }: { silent?: boolean; pool?: Pool; commits?: boolean } = {},
): StandInFleet => {
  const stopping = new AbortController()
  const received: { id: string; lane: Lane; part: SealedPart }[] = []
  const { queue, database } = gateway

  const commit = async (id: string, end: Parameters<typeof endOf>[0]) => {
    if (!commits) return
    const change = { attempts: 1, unendedStarts: 0, begins: true, end: endOf(end) }
    const { captures } = await changeCaptures(database, [id], ({ status }) =>
      status === 'pending' || status === 'processing' ? { change } : {},
    )
    if (!silent) for (const capture of captures) publishCompletion(queue, capture)
  }

  const serve = async (lane: Lane, delivery: Delivery) => {
    const { id, sealed } = captureCodec.decode(delivery.data)
    const part = sealedCodec.decode(open([gateway.openingKeys[pool]], id, Buffer.from(sealed, 'base64')))
    received.push({ id, lane, part })
    const behaviour = behave(part)
    if (behaviour === 'nothing') return delivery.ack()
    const report = { id, attempt: 1, token: part.token, timings: { total: 5 } }
    if ('fails' in behaviour) {
      const end = {
        ...report,
        outcome: 'failed',
        code: behaviour.fails,
        details: sealDetails(part.resultKey, id, { message: behaviour.message ?? 'as the test wants' }),
      } as const
      await publishStored(queue, resultSubject({ pool, id }), resultCodec.encode(end))
      await commit(id, end)
      delivery.ack()
    } else {
      const [put] = part.puts
      const { status } = await fetch(put?.url ?? '', {
        method: 'PUT',
        body: Buffer.concat([behaviour.image, behaviour.html ?? Buffer.alloc(0)]),
        headers: { 'if-none-match': '*' },
      })
      if (status !== 201) throw new Error(`put: ${status}`)
      const details = sealDetails(part.resultKey, id, detailsOf(behaviour))
      const end: CompletedResult = { ...report, ...createImage(put?.key ?? '', behaviour), details }
      await publishStored(queue, resultSubject({ pool, id }), resultCodec.encode(end))
      // Before waiting, otherwise a capture held for longer than its lease is redelivered.
      delivery.ack()
      await behaviour.before?.()
      await commit(id, end)
    }
  }

  const serveLane = async (lane: Lane) => {
    const from = { stream: capturesStream.name, consumer: laneConsumerName(pool, lane) }
    while (!stopping.signal.aborted) {
      const deliveries = await pullBatch(queue, from, { batch: 50, expiresMs: 500, signal: stopping.signal })
      await Promise.all(deliveries.map((delivery) => serve(lane, delivery)))
    }
  }

  const running = Promise.all(lanes.map(serveLane))
  return {
    received,
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await running
    },
  }
}

const sha256Hex = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

const detailsOf = ({
  warnings = [],
  metadata,
  finalUrl = 'https://example.com/',
}: Extract<Behaviour, { image: Buffer }>): ResultDetails => ({
  finalUrl,
  warnings,
  ...(metadata && { metadata }),
})

const createImage = (objectKey: string, { image, targetStatus = 200, html }: Extract<Behaviour, { image: Buffer }>) =>
  ({
    outcome: 'completed',
    objectKey,
    bytes: image.length,
    sha256: sha256Hex(image),
    width: 1280,
    height: 800,
    targetStatus,
    ...(html && { files: [{ name: 'html' as const, bytes: html.length, sha256: sha256Hex(html) }] }),
  }) as const

const endOf = (result: ReturnType<typeof resultCodec.decode>) =>
  result.outcome === 'failed'
    ? ({ status: 'failed', code: result.code, sealedResult: result.details } as const)
    : ({
        status: 'completed',
        objectKey: result.objectKey,
        fileSize: result.bytes,
        sha256: result.sha256,
        mimeType: 'image/png',
        width: result.width,
        height: result.height,
        processingTimeMs: 5,
        targetStatus: result.targetStatus,
        sealedResult: result.details,
        timings: { total: 5 },
        files: result.files,
      } as const)
