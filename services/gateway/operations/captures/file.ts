import { findSealedCapture } from '#shared/db/find-capture.ts'
import { etagOf, fileHeaders, imageGone, readImage, storedFile } from '#gateway/images/read-image.ts'
import { isUnchanged } from '#gateway/http/answer.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { limitHeaders } from '#gateway/openapi/schema/answer-headers.ts'
import { emptyAnswer, fileContent, headerParameter, imageHeaderNames } from '#gateway/openapi/schema/contract.ts'
import { forCaller } from '#gateway/operations/operation.ts'
import { readyImage } from './image.ts'

/** Returns an output or a rendition of a completed screenshot. */
export const downloadFile = forCaller({
  name: 'file',
  method: 'GET',
  path: '/screenshots/:id/files/:file',
  scopes: ['capture', 'read'],
  tag: 'Screenshots',
  summary: 'Download an output or rendition',
  description:
    'Returns content of the page that was requested with `outputs`, or another image that was requested with `renditions`; the record has the addresses.',
  parameters: [
    headerParameter('If-None-Match', '`ETag` that the client has; returns 304 if it is still current.', {
      type: 'string',
    }),
  ],
  answers: {
    200: { description: 'The file.', headers: [...limitHeaders, ...imageHeaderNames], content: fileContent },
    304: emptyAnswer('The file has not changed.', [...limitHeaders, 'ETag', 'X-Screenshot-Id', 'X-Cache']),
  },
  errors: ['NOT_READY', 'EXPIRED'],
  run: async (context, { caller, id, file: name, headers: { 'if-none-match': known } }) => {
    const capture = orNotFound(await findSealedCapture(context.database, { id, accountId: caller.accountId }))
    const { file, stored } = orNotFound(
      storedFile(readyImage(capture, context.now(), context.records), capture.files, name),
    )
    const headers = fileHeaders(capture, file)
    if (isUnchanged(known, etagOf(file))) return { status: 304, headers }
    const body = await readImage(context, stored)
    if (!body) throw imageGone(context, capture.id)
    return { status: 200, headers: { ...headers, 'content-length': String(file.bytes) }, body }
  },
})
