import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { blockListsCheck } from '#local/doctor/block-lists-check.ts'
import { runCheck } from '#local/doctor/check.ts'

const now = Date.UTC(2026, 10, 21)
const look = (folder: string) => runCheck(blockListsCheck({ folder, now: () => now }))

t.test('block lists check: names each list with its version and its age in days', async (t) => {
  const folder = t.testdir({ ads: { 'easylist.txt': '! Version: 202610310000\n||ads.example^\n' } })
  const written = now / 1000 - 20.5 * 86_400
  utimesSync(join(folder, 'ads/easylist.txt'), written, written)
  const { ok, detail } = await look(folder)
  t.ok(ok)
  t.match(detail, 'ads/easylist.txt@202610310000 (20 d)')
  for (const kind of ['cookies', 'ads', 'trackers', 'chats'])
    t.match(detail, new RegExp(`${kind}/shutterfleet@[0-9a-f]{12} `))
  t.match(detail, /cookies\/autoconsent@\d+\./)
})

t.test('block lists check: a folder without lists fails, and is named', async (t) => {
  const folder = t.testdir({})
  t.match(await look(folder), { ok: false, detail: new RegExp(`SHUTTERFLEET_WORKER_BLOCK_LISTS = ${folder}`) })
})
