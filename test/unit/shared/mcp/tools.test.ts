import t from 'tap'
import { Shutterfleet } from '#client/shutterfleet.js'
import { captureParameters } from '#shared/capture/options.ts'
import { tools } from '#shared/mcp/tools.ts'

const client = new Shutterfleet({ baseUrl: 'https://shots.example', apiKey: 'key' })
const call = { client, signal: new AbortController().signal, reserve: () => true, progress: () => {} }

const describe = (input: Record<string, unknown>) =>
  tools.find(({ name }) => name === 'describe_options')?.run(call, input) ?? t.fail('there is no describe_options')

t.test('mcp tools: take at most 8 KB of a conversation, all together', (t) => {
  const bytes = Buffer.byteLength(JSON.stringify(tools.map(({ run: _run, ...tool }) => tool)))
  t.ok(bytes <= 8192, `${bytes} bytes`)
  t.end()
})

t.test('mcp tools: describe_options lists all parameters, and returns the schemas of named ones', async (t) => {
  const { structuredContent } = (await describe({})) as { structuredContent: Record<string, string> }
  t.equal(structuredContent['geolocation'], `${captureParameters.properties.geolocation.description?.split('. ')[0]}.`)
  t.ok(Object.keys(structuredContent).length > 80)
  t.match(await describe({ names: ['scale'] }), { structuredContent: { scale: { type: 'number' } } })
  t.match(await describe({ names: ['scale', 'zoom'] }), { isError: true, content: [{ text: /no parameter zoom/ }] })
})
