import { rename, writeFile } from 'node:fs/promises'

/** Replaces a file at once, as a kubelet does, so that it is never read half-written. */
export const replaceFile = async (path: string, text: string): Promise<void> => {
  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
}
