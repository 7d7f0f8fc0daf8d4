import t from 'tap'
import { reserveBrowserUsers, subordinateIds } from '#worker/isolation/browser-users.ts'

const isRoot = process.getuid?.() === 0
const name = 'shutterfleet-browser'

t.test('subordinateIds: returns all ranges of the user, and of no other', async (t) => {
  const subuid = 'a:100:2\nb:200:2\n\na:300:1\nbroken\n'
  t.strictSame([...subordinateIds('a', subuid)], [100, 101, 300])
  t.strictSame([...subordinateIds('c', subuid)], [])
})

t.test('reserveBrowserUsers: returns no users if the worker is not root', { skip: isRoot }, async (t) => {
  t.equal(await reserveBrowserUsers(name, 2), undefined)
})

t.test('reserveBrowserUsers: gives each slot of each worker its own user', { skip: !isRoot }, async (t) => {
  await using first = await reserveBrowserUsers(name, 2)
  await using second = await reserveBrowserUsers(name, 2)
  const ids = [first, second].flatMap((users) => users?.all.map(({ userId }) => userId) ?? [])
  t.equal(new Set(ids).size, 4)
  t.notOk(ids.includes(0))
})

t.test(
  'reserveBrowserUsers: names the setting if the user is missing or has too few ids',
  { skip: !isRoot },
  async (t) => {
    const [missing, few] = [reserveBrowserUsers('nobody-has-this-name', 1), reserveBrowserUsers('nobody', 1)]
    await t.rejects(missing, { code: 'CONFIGURATION', message: /WORKER_BROWSER_USER.*useradd/ })
    await t.rejects(few, { code: 'CONFIGURATION', message: /WORKER_BROWSER_USER.*0 are free.*--add-subuids/ })
  },
)
