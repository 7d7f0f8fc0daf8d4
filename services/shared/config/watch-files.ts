import { setTimeout as delay } from 'node:timers/promises'
import { readBounded } from './read-bounded.ts'

/** Bounds each file, in bytes: a bundle of all public authorities has a quarter of it. */
const bytesMax = 1_048_576

/** What becomes of the texts of files that are read again. */
export type FilesWatcher = {
  /** Takes the texts of all files; throws if they cannot be used. */
  readonly apply: (texts: readonly string[]) => void
  /** Files of which an earlier version was applied, and stays in use, cannot be read or applied; called once until they can. */
  readonly failed: (cause: unknown) => void
  readonly everyMs?: number
}

/**
 * Reads files, and again every five seconds until disposed, and applies them whenever one has changed. Files that do not match,
 * because they are read while they are replaced, are read again. Throws what the first reading or applying throws.
 */
export const watchFiles = async (
  paths: readonly string[],
  { apply, failed, everyMs = 5000 }: FilesWatcher,
): Promise<Disposable> => {
  const disposal = new AbortController()
  const { signal } = disposal
  let applied: readonly string[] = []
  const update = async () => {
    const texts = await Promise.all(paths.map((path) => readBounded(path, bytesMax)))
    if (signal.aborted || (applied.length > 0 && texts.every((text, index) => text === applied[index]))) return
    apply(texts)
    applied = texts
  }
  await update()
  const keepUpdating = async () => {
    let isFailing = false
    while (!signal.aborted) {
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => {})
      try {
        await update()
        isFailing = false
      } catch (cause) {
        if (!isFailing && !signal.aborted) failed(cause)
        isFailing = true
      }
    }
  }
  void keepUpdating()
  return { [Symbol.dispose]: () => disposal.abort() }
}
