import type { OpenapiDocument } from './openapi-document.ts'

/** The document as one HTML page, without scripts and without anything from elsewhere. */
export const referencePage = (document: OpenapiDocument): string =>
  `<!doctype html><title>${document.info.title}</title>`
