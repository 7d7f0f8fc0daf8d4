import { writePart } from './page.ts'

/** A part of docs/benchmarks.md: the heading that it is below, and what measures it and answers its text. */
export type Part = { readonly heading: string; readonly measure: () => Promise<string> }

/** What is run: the parts with their names, of them those with the given `names` (none: all), and the line above each text. */
type Run = {
  readonly parts: Readonly<Record<string, Part>>
  readonly names: readonly string[]
  readonly footer: string
}

/**
 * Measures parts one after the other and writes each as soon as it is measured. If one fails, the others still run. Resolves to
 * the names of those that failed. Throws at once if a name is unknown.
 */
export const runParts = async ({ parts, names, footer }: Run, write = writePart): Promise<string[]> => {
  for (const name of names) if (!parts[name]) throw new Error(`${name} is none of ${Object.keys(parts).join(', ')}`)
  const failed: string[] = []
  for (const [name, { heading, measure }] of Object.entries(parts)) {
    if (names.length > 0 && !names.includes(name)) continue
    try {
      const text = `${footer}\n\n${(await measure()).trim()}\n`
      console.log(`## ${heading}\n\n${text}`)
      write(heading, text)
    } catch (error) {
      console.error(`${name} failed:`, error)
      failed.push(name)
    }
  }
  return failed
}

/** Runs parts as a program does: ends with exit 1 and names what failed. */
export const runProgram = async (run: Run, write?: typeof writePart): Promise<void> => {
  const failed = await runParts(run, write)
  if (failed.length === 0) return
  console.error(`not measured: ${failed.join(', ')}`)
  process.exitCode = 1
}
