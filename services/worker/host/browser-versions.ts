import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { BrowserKind } from '#shared/capture/pool-of.ts'
import type { InstalledBrowser } from '#shared/queue/messages.ts'
import { toBuildTime } from '#shared/policy/browser-age.ts'
import type { Browsers } from '#worker/protocol/protocol.ts'
import { systemPath } from '#worker/isolation/isolated.ts'

const runMs = 20_000
const outputBytesMax = 4096

const readVersion = async (binary: string): Promise<string> => {
  const options = { timeout: runMs, maxBuffer: outputBytesMax, cwd: '/', env: { PATH: systemPath, HOME: '/tmp' } }
  const { stdout } = await promisify(execFile)(binary, ['--version'], options)
  const [version] = /\d{1,6}(?:\.\d{1,6}){1,3}/.exec(stdout) ?? []
  if (version === undefined) throw new Error(`${binary} --version printed no version`)
  return version
}

const readBrowser = async (browser: BrowserKind, binary: string, nowMs: number): Promise<InstalledBrowser> => {
  const [version, { mtimeMs }] = await Promise.all([readVersion(binary), stat(binary)])
  const builtAtMs = toBuildTime(mtimeMs, nowMs)
  return { browser, version, ...(builtAtMs !== undefined && { builtAtMs }) }
}

/**
 * Reads versions and build times of the installed browsers, each within 20 s. Runs the binaries outside of the isolation, but
 * without a page. One that fails is left out, after a call of `failed`.
 */
export const readInstalledBrowsers = async (
  { binaries }: Browsers,
  nowMs: number,
  failed: (browser: BrowserKind, cause: unknown) => void,
): Promise<readonly InstalledBrowser[]> => {
  const installed = await Promise.all(
    Object.entries(binaries).map(async ([kind, binary]) => {
      const browser = kind as BrowserKind
      return await readBrowser(browser, binary, nowMs).catch((cause: unknown) => {
        failed(browser, cause)
        return undefined
      })
    }),
  )
  return installed.flatMap((each) => each ?? [])
}
