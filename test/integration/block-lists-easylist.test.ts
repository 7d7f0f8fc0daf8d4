import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { seeded } from '#test/helpers/seeded.ts'
import { provideLists } from '#worker/block-lists/provide-lists.ts'
import { createBlocker, loadEngines } from '#worker/browser-host/blocking/blocker.ts'

const run = promisify(execFile)
const fetchMs = 60_000

/** EasyList as Debian packages it (not bundled because of its licence), or undefined if it cannot be fetched. */
const fetchEasyList = async (folder: string): Promise<string | undefined> => {
  try {
    await run('apt-get', ['download', 'webext-ublock-origin-chromium'], { cwd: folder, timeout: fetchMs })
    const file = (await readdir(folder)).find((name) => name.endsWith('.deb')) ?? ''
    await run('dpkg', ['-x', file, 'unpacked'], { cwd: folder, timeout: fetchMs })
    const { stdout } = await run('find', ['unpacked', '-name', 'easylist.txt'], { cwd: folder })
    return await readFile(join(folder, stdout.trim().split('\n')[0] ?? ''), 'utf8')
  } catch {
    return undefined
  }
}

/** Third-party hosts that pages load from and that serve neither ads nor chats. */
const ordinary = (await readFile(join(import.meta.dirname, '../fixtures/ordinary-hosts.txt'), 'utf8'))
  .trim()
  .split(/\s+/)

const folder = t.testdir({})
const text = await fetchEasyList(folder)
const blocks = { cookies: true, ads: true, trackers: true, chats: true }
const source = { url: 'https://page.example/', html: undefined, markdown: undefined }
const blockerOf = (compiled: string) => {
  const plan = { blocks, hidesPopups: false, source }
  return createBlocker(loadEngines(compiled), plan, { address: () => source.url, mainFrameId: 'main' })
}

t.test('block lists easylist: the bundled lists refuse at most 1 % of ordinary hosts', async (t) => {
  t.ok(ordinary.length >= 500 && new Set(ordinary).size === ordinary.length, `${ordinary.length} hosts`)
  const blocker = blockerOf((await provideLists('', { outputFolder: join(folder, 'own') })).folder)
  const refused = ordinary.filter((host) => blocker.refusesHost(host))
  t.ok(refused.length <= ordinary.length / 100, refused.join(' '))
})

t.test(
  'block lists easylist: with EasyList, 95 % of its hosts and at most 1 % of ordinary hosts are refused',
  { skip: text === undefined && 'EasyList could not be fetched: apt-get download webext-ublock-origin-chromium' },
  async (t) => {
    const lists = join(folder, 'lists')
    await mkdir(join(lists, 'ads'), { recursive: true })
    await writeFile(join(lists, 'ads/easylist.txt'), text ?? '')
    const blocker = blockerOf((await provideLists(lists, { outputFolder: join(folder, 'compiled') })).folder)
    const rules = (text ?? '').matchAll(/^\|\|([a-z0-9.-]+\.[a-z]+)\^(?:\$third-party)?$/gm)
    const hosts = [...new Set([...rules].map(([, host = '']) => host))]
    const random = seeded(20_261_121)
    const sample = Array.from({ length: 500 }, () => hosts[random(hosts.length)] ?? '')
    const refused = sample.filter((host) => blocker.refusesHost(host))
    t.ok(refused.length >= 475, `${refused.length} of 500, out of ${hosts.length}`)
    const wrong = ordinary.filter((host) => blocker.refusesHost(host))
    t.ok(wrong.length <= ordinary.length / 100, wrong.join(' '))
  },
)
