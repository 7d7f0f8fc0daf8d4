import sharp from 'sharp'
import type { CaptureParameters } from '#shared/capture/options.ts'
import { captureWith } from '#test/helpers/browser-host.ts'
import type { Shot } from '#worker/browser-host/protocol.ts'
import type { Host } from '#worker/host-process.ts'

export const blue = [0, 0, 255]
export const red = [255, 0, 0]

/** A red page. */
export const redPage = (body: string): string => `<!doctype html><body style="margin:0;background:rgb(255,0,0)">${body}`

/** What captures come to in a host; five seconds are enough for the pages of the tests. */
export const capturesOf = (host: Host) => {
  const take = (parameters: CaptureParameters) => captureWith(host, { timeout: 5, ...parameters })
  const shotOf = async (parameters: CaptureParameters): Promise<Shot> => {
    const outcome = await take(parameters)
    if (outcome.outcome !== 'completed') throw new Error(JSON.stringify(outcome))
    return outcome.shot
  }
  return { take, shotOf }
}

/** Red, green and blue of a pixel. */
export const pixel = async ({ bytes }: Pick<Shot, 'bytes'>, x: number, y: number): Promise<number[]> => {
  const image = sharp(bytes).removeAlpha().toColourspace('srgb')
  return [...(await image.extract({ left: x, top: y, width: 1, height: 1 }).raw().toBuffer())]
}
