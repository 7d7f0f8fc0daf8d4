import { execFile, execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright'
import { commandLine } from './command-line.ts'
import type { System } from './system.ts'

const root = resolve(import.meta.dirname, '../..')

/** Size and colours of a window of the console. */
export type WindowOptions = { readonly width?: number; readonly colorScheme?: 'light' | 'dark' }

/** Builds the console, which a system serves as it is when it starts. */
export const buildConsole = (): void => void execFileSync(process.execPath, ['tools/console/build.ts'], { cwd: root })

/** Opens a page by its name in the navigation, and waits until it has loaded. */
export const openPage = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('navigation').getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await page.locator('.loading').first().waitFor({ state: 'detached' })
}

/** Opens a sign-in link, and confirms it. */
export const openLink = async (page: Page, link: string): Promise<void> => {
  await page.goto(link)
  await page.getByRole('button', { name: /^Sign in to / }).click()
  await page.getByRole('navigation').waitFor()
}

/** Windows of a system's console, each with a browser context of its own, and what none of them may do. */
export const consolePages = (browser: Browser, { baseUrl, dataDir }: Pick<System, 'baseUrl' | 'dataDir'>) => {
  /** Violations of the content security policy, errors of scripts, dialogs, and requests to elsewhere. */
  const complaints: string[] = []
  const openContext = async ({ width = 1280, colorScheme = 'light' }: WindowOptions = {}): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
    const page = await context.newPage()
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) complaints.push(message.text())
    })
    page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`))
    page.on('request', (request) => {
      if (!request.url().startsWith(baseUrl)) complaints.push(request.url())
    })
    return page
  }
  /** A new sign-in link, which works once. */
  const signInLink = async (role = 'owner', ...flags: readonly string[]): Promise<string> => {
    const command = ['console', '--data', dataDir, '--role', role, '--json', ...flags]
    const { stdout } = await promisify(execFile)(commandLine, command)
    return (JSON.parse(stdout) as { url: string }).url
  }
  const signIn = async (page: Page, role?: string, ...flags: readonly string[]) => {
    await openLink(page, await signInLink(role, ...flags))
  }
  return { complaints, openContext, signInLink, signIn }
}
