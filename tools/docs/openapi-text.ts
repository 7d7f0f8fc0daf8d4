import { adminDocument } from '#gateway/admin/admin-document.ts'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { routes } from '#gateway/routes.ts'

/** The text of docs/openapi.json: a gateway's description, with an example base URL. */
export const openapiText = (): string =>
  `${JSON.stringify(openapiDocument(routes, 'https://shots.example'), undefined, 2)}\n`

/** The text of docs/admin-openapi.json. */
export const adminOpenapiText = (): string => `${JSON.stringify(adminDocument(), undefined, 2)}\n`
