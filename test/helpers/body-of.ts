/** The text of a response. That of server-sent events does not end: it is cancelled, and empty. */
export const bodyOf = async (answer: Response): Promise<string> => {
  if (!answer.ok || !answer.headers.get('content-type')?.startsWith('text/event-stream')) return await answer.text()
  await answer.body?.cancel()
  return ''
}
