import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright'
import { writeFontAliases } from '#worker/host/font-aliases.ts'
import { type Process, processTree } from '#test/helpers/process-tree.ts'

/** Path of the Chromium that the services use too. */
export const chromiumPath = process.env['SHUTTERFLEET_CHROMIUM'] ?? '/usr/lib/chromium/chromium-headless-shell'

/** Path of the full Chromium that the services use too. */
export const stealthChromiumPath = process.env['SHUTTERFLEET_STEALTH_CHROMIUM'] ?? '/usr/lib/chromium/chromium'

/** The browsers below a process, without their child processes, which have the browser's command line until they exec. */
export const findBrowsers = (root: number): Process[] => {
  const browsers = processTree(root).filter(
    ({ command }) => command.startsWith(chromiumPath) && !command.includes('--type='),
  )
  return browsers.filter(({ parent }) => !browsers.some(({ pid }) => pid === parent))
}

const folder = await mkdtemp(join(tmpdir(), 'fonts-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const fonts = await writeFontAliases(folder)

/**
 * A bare Playwright browser to compare with: the same Chromium and fonts, no filter, no queue. Without its sandbox, since tests may
 * run as root; it opens only pages of this repository and of the system's packages.
 */
export const startBareBrowser = (args: string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath,
    chromiumSandbox: false,
    args,
    env: { ...process.env, FONTCONFIG_FILE: fonts },
  })

/** Takes one screenshot as a plain Playwright script would, in a new context. */
export const bareShot = async (
  browser: Browser,
  url: string,
  options: { fullPage?: boolean } = {},
): Promise<Buffer> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  try {
    const page = await context.newPage()
    await page.goto(url, { waitUntil: 'load' })
    return await page.screenshot({ type: 'png', fullPage: options.fullPage ?? false })
  } finally {
    await context.close()
  }
}
