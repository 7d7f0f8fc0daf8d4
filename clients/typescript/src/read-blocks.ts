/** Yields the parts of a body that end with `separator`, as they arrive. Cancels the body if the reader stops early. */
export const readBlocks = async function* readBlocks(
  body: ReadableStream<Uint8Array>,
  separator: string,
): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + decoder.decode(value, { stream: true })).split(separator)
      rest = blocks.pop() ?? ''
      yield* blocks
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
