import { resolve } from 'node:path'
import { serveFolder } from '#test/helpers/serve-folder.ts'
import { startSystem, type System } from '#test/helpers/system.ts'

/** A system that captures a small static page. */
export type SmallPage = {
  readonly system: System
  readonly url: string
  /** Captures the page once; returns the id of its record. */
  readonly capture: () => Promise<string>
}

/** The page at `url`, captured by a running system. */
export const smallPageOf = (system: System, url: string): SmallPage => ({
  system,
  url,
  capture: async () => {
    const response = await system.request(`/v1/screenshots/capture?url=${encodeURIComponent(url)}`)
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
    await response.arrayBuffer()
    return response.headers.get('x-screenshot-id') ?? ''
  },
})

/** Starts a server for the small page, and a system with additional arguments and environment variables. */
export const startSmallPage = async (
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<SmallPage & AsyncDisposable> => {
  await using opened = new AsyncDisposableStack()
  const site = opened.use(await serveFolder(resolve(import.meta.dirname, '../fixtures/site')))
  const system = opened.use(await startSystem(['--allow-target', site.host, ...args], { env }))
  const owned = opened.move()
  return {
    ...smallPageOf(system, `http://${site.host}/index.html`),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
