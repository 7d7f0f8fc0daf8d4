import t from 'tap'
import { isObjectKey, isObjectKeyOf, newObjectKey } from '#shared/storage/objects.ts'

const id = '0d9f6c1e-0000-4000-8000-000000000001'

t.test('a key lies under the hour of its acceptance and names its capture', async (t) => {
  const key = newObjectKey(id, new Date('2026-11-20T06:59:59Z'))
  t.match(key, new RegExp(`^captures/2026-11-20T06/${id}/[0-9a-f]{32}$`))
  t.not(newObjectKey(id, new Date(0)), newObjectKey(id, new Date(0)))
  t.ok(isObjectKeyOf(id, key))
  t.notOk(isObjectKeyOf(id.replace('1', '2'), key))
})

t.test('what is not a key in that form is refused', async (t) => {
  const key = newObjectKey(id, new Date(0))
  for (const bad of [
    '',
    '../x',
    `${key}/..`,
    `x${key}`,
    key.replace('captures', 'other'),
    `${key}0`,
    key.toUpperCase(),
  ]) {
    t.notOk(isObjectKey(bad), bad)
    t.notOk(isObjectKeyOf(id, bad), bad)
  }
})
