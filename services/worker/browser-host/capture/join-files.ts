import { hash } from 'node:crypto'
import { type CapturedFile, renditionName } from '#shared/capture/files.ts'
import type { Shot } from '#worker/protocol/protocol.ts'
import type { ReadOutput } from './inspect/read-outputs.ts'
import type { ImageOutput } from './plan/plan-capture.ts'
import type { Image } from './shoot/encode.ts'

/** Another image of the same picture. */
export type Rendition = Image & Pick<ImageOutput, 'format'>

type Files = { readonly outputs: readonly ReadOutput[]; readonly renditions: readonly Rendition[] }

/** Joins an image and what is stored behind it, the outputs that could be read first. */
export const joinFiles = (image: Buffer, { outputs, renditions }: Files): Pick<Shot, 'bytes' | 'files' | 'sha256'> => {
  const sha256 = hash('sha256', image)
  const read = outputs.flatMap(({ name, content }) => (content ? [{ name, content }] : []))
  if (read.length + renditions.length === 0) return { bytes: image, sha256 }
  const stored = (content: Buffer) => ({ bytes: content.length, sha256: hash('sha256', content) })
  const files: CapturedFile[] = [
    ...read.map(({ name, content }) => ({ name, ...stored(content) })),
    ...renditions.map(({ bytes, ...described }, at) => ({ name: renditionName(at), ...described, ...stored(bytes) })),
  ]
  const contents = [...read.map(({ content }) => content), ...renditions.map(({ bytes }) => bytes)]
  return { bytes: Buffer.concat([image, ...contents]), files, sha256 }
}
