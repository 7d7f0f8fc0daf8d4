import { createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { signBody } from '#shared/net/sign-body.ts'

const webhookSecret = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const at = new Date('2026-06-01T12:00:00.999Z')

// Contract: Signature
t.test("sign body: agrees with the example of Standard Webhooks' own libraries", async (t) => {
  // From the specification's reference implementations, with their secret, id, time and payload.
  const signed = signBody({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    at: new Date(1_614_265_330_000),
    body: '{"test": 2432232314}',
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  })
  t.equal(signed['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  t.equal(signed['webhook-timestamp'], '1614265330')
})

// Contract: Signature
t.test(
  'sign body: the hex signature covers the body, with the whole text of the newest secret as its key',
  async (t) => {
    const of = { id: 'id', body: '{"a":1}', at }
    const both = signBody({ ...of, secrets: [webhookSecret(1), webhookSecret(2)] })
    const alone = signBody({ ...of, secrets: [webhookSecret(1)] })
    t.match(both['x-webhook-signature'], /^[0-9a-f]{64}$/)
    t.equal(both['x-webhook-signature'], alone['x-webhook-signature'])
    t.not(signBody({ ...of, secrets: [webhookSecret(2)] })['x-webhook-signature'], alone['x-webhook-signature'])
  },
)

// Contract: Signature
t.test(
  'sign body: webhook-signature lists a signature for each secret, and depends on id, time and body',
  async (t) => {
    const of = { id: 'id', body: '{"a":1}', at, secrets: [webhookSecret(1), webhookSecret(2)] }
    const signatures = signBody(of)['webhook-signature']?.split(' ') ?? []
    t.equal(signatures.length, 2)
    t.not(signatures[0], signatures[1])
    for (const other of [{ id: 'ie' }, { body: '{"a":2}' }, { at: new Date(at.getTime() + 1000) }]) {
      t.not(signBody({ ...of, ...other })['webhook-signature'], signatures.join(' '))
    }
  },
)

const secrets = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((b) => `whsec_${Buffer.from(b).toString('base64')}`)
const verifies = (secret: string, body: string, headers: Record<string, string>) => {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}

t.test("sign body: a receiver's own library verifies every body with both secrets, and no altered one", async (t) => {
  const bodies = fc.json({ stringUnit: 'grapheme' })
  fc.assert(
    fc.property(fc.uuid(), fc.tuple(bodies, bodies), fc.tuple(secrets, secrets), (id, [body, other], both) => {
      const [newest, previous] = both
      fc.pre(body !== other && newest !== previous)
      const signed = signBody({ id, body, at: new Date(), secrets: both })
      const altered = [
        { 'webhook-id': `${id}x` },
        { 'webhook-timestamp': String(Number(signed['webhook-timestamp']) + 1) },
      ]
      return (
        verifies(newest, body, signed) &&
        verifies(previous, body, signed) &&
        !verifies(newest, other, signed) &&
        altered.every((change) => !verifies(newest, body, { ...signed, ...change })) &&
        signed['x-webhook-signature'] === createHmac('sha256', newest).update(Buffer.from(body)).digest('hex')
      )
    }),
    { seed: 5, numRuns: 200 },
  )
  t.pass('for 200 of them')
})
