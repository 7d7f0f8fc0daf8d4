import t from 'tap'
import { createAccount } from '#shared/db/accounts.ts'
import { defaultPlans } from '#local/default-plans.ts'
import { createKey } from '#shared/db/keys.ts'
import { replacePlans } from '#shared/db/plans.ts'
import { createRawClient, rawHead } from '#test/helpers/raw-client.ts'
import { startGateway, testPepper } from '#test/helpers/running-gateway.ts'

const accounts = 300
const mark = 'h0stile'
const gateway = await startGateway(t, { KEY_FAILURES_PER_MINUTE: '1000' })
const { database, baseUrl, probeUrl } = gateway
await replacePlans(database, defaultPlans)
const { send } = createRawClient(t, baseUrl)

/** Series with their values; without those of Node.js, whose number varies. */
const readSeries = async () =>
  [...(await (await fetch(`${probeUrl}/metrics`)).text()).matchAll(/^(shutterfleet_.*) (\S+)$/gm)].map(
    ([, series = '', value]) => ({ series, value: Number(value) }),
  )

/** Sends requests of a new account with a new word in every field that accepts text. */
const sendAll = async (nth: number) => {
  const word = `${mark}-${nth}`
  const { id: accountId } = await createAccount(database, { name: word, email: 'a@example.com', plan: 'unlimited' })
  const { key } = await createKey(database, { accountId, name: word, domains: [], pepper: testPepper })
  const body = JSON.stringify({
    url: `https://${word}.example/${word}?${word}`,
    user_agent: word,
    headers: { [word]: word },
  })
  const length = Buffer.byteLength(body)
  const headers = [
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    `Origin: https://${word}`,
    `${word}: ${word}`,
  ]
  const head = (line: string, bearer = key) =>
    rawHead(line, [`Host: ${word}.example`, `Authorization: Bearer ${bearer}`, `X-Request-Id: ${word}`, ...headers])
  await send(head('POST /v1/screenshots'), body)
  await send(head(`POST /v1/${word}/screenshots`), body)
  await send(head(`POST /v1/screenshots?${word}=${word}`), body)
  await send(head(`${word.toUpperCase()} /v1/screenshots`), body)
  await send(head('POST /v1/screenshots', word), body)
}

t.test(
  'metrics series: the number of series does not grow with accounts, URLs, routes, methods, headers or keys',
  async (t) => {
    for (let nth = 0; nth < 10; nth += 1) await sendAll(nth)
    const before = await readSeries()
    for (let nth = 10; nth < accounts; nth += 1) await sendAll(nth)
    const after = await readSeries()
    t.strictSame(
      after.map(({ series }) => series),
      before.map(({ series }) => series),
    )
    t.notMatch(after.map(({ series }) => series).join('\n'), new RegExp(mark, 'i'))
    t.match(
      after.find(({ series }) => series.startsWith('shutterfleet_captures_accepted_total')),
      { value: accounts },
    )
  },
)
