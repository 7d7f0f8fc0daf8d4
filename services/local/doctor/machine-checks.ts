import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { browserAgeAdvice, browserAgeDays, toBuildTime } from '#shared/policy/browser-age.ts'
import { isAtLeast } from '#shared/policy/program-version.ts'
import { readVersion } from '#local/find-programs.ts'
import { asUser, findUser } from '#local/system-user.ts'
import type { Check } from './check.ts'
import { countFonts, checkFonts } from './fonts.ts'

const exec = promisify(execFile)
const runMs = 20_000
const nodeLeast = [24, 21] as const
/** Users to run Chromium as if we are root, which its sandbox refuses. */
const browserUsers = ['shutterfleet-browser', 'nobody']

/** Paths of programs are undefined if not found. */
export type MachineFacts = {
  readonly chromium: string | undefined
  readonly stealthChromium: string | undefined
  readonly nodeVersion: string
  readonly isRoot: boolean
  readonly nowMs: number
  /** Age above which a browser is old. */
  readonly browserAgeDaysMax: number
}

const checkNode = async (version: string) => {
  if (!isAtLeast(version.split('.').map(Number), nodeLeast))
    throw new Error(`${version}, and ${nodeLeast.join('.')} is needed`)
  return version
}

const required = (program: string | undefined): string => {
  if (program === undefined) throw new Error('there is none')
  return program
}

/** Version and age of a browser; an old one works, so that is only a warning. */
const describeBrowser = async (binary: string, { nowMs, browserAgeDaysMax }: MachineFacts) => {
  const [version, { mtimeMs }] = await Promise.all([readVersion(binary), stat(binary)])
  const builtAtMs = toBuildTime(mtimeMs, nowMs)
  if (builtAtMs === undefined) return `${version}, of unknown age`
  const days = browserAgeDays(builtAtMs, nowMs)
  const advice = browserAgeAdvice(days, browserAgeDaysMax)
  return advice === undefined ? `${version}, built ${days} days ago` : `${version}, warning: ${advice}`
}

const browserUser = async (): Promise<readonly string[]> => {
  const found = (await Promise.all(browserUsers.map(findUser))).find((user) => user !== undefined)
  if (found) return asUser(found)
  throw new Error(`neither of the users ${browserUsers.join(', ')} is there`)
}

/** Renders a page with Chromium's sandbox, in namespaces without network, as workers do. */
const checkSandbox = async ({ chromium, isRoot }: MachineFacts) => {
  const own = isRoot ? ['--cap-drop', 'ALL', '--cap-add', 'cap_setuid', '--cap-add', 'cap_setgid'] : ['--unshare-user']
  const namespaces = ['--unshare-net', '--unshare-pid', '--unshare-ipc', '--die-with-parent']
  const tree = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--perms', '1777', '--tmpfs', '/tmp']
  const identity = isRoot ? await browserUser() : []
  const page = ['--dump-dom', '--disable-gpu', 'data:text/html,<p>sandboxed</p>']
  const args = [...own, ...namespaces, ...tree, '--', 'setpriv', ...identity, required(chromium), ...page]
  const { stdout } = await exec('bwrap', args, {
    timeout: runMs,
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/tmp' },
  })
  if (!stdout.includes('sandboxed')) throw new Error('Chromium rendered nothing')
  return 'Chromium runs with it, in separate namespaces'
}

/** Checks of Node, browsers, sandbox and fonts on this machine. */
export const machineChecks = (facts: MachineFacts): Check[] => [
  {
    name: 'node',
    advice: "run 'make setup', and start programs with bin/shutterfleet, which finds its own Node",
    run: () => checkNode(facts.nodeVersion),
  },
  {
    name: 'chromium',
    advice: "run 'make setup', or set SHUTTERFLEET_CHROMIUM to a headless-shell or Chromium binary",
    run: async () => describeBrowser(required(facts.chromium), facts),
  },
  {
    name: 'full chromium',
    advice: 'set SHUTTERFLEET_STEALTH_CHROMIUM to a full Chromium binary that runs, or to none',
    run: async () => {
      const { stealthChromium } = facts
      if (stealthChromium === undefined) return 'none: captures with stealth are refused'
      return describeBrowser(stealthChromium, facts)
    },
  },
  {
    name: 'sandbox',
    needs: 'chromium',
    advice: 'install bubblewrap, allow user namespaces and, in a container, an unmasked /proc; see docs/isolation.md',
    run: () => checkSandbox(facts),
  },
  {
    name: 'fonts',
    advice: 'install fonts-liberation, fonts-noto-cjk, fonts-noto-color-emoji, or others for the same scripts',
    run: () => checkFonts(countFonts),
  },
]
