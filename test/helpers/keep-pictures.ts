import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'

const failures = join(tmpdir(), 'shutterfleet-reference')

const differenceOf = async (one: Uint8Array, two: Uint8Array): Promise<Buffer> => {
  const flat = await sharp(two).removeAlpha().toBuffer()
  return sharp(one)
    .removeAlpha()
    .composite([{ input: flat, blend: 'difference' }])
    .png()
    .toBuffer()
}

/** Writes the pictures of a failed comparison of a page, and returns the folder. */
export const keepPictures = async (
  path: string,
  { ours, reference }: { readonly ours: Uint8Array; readonly reference: Uint8Array },
): Promise<string> => {
  const folder = join(failures, path)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'ours.png'), ours)
  await writeFile(join(folder, 'reference.png'), reference)
  // There is no difference picture if the sizes differ.
  const difference = await differenceOf(ours, reference).catch(() => undefined)
  if (difference) await writeFile(join(folder, 'difference.png'), difference)
  return folder
}
