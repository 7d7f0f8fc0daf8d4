import t from 'tap'
import { jsonOutput } from './checks/json-output.ts'
import { readSources } from './source.ts'
import { testCheck } from './test-check.ts'

const exceptions = [
  // Opens standard output, and decides between text and JSON.
  'services/cli/main.ts',
  'services/cli/command/run-command.ts',
  // Bytes of an image, which `-o -` alone writes: it refuses --json.
  'services/cli/capture.ts',
  // The messages of another protocol.
  'services/cli/mcp.ts',
]

const path = 'services/cli/things.ts'
const bad = (text: string) => ({ name: text, tree: { [path]: text }, at: [`${path}:1`] })
const good = (text: string, file = path) => ({ name: `${text} in ${file}`, tree: { [file]: text } })

await testCheck(t, {
  check: (files) => jsonOutput(files, exceptions),
  real: () => jsonOutput(readSources(), exceptions),
  bad: [
    bad('const list = { run: async ({ env, write }) => write(table(env)) }'),
    bad('const list = { run: async (context) => context.write(`a thing`) }'),
    bad('const run = () => process.stdout.write(`a thing`)'),
    bad('const run = () => console.log(`a thing`)'),
  ],
  good: [
    good('const list = { run: async ({ print }) => print({ json: [], text: `` }) }'),
    good('const draw = (screen) => screen.write(`frame`)'),
    good('const run = ({ write }) => write(image)', 'services/cli/capture.ts'),
    good('const run = ({ write }) => write(body)', 'services/gateway/things.ts'),
  ],
})
