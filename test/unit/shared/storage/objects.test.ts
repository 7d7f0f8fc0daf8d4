import t from 'tap'
import {
  hourPrefix,
  isObjectKey,
  isCaptureObjectKey,
  newObjectKey,
  objectPrefixes,
  objectsPrefix,
} from '#shared/storage/objects.ts'

const id = '0d9f6c1e-0000-4000-8000-000000000001'

t.test('objects: a key contains the hour of acceptance and the capture id', async (t) => {
  const key = newObjectKey(id, new Date('2026-11-20T06:59:59Z'))
  t.match(key, new RegExp(`^captures/2026-11-20T06/${id}/[0-9a-f]{32}$`))
  t.not(newObjectKey(id, new Date(0)), newObjectKey(id, new Date(0)))
  t.ok(isCaptureObjectKey(id, key))
  t.notOk(isCaptureObjectKey(id.replace('1', '2'), key))
})

t.test('objects: rejects any other form of key', async (t) => {
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
    t.notOk(isCaptureObjectKey(id, bad), bad)
  }
})

t.test('objects: finds the keys of a capture although the hour came from another clock', async (t) => {
  const accepted = new Date('2026-11-20T00:00:00Z')
  const ofOthers = newObjectKey(id.replace('1', '2'), accepted)
  for (const ms of [-3_600_000, -1, 0, 3_600_000]) {
    const key = newObjectKey(id, new Date(accepted.getTime() + ms))
    t.equal(objectPrefixes(id, accepted).filter((prefix) => key.startsWith(prefix)).length, 1, String(ms))
    t.ok(key.startsWith(objectsPrefix))
  }
  t.notOk(objectPrefixes(id, accepted).some((prefix) => ofOthers.startsWith(prefix)))
})

t.test('objects: keys sort by the hour of their capture', async (t) => {
  const hour = new Date('2026-11-20T07:00:00Z')
  t.ok(newObjectKey(id, new Date(hour.getTime() - 1)) < hourPrefix(hour))
  t.ok(newObjectKey(id, hour) > hourPrefix(hour))
})
