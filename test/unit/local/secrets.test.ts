import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadOrCreateSecrets, shareSecrets } from '#local/secrets.ts'
import { open, readOpeningKey, readSealingKey, seal } from '#shared/queue/seal.ts'

t.test('secrets: are created once and kept, for their owner only', async (t) => {
  const path = join(t.testdir(), 'secrets.json')
  const made = await loadOrCreateSecrets(path)
  t.strictSame(await loadOrCreateSecrets(path), made)
  t.equal((statSync(path).mode & 0o777).toString(8), '600')
  t.equal(Buffer.from(made.keyPepper, 'base64').length, 32)
  t.equal(Buffer.from(made.storageSigningKey, 'base64').length, 32)
  const passwords = [...Object.values(made.queuePasswords), made.egressToken, made.webhookEgressToken]
  t.equal(new Set(passwords).size, passwords.length)
})

t.test('secrets: adds those missing from an earlier version, and keeps the others', async (t) => {
  const path = join(t.testdir(), 'secrets.json')
  const { linkSigningKey: _unknown, ...made } = await loadOrCreateSecrets(path)
  const { gateway, ...passwords } = made.queuePasswords
  writeFileSync(path, JSON.stringify({ ...made, queuePasswords: passwords }))
  const reloaded = await loadOrCreateSecrets(path)
  t.match(reloaded, { keyPepper: made.keyPepper, sealingKeys: made.sealingKeys, queuePasswords: passwords })
  t.equal(Buffer.from(reloaded.linkSigningKey, 'base64').length, 32)
  t.not(reloaded.queuePasswords.gateway, gateway)
  t.strictSame(await loadOrCreateSecrets(path), reloaded)
})

t.test(
  'secrets: cells have those in common that accounts need, and no passwords; those that one has stay',
  async (t) => {
    const folder = t.testdir()
    const [path, other] = [join(folder, 'secrets.json'), join(folder, 'other.json')]
    const made = await loadOrCreateSecrets(path)
    await shareSecrets(made, other)
    const { keyPepper, linkSigningKey, recordKey, sealingKeys, webhookKeys, ...own } = await loadOrCreateSecrets(other)
    t.match(made, { keyPepper, linkSigningKey, recordKey, sealingKeys, webhookKeys })
    for (const [name, value] of Object.entries(own)) t.notSame(value, made[name as keyof typeof own], name)
    const before = await loadOrCreateSecrets(other)
    await shareSecrets(await loadOrCreateSecrets(join(folder, 'third.json')), other)
    t.strictSame(await loadOrCreateSecrets(other), before)
  },
)

t.test("secrets: only a pool's private key opens what was sealed to its public key", async (t) => {
  const { sealingKeys } = await loadOrCreateSecrets(join(t.testdir(), 'secrets.json'))
  const sealed = seal(readSealingKey(sealingKeys.standard.public), 'id', Buffer.from('plain'))
  t.equal(open([readOpeningKey(sealingKeys.standard.private)], 'id', sealed).toString(), 'plain')
  t.throws(() => open([readOpeningKey(sealingKeys.stealth.private)], 'id', sealed), { code: 'JOB_FAILED' })
})
