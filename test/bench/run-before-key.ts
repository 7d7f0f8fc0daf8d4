// What the gateway's event loop does for requests whose key does not exist: `make bench-before-key`. The first argument is how
// often each is sent, the second a word of their names; then nothing is written.
import { hostileRequests } from './hostile-requests.ts'
import { measureBeforeKey } from './measure-before-key.ts'
import { madeBy } from './page.ts'
import { table } from '#tools/docs/markdown-table.ts'
import { runProgram } from './run-parts.ts'

const boundMs = 10
const bodyBytes = 16 * 1024
const largestBytes = 7 * 1024 * 1024 - 1000
const shown = 5
const [rounds = '5', part = ''] = process.argv.slice(2)

const measure = async () => {
  const requests = hostileRequests(bodyBytes, largestBytes).filter(({ name }) => name.includes(part))
  const costs = await measureBeforeKey(requests, Number(rounds))
  const worst = costs.toSorted((one, other) => other.ms - one.ms).slice(0, shown)
  if (worst.some(({ ms }) => ms > boundMs)) process.exitCode = 1
  return `What ${requests.length} hostile requests with a key that does not exist cost the gateway's event loop, the least of ${rounds} times each; the
worst of them:

${table(
  ['request', 'bytes', 'status', `ms (bound ${boundMs})`],
  worst.map(({ name, bytes, status, ms }) => [name, bytes, status, ms.toFixed(2)]),
)}
`
}

const parts = { 'before-key': { heading: "Before a request's key is known", measure } }
await runProgram({ parts, names: [], footer: madeBy('bench-before-key') }, part === '' ? undefined : () => {})
