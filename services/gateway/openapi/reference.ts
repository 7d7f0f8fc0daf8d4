import { createHash } from 'node:crypto'
import { openapiDocument, type RouteToDescribe } from './openapi-document.ts'
import { referencePage } from './reference-page.ts'

/** A text that is served as it is, with its strong validator. */
export type Printed = { readonly bytes: Buffer; readonly etag: string }

/** The interface's own description, for machines and for people. */
export type Reference = { readonly document: () => Printed; readonly page: () => Printed }

const print = (text: string): Printed => {
  const bytes = Buffer.from(text)
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('hex')}"` }
}

const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined
  return () => (made ??= make())
}

/** Describes the routes, once each for machines and people. `publicUrl` is asked at the first request: it may not be known before. */
export const createReference = (routes: readonly RouteToDescribe[], publicUrl: () => string): Reference => {
  const document = once(() => openapiDocument(routes, publicUrl()))
  return {
    document: once(() => print(JSON.stringify(document()))),
    page: once(() => print(referencePage(document()))),
  }
}
