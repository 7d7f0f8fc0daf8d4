import { copyFile, mkdir, rename } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { testProgramPath } from './test-program-path.ts'

const source = resolve(import.meta.dirname, '../../bin/shutterfleet')
const main = testProgramPath('cli/main')

/** Copies the launcher beside a bundle, for which it looks there, as in an image. */
const copyInto = async (folder: string): Promise<string> => {
  const path = join(folder, 'shutterfleet')
  await mkdir(folder, { recursive: true })
  // Test processes that start at the same time replace each other's copy, never one that is half written.
  await copyFile(source, `${path}.${process.pid}`)
  await rename(`${path}.${process.pid}`, path)
  return path
}

/** `bin/shutterfleet` with a bundle of the current sources: a command takes a third of the processor time. */
export const commandLine: string = main.endsWith('.js') ? await copyInto(resolve(main, '../../../bin')) : source
