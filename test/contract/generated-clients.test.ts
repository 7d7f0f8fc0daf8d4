import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'
import t from 'tap'
import { startSystem } from '#test/helpers/system.ts'

const script = resolve(import.meta.dirname, '../../scripts/test-generated-clients.sh')

t.test(
  'generated clients: clients for Python and Go, generated from the document, capture the same page',
  async (t) => {
    await using system = await startSystem(['--workers-max', '1'])
    const { base_url, api_key } = await system.readLocal()
    const folder = t.testdir()
    const env = { ...process.env, SHUTTERFLEET_URL: base_url, SHUTTERFLEET_KEY: api_key }
    await promisify(execFile)(script, ['<h1>Generated</h1>', folder], { env, timeout: 600_000 })
    const [python, go] = await Promise.all(
      ['python.png', 'go.png'].map(async (name) => {
        const { data, info } = await sharp(await readFile(join(folder, name)))
          .raw()
          .toBuffer({ resolveWithObject: true })
        t.match(info, { width: 1280, height: 800 })
        return data
      }),
    )
    t.ok(python?.equals(go ?? Buffer.of()))
  },
)
