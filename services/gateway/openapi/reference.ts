import { createHash } from 'node:crypto'
import type { Contract } from './contract.ts'
import { openapiDocument } from './document.ts'
import { referencePage } from './reference-page.ts'

/** A text that is served as it is, with its strong validator. */
export type StaticDocument = { readonly bytes: Buffer; readonly etag: string }

/** The interface's own description, for machines and for people. */
export type Reference = { readonly document: () => StaticDocument; readonly page: () => StaticDocument }

const toStatic = (text: string): StaticDocument => {
  const bytes = Buffer.from(text)
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('hex')}"` }
}

const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined
  return () => (made ??= make())
}

/** Describes the operations, once each for machines and people. `publicUrl` is read at the first request: it may not be known before. */
export const createReference = (operations: readonly Contract[], publicUrl: () => string): Reference => {
  const document = once(() => openapiDocument(operations, publicUrl()))
  return {
    document: once(() => toStatic(JSON.stringify(document()))),
    page: once(() => toStatic(referencePage(document()))),
  }
}
