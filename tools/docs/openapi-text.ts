import { openapiDocument } from '#gateway/openapi/document.ts'
import { routes } from '#gateway/operations/routes.ts'

/** The text of docs/openapi.json: the interface as a gateway describes it that clients reach at an example's address. */
export const openapiText = (): string =>
  `${JSON.stringify(openapiDocument(routes, 'https://shots.example.com'), undefined, 2)}\n`
