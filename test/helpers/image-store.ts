import type { Put } from '#shared/queue/messages.ts'
import { ImageUpload, type Store } from '#worker/delivery/store-image.ts'
import { createPullGate, reportedHolds } from '#worker/lifecycle/pull-gate.ts'

/** A worker's store with a real pull gate. `changes` lists its holds and releases. */
export const createImageStore = (sign: Store['sign'] = async () => undefined) => {
  const gate = createPullGate()
  const changes: string[] = []
  const stopping = new AbortController()
  const events = {
    held: (cause: string, reason: string) => void changes.push(`held by ${cause}: ${reason}`),
    released: (cause: string) => void changes.push(`released by ${cause}`),
  }
  const holds = { ...gate, ...reportedHolds(gate, events) }
  const store: Store = { sign, holds, failing: new Set(), stop: stopping.signal }
  return { store, holds, changes, stop: () => stopping.abort() }
}

/** Stores an image with one signed address; throws why it could not be stored. */
export const storeImage = async (put: Put, image: { bytes: Uint8Array; mimeType: string }, endsAt: number) => {
  const upload = new ImageUpload(createImageStore().store, { id: 'capture', image, put, isExclusive: true })
  if ((await upload.storeBy(endsAt)) === undefined) throw new Error(`PUT ${put.key}: ${upload.fault}`)
}
