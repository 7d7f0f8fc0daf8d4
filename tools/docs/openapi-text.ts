import { adminDocument } from '#gateway/admin/admin-document.ts'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { openResponses } from '#gateway/openapi/schema/open-responses.ts'
import { routes } from '#gateway/routes.ts'

const document = openapiDocument(routes, 'https://shots.example')

/** The responses as they are, from which the clients of this repository are made. */
export const exactOpenapiText = (): string => JSON.stringify(document)

/** The text of docs/openapi.json: a gateway's description, with an example base URL. */
export const openapiText = (): string => `${JSON.stringify(openResponses(document), undefined, 2)}\n`

/** The text of docs/admin-openapi.json. */
export const adminOpenapiText = (): string => `${JSON.stringify(adminDocument(), undefined, 2)}\n`
