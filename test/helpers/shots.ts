import { createHash } from 'node:crypto'
import sharp from 'sharp'
import type { CaptureParameters } from '#shared/capture/options.ts'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { captureWith, startPages, startTestHost, startTestEgress } from '#test/helpers/browser-host.ts'
import type { Shot } from '#worker/protocol/protocol.ts'

export const blue = [0, 0, 255]
export const red = [255, 0, 0]

/** A red page. */
export const redPage = (body: string): string => `<!doctype html><body style="margin:0;background:rgb(255,0,0)">${body}`

/**
 * Serves the fixture pages and `routes` on loopback, also as `localhost`, and starts a browser host that can reach them, both
 * until the tests end. `shoot` throws if a capture does not complete; page timeout is five seconds.
 */
export const startCaptureEnvironment = async (
  lifetime: { readonly teardown: (clean: () => Promise<void>) => unknown },
  routes: Readonly<Record<string, Route>> = {},
) => {
  const pages = await startPages(routes)
  const port = pages.host.split(':')[1]
  const egress = await startTestEgress(`${pages.host} localhost:${port}`, { localhost: { A: ['127.0.0.1'] } })
  const host = await startTestHost(egress)
  lifetime.teardown(async () => {
    for (const part of [host, egress, pages]) await part[Symbol.asyncDispose]()
  })
  const take = (parameters: CaptureParameters) => captureWith(host, { timeout: 5, ...parameters })
  const shoot = async (parameters: CaptureParameters): Promise<Shot> => {
    const outcome = await take(parameters)
    if (outcome.outcome !== 'completed') throw new Error(JSON.stringify(outcome))
    return outcome.shot
  }
  return { pages, egress, host, take, shoot }
}

/** Red, green and blue of a pixel. */
export const pixel = async ({ bytes }: Pick<Shot, 'bytes'>, x: number, y: number): Promise<number[]> => {
  const image = sharp(bytes).removeAlpha().toColourspace('srgb')
  return [...(await image.extract({ left: x, top: y, width: 1, height: 1 }).raw().toBuffer())]
}

/** The image and the files behind it, by name; each has the size and the digest that the shot says. */
export const contentsOf = (
  t: { readonly equal: (found: unknown, expected: unknown) => unknown },
  { bytes, files = [] }: Shot,
) => {
  const contents = new Map<string, Buffer>()
  let end = bytes.byteLength
  for (const { name, bytes: size, sha256 } of files.toReversed()) {
    const content = Buffer.from(bytes.subarray(end - size, end))
    t.equal(createHash('sha256').update(content).digest('hex'), sha256)
    contents.set(name, content)
    end -= size
  }
  return contents.set('image', Buffer.from(bytes.subarray(0, end)))
}
