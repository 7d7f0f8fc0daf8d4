import type { Operation } from './operation.ts'
import { showPrinted } from './show-printed.ts'

/** `GET /openapi.json`: the interface as OpenAPI 3.1. Needs no key; parameters are ignored. */
export const showOpenapi: Operation = async ({ reference }, exchange) =>
  showPrinted(exchange, reference.document(), { 'content-type': 'application/json; charset=utf-8' })
