/** Reads the body of a response of `fetch` to its end. Throws if it has more than `bytesMax` bytes. */
export const readBody = async ({ body, url }: Response, bytesMax: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new Error(`the response of ${url} is larger than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
