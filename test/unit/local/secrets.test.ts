import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { keepSecrets } from '#local/secrets.ts'
import { open, readOpeningKey, readSealingKey, seal } from '#shared/queue/seal.ts'

t.test('makes secrets once and keeps them, for their owner alone', async (t) => {
  const path = join(t.testdir(), 'secrets.json')
  const made = await keepSecrets(path)
  t.strictSame(await keepSecrets(path), made)
  t.equal((statSync(path).mode & 0o777).toString(8), '600')
  t.equal(Buffer.from(made.keyPepper, 'base64').length, 32)
  t.equal(Buffer.from(made.storageSigningKey, 'base64').length, 32)
  const passwords = Object.values(made.queuePasswords)
  t.equal(new Set(passwords).size, passwords.length)
})

t.test('a folder of an earlier version gets the secrets that it lacks, and keeps its own', async (t) => {
  const path = join(t.testdir(), 'secrets.json')
  const { webhookKeys: _, ...earlier } = await keepSecrets(path)
  writeFileSync(path, JSON.stringify(earlier), { mode: 0o600 })
  const secrets = await keepSecrets(path)
  t.match(secrets, earlier)
  t.ok(secrets.webhookKeys.private)
  t.strictSame(await keepSecrets(path), secrets)
})

t.test("what is sealed to a pool's public key opens with its private key alone", async (t) => {
  const { sealingKeys } = await keepSecrets(join(t.testdir(), 'secrets.json'))
  const sealed = seal(readSealingKey(sealingKeys.standard.public), 'id', Buffer.from('plain'))
  t.equal(open([readOpeningKey(sealingKeys.standard.private)], 'id', sealed).toString(), 'plain')
  t.throws(() => open([readOpeningKey(sealingKeys.stealth.private)], 'id', sealed), { code: 'JOB_FAILED' })
})
