import type { Session } from '#worker/browser-host/browser/connection.ts'
import type { OpenPage } from '#worker/browser-host/capture/page/open-page.ts'

/** Whether a media type is that of a text, some of which Chromium downloads instead of showing them, as tables and calendars. */
export const isText = (mimeType: string | undefined): boolean =>
  /^text\/|^application\/(?:[\w.-]+\+)?(?:csv|json|toml|xml|x-yaml|yaml)$/i.test(mimeType ?? '')

/** Most bytes of a text that are shown. */
const bytesMax = 2_000_000

/** The body of a paused response, as far as it is shown. */
const readBody = async (session: Session, requestId: string): Promise<Buffer> => {
  const { stream: handle } = await session.send('Fetch.takeResponseBodyAsStream', { requestId })
  const parts: Buffer[] = []
  for (let bytes = 0, isRead = false; bytes < bytesMax && !isRead;) {
    const { data, base64Encoded, eof } = await session.send('IO.read', { handle })
    const part = Buffer.from(data, base64Encoded === true ? 'base64' : 'utf8')
    parts.push(part)
    bytes += part.length
    isRead = eof
  }
  await session.send('IO.close', { handle })
  return Buffer.concat(parts).subarray(0, bytesMax)
}

const shownHeaders = new Set(['content-encoding', 'content-length', 'content-type'])

/** Navigates by `go`, and shows what the main frame receives as plain text, in its character set or else UTF-8. Resolves to what `go` does. */
export const asPlainText = async <T>(
  { session, mainFrameId }: Pick<OpenPage, 'session' | 'mainFrameId'>,
  go: () => Promise<T>,
): Promise<T> => {
  session.on('Fetch.requestPaused', ({ requestId, frameId, responseStatusCode, responseHeaders = [] }) => {
    const show = async () => {
      // A redirect, or a frame's.
      if (
        frameId !== mainFrameId ||
        responseStatusCode === undefined ||
        responseStatusCode < 200 ||
        responseStatusCode >= 300
      )
        return await session.send('Fetch.continueRequest', { requestId })
      const type = responseHeaders.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? ''
      const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8'
      const others = responseHeaders.filter(({ name }) => !shownHeaders.has(name.toLowerCase()))
      const body = await readBody(session, requestId)
      return await session.send('Fetch.fulfillRequest', {
        requestId,
        responseCode: responseStatusCode,
        responseHeaders: [...others, { name: 'content-type', value: `text/plain; charset=${charset}` }],
        body: body.toString('base64'),
      })
    }
    show().catch(() => session.send('Fetch.failRequest', { requestId, errorReason: 'Failed' }).catch(() => {}))
  })
  await session.send('Fetch.enable', { patterns: [{ resourceType: 'Document', requestStage: 'Response' }] })
  try {
    return await go()
  } finally {
    await session.send('Fetch.disable')
  }
}
