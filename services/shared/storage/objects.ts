import { randomBytes } from 'node:crypto'

const keyForm = /^captures\/\d{4}-\d{2}-\d{2}T\d{2}\/([0-9a-f-]{36})\/[0-9a-f]{32}$/

/** A new key for one attempt of a capture, under the hour of its acceptance so that a sweep can go hour by hour. */
export const newObjectKey = (captureId: string, acceptedAt: Date): string =>
  `captures/${acceptedAt.toISOString().slice(0, 13)}/${captureId}/${randomBytes(16).toString('hex')}`

/** Whether `key` is one that `newObjectKey` makes for this capture: what a worker reports must pass. */
export const isObjectKeyOf = (captureId: string, key: string): boolean => keyForm.exec(key)?.[1] === captureId

/** Whether `key` is an object's key at all: what reaches the files driver must pass. */
export const isObjectKey = (key: string): boolean => keyForm.test(key)
