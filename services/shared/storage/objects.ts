import { randomBytes } from 'node:crypto'

const keyForm = /^captures\/\d{4}-\d{2}-\d{2}T\d{2}\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/[0-9a-f]{32}$/
const hourMs = 3_600_000

/** Prefix of the keys of all objects. */
export const objectsPrefix = 'captures/'

/** Key prefix of captures that were accepted in the hour of `acceptedAt`; keys sort by it. */
export const hourPrefix = (acceptedAt: Date): string => `${objectsPrefix}${acceptedAt.toISOString().slice(0, 13)}/`

/**
 * Key prefixes of a capture's attempts. The hour may come from a different clock than `acceptedAt`, so the previous
 * and the next hour are included.
 */
export const objectPrefixes = (captureId: string, acceptedAt: Date): string[] =>
  [-hourMs, 0, hourMs].map((ms) => `${hourPrefix(new Date(acceptedAt.getTime() + ms))}${captureId}/`)

/** A new key for one attempt of a capture, under the hour of its acceptance so that a sweep can go hour by hour. */
export const newObjectKey = (captureId: string, acceptedAt: Date): string =>
  `${hourPrefix(acceptedAt)}${captureId}/${randomBytes(16).toString('hex')}`

/** Whether `key` has the form that `newObjectKey` makes for this capture. Every key that a worker reports must pass. */
export const isCaptureObjectKey = (captureId: string, key: string): boolean => keyForm.exec(key)?.[1] === captureId

/** Whether `key` has the form of an object's key. Every key given to the files driver must pass. */
export const isObjectKey = (key: string): boolean => keyForm.test(key)
