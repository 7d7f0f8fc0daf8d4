import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { startSystem } from '#test/helpers/system.ts'

const script = resolve(import.meta.dirname, '../../scripts/test-python-client.sh')

t.test('python client: its types and style hold, and its own tests pass against a running service', async (t) => {
  await using system = await startSystem(['--workers-max', '1', '--allow-target', '127.0.0.1:443'])
  const { base_url, api_key } = await system.readLocal()
  const env = { ...process.env, SHUTTERFLEET_URL: base_url, SHUTTERFLEET_KEY: api_key }
  const { stdout } = await promisify(execFile)(script, { env }).catch((error: unknown) => {
    throw new Error(`${(error as { stdout: string }).stdout}${String(error)}`)
  })
  t.match(stdout, /\b\d{2,} passed in/)
  t.notMatch(stdout, /skipped/)
})
