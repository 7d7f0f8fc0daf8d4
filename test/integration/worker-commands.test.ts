import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { chromiumPath } from '#test/helpers/bare-browser.ts'
import { captureWith, startPages, startTestEgress, startTestHost } from '#test/helpers/browser-host.ts'
import { eventually } from '#test/helpers/eventually.ts'

const folder = await mkdtemp(join(tmpdir(), 'commands-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const commands = join(folder, 'commands')
const program = join(folder, 'browser')
// The browser's user writes the file.
await Promise.all([chmod(folder, 0o755), writeFile(commands, '')])
await chmod(commands, 0o666)
await writeFile(program, `#!/bin/bash\nexec 3< <(exec tee -a '${commands}' <&3 4>&-)\nexec '${chromiumPath}' "$@"\n`)
await chmod(program, 0o755)

const readMethods = async () =>
  (await readFile(commands, 'utf8'))
    .split('\0')
    .slice(0, -1)
    .map((text) => (JSON.parse(text) as { method: string }).method)

t.test(
  'browser host: a plain page is captured with few commands, nearly each of which waits for its response',
  async (t) => {
    await using pages = await startPages()
    await using egress = await startTestEgress(pages.host)
    const browsers = { prewarmed: 'shell', binaries: { shell: program } } as const
    await using host = await startTestHost(egress, { browsers }, { network: 'flags-only' })
    const readCapture = async () => {
      const before = (await readMethods()).length
      t.match(await captureWith(host, { url: `${pages.url}/plain`, format: 'jpeg' }), { outcome: 'completed' })
      const read = async () => (await readMethods()).slice(before)
      // The last command of the page that is opened ahead for the next capture.
      await eventually(async () => (await read()).at(-1) === 'Runtime.runIfWaitingForDebugger')
      return await read()
    }
    for (const all of [await readCapture(), await readCapture()]) {
      const shown = all.slice(all.indexOf('Page.navigate'), all.indexOf('Page.captureScreenshot') + 1)
      t.equal(shown.filter((method) => method === 'Page.createIsolatedWorld').length, 1, 'one world for one document')
      // One of them reads its SVG image, which might be animated.
      t.ok(shown.length <= 10, `${shown.length} from navigation to picture: ${shown.join(' ')}`)
      t.ok(all.length <= 27, `${all.length} in all: ${all.join(' ')}`)
    }
  },
)
