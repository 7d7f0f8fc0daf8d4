import t from 'tap'
import { readConfig } from '#ledger/config.ts'

const env = {
  SHUTTERFLEET_DATABASE_URL: 'postgres://u:p@localhost/db',
  SHUTTERFLEET_NATS_URL: 'nats://localhost:4222',
}

// Contract: Status never moves back
t.test('config: unset settings have their defaults', async (t) => {
  t.match(readConfig(env), { longestWaitSeconds: 86_400, unstartableWaitSeconds: 300 })
})

t.test('config: a longest wait below the default proxied wait needs no other setting', async (t) => {
  t.match(readConfig({ ...env, SHUTTERFLEET_LONGEST_WAIT_SECONDS: '60' }), { longestWaitSeconds: 60 })
})
