import { execFile } from 'node:child_process'
import { createServer, type RequestListener } from 'node:http'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'
import t from 'tap'
import { openapiDocument } from '#gateway/openapi/document.ts'
import { routes } from '#gateway/routes.ts'
import { listening } from '#test/helpers/egress-filter.ts'
import { startSystem } from '#test/helpers/system.ts'
import { ofTomorrow } from '#test/helpers/tomorrow.ts'

const { paths } = openapiDocument(routes, 'https://shots.example')
type Operation = {
  readonly responses: { readonly 200: { readonly content: Record<string, { readonly example: unknown }> } }
}
const exampleOf = (path: string) =>
  (paths[path]?.['get'] as Operation | undefined)?.responses[200].content['application/json']?.example

/** Answers a request under `/today` with the example of its operation, one under `/tomorrow` with what `v1` may make of it. */
const answerRecord: RequestListener = ({ url = '' }, response) => {
  const example = exampleOf(/[0-9a-f-]{36}/.test(url) ? '/v1/screenshots/{id}' : '/v1/screenshots')
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(url.startsWith('/tomorrow/') ? ofTomorrow(example) : example))
}

const script = resolve(import.meta.dirname, '../../scripts/test-generated-clients.sh')

t.test(
  'generated clients: clients for Python and Go, generated from the document, capture the same page and read additions',
  async (t) => {
    await using system = await startSystem(['--workers-max', '1'])
    const { base_url, api_key } = await system.readLocal()
    const folder = t.testdir()
    await using records = await listening(createServer(answerRecord))
    const recordsUrl = `http://127.0.0.1:${records.port}`
    const env = {
      ...{ ...process.env, SHUTTERFLEET_URL: base_url, SHUTTERFLEET_KEY: api_key },
      ...{ TODAY_URL: `${recordsUrl}/today`, TOMORROW_URL: `${recordsUrl}/tomorrow` },
    }
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
