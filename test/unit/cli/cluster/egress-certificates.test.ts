import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { renewCertificates } from '#cli/cluster/egress-certificates.ts'
import type { SecretTexts } from '#cli/cluster/make-keys.ts'

const hosts = ['shots-egress.shots.svc']
const dayMs = 86_400_000
const startMs = Date.UTC(2026, 0, 1)
const renew = (existing: SecretTexts, day: number) =>
  renewCertificates(existing, 'egress', hosts, startMs + day * dayMs)
const served = (keys: SecretTexts) => keys['egress-tls.crt'] ?? ''
const successor = (keys: SecretTexts) => keys['egress-next-tls.crt'] ?? ''
const trusted = (keys: SecretTexts) => keys['egress-ca.crt'] ?? ''
const daysLeft = (certificate: string, day: number) =>
  (new X509Certificate(certificate).validToDate.getTime() - startMs) / dayMs - day

t.test(
  'egress certificates: what is served was trusted two months before, and stays so a day after, for ten years',
  (t) => {
    let keys = renew({}, 0)
    let changes = 0
    const madeOn = new Map<string, number>()
    for (let day = 1; day < 3650; day += 1) {
      const next = renew(keys, day)
      if (served(next) !== served(keys)) {
        changes += 1
        const days = day - (madeOn.get(served(next)) ?? 0)
        if (!trusted(keys).includes(served(next)) || days < 60) t.fail(`day ${day}: trusted for ${days} days only`)
      }
      if (successor(next) !== successor(keys)) madeOn.set(successor(next), day)
      if (!trusted(next).includes(served(keys))) t.fail(`day ${day}: what was served is no longer trusted`)
      if (daysLeft(served(next), day) < 60) t.fail(`day ${day}: only ${daysLeft(served(next), day)} days are left`)
      if (trusted(next).length > 6 * 700) t.fail(`day ${day}: too much is trusted`)
      keys = next
    }
    t.ok(changes >= 26 && changes <= 30, `${changes} changes`)
    t.end()
  },
)

t.test('egress certificates: nothing changes while enough time is left, however often they are renewed', (t) => {
  const keys = renew({}, 0)
  t.same(renew(keys, 0), keys)
  t.same(renew(keys, 240), keys)
  t.not(served(renew(keys, 245)), served(keys))
  t.end()
})

t.test('egress certificates: a successor made late waits for half of the time that is left', (t) => {
  const keys = renew({}, 0)
  const late = renew({ ...keys, 'egress-next-tls.crt': '', 'egress-next-tls.key': '' }, 345)
  t.equal(served(renew(late, 354)), served(keys))
  t.equal(served(renew(late, 356)), successor(late))
  t.equal(served(renew(late, 366)), successor(late), 'also after its end')
  t.end()
})

t.test('egress certificates: after years without a renewal, or for another host name, all are new', (t) => {
  const keys = renew({}, 0)
  const later = renew(keys, 1000)
  t.ok(daysLeft(served(later), 1000) > 364)
  t.notOk(trusted(later).includes(served(keys)), 'expired ones are no longer trusted')
  const moved = renewCertificates(keys, 'egress', ['other.svc'], startMs + dayMs)
  t.equal(new X509Certificate(served(moved)).subjectAltName, 'DNS:other.svc')
  t.ok(trusted(moved).includes(served(keys)), 'clients still know the one before')
  t.end()
})
