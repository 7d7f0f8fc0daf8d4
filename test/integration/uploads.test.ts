import t from 'tap'
import { queueUploadTest } from '#gateway/db/upload-destinations.ts'
import { announceDeliveries } from '#webhooks/db/take-deliveries.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { onRealServer } from '#test/helpers/s3.ts'
import { endCaptures, startSender } from '#test/helpers/webhook-sender.ts'
import { startUploadWorld, uploadedImage } from '#test/helpers/upload-world.ts'

const setUp = await startUploadWorld(t)

// Contract: Upload of images
t.test('uploads: the image of a completed capture arrives in the bucket of its destination', async (t) => {
  await using s = await setUp()
  await s.addDestination({ prefix: 'shots/{date}/' })
  const id = await s.accept({ upload_key: '{host}/{id}.{format}' })
  t.match(await s.uploadOf(id), { status: 'pending', bucket: null, key: null, attempts: 0, error: null })
  await s.complete(id)
  await startSender(t, s.on, { objects: s.objects })
  const upload = await s.ended(id)
  const key = `shots/${new Date().toISOString().slice(0, 10)}/example.com/${id}.png`
  t.strictSame(upload, { status: 'succeeded', bucket: 'images', key, attempts: 1, http_status: 200, error: null })
  t.strictSame(await s.read(key), { type: 'image/png', body: uploadedImage })
})

// Contract: Upload of images
t.test('uploads: a wrong secret fails the upload after its attempts, and not the capture', async (t) => {
  await using s = await setUp()
  await s.addDestination({ secret: 'wrong' })
  const id = await s.accept()
  await s.complete(id)
  await startSender(t, s.on, { objects: s.objects, retryDelaysMs: [20, 20] })
  t.match(await s.ended(id), { status: 'failed', attempts: 3, http_status: 403, error: 'access_denied' })
  t.match(await s.database.query('select status from capture where id = $1', [id]), [{ status: 'completed' }])
})

t.test('uploads: a bucket that does not exist fails the upload with that reason', async (t) => {
  await using s = await setUp()
  await s.addDestination({ bucket: 'elsewhere' })
  const id = await s.accept()
  await s.complete(id)
  await startSender(t, s.on, { objects: s.objects, retryDelaysMs: [] })
  t.match(await s.ended(id), { status: 'failed', attempts: 1, http_status: 404, error: 'no_such_bucket' })
})

// Contract: Upload of images
t.test('uploads: an endpoint that resolves to a private address is refused by egress', async (t) => {
  await using s = await setUp()
  await s.addDestination({ endpoint: 'https://private.hooks.example' })
  const id = await s.accept()
  await s.complete(id)
  await startSender(t, s.on, { objects: s.objects, retryDelaysMs: [20] })
  t.match(await s.ended(id), { status: 'failed', attempts: 2, http_status: null, error: 'blocked' })
})

t.test('uploads: a store that is down is retried until it is up', async (t) => {
  await using s = await setUp()
  await s.addDestination({ prefix: 'down/' })
  await s.theirs.stop()
  const id = await s.accept()
  await s.complete(id)
  await startSender(t, s.on, { objects: s.objects, retryDelaysMs: Array.from({ length: 20 }, () => 500) })
  await eventually(async () => ((await s.uploadOf(id))?.attempts ?? 0) > 0, { what: 'an attempt has failed' })
  t.match(await s.uploadOf(id), { status: 'pending', error: 'connection_failed' })
  await s.theirs.start()
  t.match(await s.ended(id), { status: 'succeeded', error: null })
  t.strictSame((await s.read(`down/${id}.png`)).body, uploadedImage)
})

t.test('uploads: other bytes than those recorded are rejected by the signature', { skip: !onRealServer }, async (t) => {
  await using s = await setUp()
  await s.addDestination({ prefix: 'other/' })
  const id = await s.accept()
  await s.complete(id, Buffer.from(uploadedImage.toString().toUpperCase()))
  await startSender(t, s.on, { objects: s.objects, retryDelaysMs: [] })
  t.match(await s.ended(id), { status: 'failed', http_status: 400, error: 'status' })
})

t.test('uploads: an object store that is unreachable counts no attempt', async (t) => {
  await using s = await setUp()
  await s.addDestination({ prefix: 'late/' })
  const id = await s.accept()
  await s.complete(id)
  let reads = 0
  const get: typeof s.objects.get = (...args) => {
    reads += 1
    return reads === 1 ? Promise.reject(new Error('unreachable')) : s.objects.get(...args)
  }
  await startSender(t, s.on, { objects: { get } })
  t.match(await s.ended(id), { status: 'succeeded', attempts: 1 })
  t.equal(reads, 2)
})

t.test('uploads: a bucket URL that is not valid fails after its attempts', async (t) => {
  await using s = await setUp()
  await s.addDestination({ endpoint: 'https://8.8.8.8', path_style: false })
  const id = await s.accept()
  await s.complete(id)
  await startSender(t, s.on, { objects: s.objects, retryDelaysMs: [20] })
  t.match(await s.ended(id), { status: 'failed', attempts: 2, http_status: null, error: 'connection_failed' })
})

t.test('uploads: an image arrives whose capture ended while a sender waited to take deliveries', async (t) => {
  await using s = await setUp()
  const { database } = s
  const lock = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const other = database.transaction(async (sql) => {
    await sql.query(`select pg_advisory_xact_lock(hashtext('shutterfleet take deliveries'))`)
    locked.resolve()
    await lock.promise
  })
  await locked.promise
  await startSender(t, s.on, { objects: s.objects })
  const waits = `select from pg_locks where locktype = 'advisory' and not granted
                    and database = (select oid from pg_database where datname = current_database())`
  await eventually(async () => (await database.query(waits)).length > 0, { what: 'the sender waits' })
  await s.addDestination({ prefix: 'race/' })
  const id = await s.accept()
  await s.complete(id)
  lock.resolve()
  await other
  t.match(await s.ended(id), { status: 'succeeded', attempts: 1 })
  t.strictSame(await s.read(`race/${id}.png`), { type: 'image/png', body: uploadedImage })
})

t.test('uploads: a test writes an object and deletes it', async (t) => {
  await using s = await setUp()
  const { id } = await s.addDestination({ prefix: 'test/' })
  await queueUploadTest(s.database, { accountId: s.accountId, id })
  await startSender(t, s.on, { objects: s.objects })
  const attempts = () => s.database.query('select status, error from webhook_attempt')
  await eventually(async () => (await attempts()).length > 0, { what: 'an attempt has ended' })
  t.strictSame(await attempts(), [{ status: 200, error: null }])
  t.strictSame(
    (await s.keys()).filter((key) => key.startsWith('test/')),
    [],
  )
})

t.test('uploads: a capture whose row names no image is not taken for a test', async (t) => {
  await using s = await setUp()
  await s.addDestination()
  const id = await s.accept()
  await s.complete(id)
  await s.database.query('update capture set object_key = null where id = $1', [id])
  await startSender(t, s.on, { objects: s.objects, retryDelaysMs: [] })
  t.match(await s.ended(id), { status: 'failed', attempts: 1, http_status: null, error: 'image_missing' })
})

t.test('uploads: an image that is gone fails the upload with that reason', async (t) => {
  await using s = await setUp()
  await s.addDestination()
  const id = await s.accept()
  await s.objects.delete([await s.complete(id)])
  await startSender(t, s.on, { objects: s.objects, retryDelaysMs: [20] })
  t.match(await s.ended(id), { status: 'failed', attempts: 2, http_status: null, error: 'image_missing' })
})

t.test('uploads: a sender that takes over after a lost lease writes the same key again', async (t) => {
  await using s = await setUp()
  await s.addDestination({ prefix: 'twice/' })
  const id = await s.accept()
  await s.complete(id)
  const { promise: blocked, resolve: release } = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  const get: typeof s.objects.get = async (...args) => {
    first.resolve()
    await blocked
    return s.objects.get(...args)
  }
  const slow = await startSender(t, s.on, { objects: { get }, leaseMs: 60_000 })
  await first.promise
  const fast = await startSender(t, s.on, { objects: s.objects })
  // The lease ends while the first sender still reads, until the other one takes it: the first may renew it before.
  const isTakenOver = async () => {
    await s.database.query('update webhook_delivery set leased_until = now() where leased_until is not null')
    await announceDeliveries(s.database)
    return (await s.uploadOf(id))?.status === 'succeeded'
  }
  await eventually(isTakenOver, { what: 'the other sender has uploaded it' })
  t.match(await s.ended(id), { status: 'succeeded', attempts: 1 })
  release()
  await slow.end()
  await fast.end()
  t.match(await s.uploadOf(id), { status: 'succeeded', attempts: 1 })
  t.strictSame(
    (await s.keys()).filter((key) => key.startsWith('twice/')),
    [`twice/${id}.png`],
  )
})

t.test('uploads: the record names a destination that was deleted before the upload', async (t) => {
  await using s = await setUp()
  const { id: destinationId } = await s.addDestination()
  const [pending, unfinished] = [await s.accept(), await s.accept()]
  await s.complete(pending)
  await s.database.query('delete from upload_destination where id = $1', [destinationId])
  await s.complete(unfinished)
  await startSender(t, s.on, { objects: s.objects })
  for (const id of [pending, unfinished]) {
    t.match(await s.ended(id), { status: 'failed', bucket: null, key: null, attempts: 0, error: 'destination_deleted' })
  }
})

// Contract: Upload of images
t.test('uploads: a failed capture is not uploaded', async (t) => {
  await using s = await setUp()
  await s.addDestination()
  const id = await s.accept()
  await endCaptures(s.database, [id], 'failed')
  t.equal(await s.uploadOf(id), undefined)
  t.strictSame(await s.database.query('select from webhook_delivery'), [])
})
