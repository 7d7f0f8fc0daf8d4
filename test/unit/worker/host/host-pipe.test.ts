import { duplexPair, PassThrough } from 'node:stream'
import t from 'tap'
import { withDefaults } from '#shared/capture/options.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { writeFrame } from '#worker/protocol/frames.ts'
import { openHostPipe } from '#worker/host/host-pipe.ts'

const order = { id: 'this', options: withDefaults({ html: 'x' }), online: true, leftMs: 1000 }
const shot = { sha256: '0'.repeat(64), width: 1, height: 1, mimeType: 'image/png', warnings: [] }
const completed = { kind: 'ended', id: 'this', outcome: { outcome: 'completed', shot, timings: { open: 1 } } }
const failed = { outcome: 'failed', code: 'TIMEOUT', message: 'late', detail: '', timings: {} }
const ended = { kind: 'ended', id: 'this', outcome: failed }
const image = Buffer.from('image')

/** The supervisor's end of a pipe whose other end the test controls, with the events it received. */
const openTestPipe = () => {
  const [near, far] = duplexPair()
  const reasons: string[] = []
  const stages: string[] = []
  const sent = new PassThrough()
  far.pipe(sent)
  const bounds = { imageBytesMax: 100, loadBytesMax: 1000 }
  const pipe = openHostPipe(near, bounds, (reason) => void reasons.push(reason))
  const events = { opened: () => void stages.push('opened'), loaded: () => void stages.push('loaded') }
  return {
    pipe,
    far,
    reasons,
    stages,
    begin: () => pipe.order(order, events),
    write: (message: unknown, bytes?: Uint8Array) => void writeFrame(far, message, bytes),
    isBroken: () => near.destroyed,
  }
}

t.test('host pipe: accepts the reports of an order in sequence, with the image', async (t) => {
  const { begin, write, stages, reasons } = openTestPipe()
  const outcome = begin()
  write({ kind: 'opened', id: 'this' })
  write({ kind: 'loaded', id: 'this' })
  write(completed, image)
  t.match(await outcome, { outcome: 'completed', shot: { ...shot, bytes: image } })
  t.same(stages, ['opened', 'loaded'])
  t.same(reasons, [])
})

t.test('host pipe: accepts files behind the image', async (t) => {
  const { begin, write, reasons } = openTestPipe()
  const outcome = begin()
  write(withFiles({ name: 'html', bytes: 4 }), image)
  t.match(await outcome, { shot: { bytes: image, files: [{ name: 'html', bytes: 4 }] } })
  t.same(reasons, [])
})

t.test(
  'host pipe: accepts verdicts on connections and on the limit of bytes in the order of their requests',
  async (t) => {
    const { pipe, write, reasons } = openTestPipe()
    const verdicts = [pipe.review('a.test'), pipe.recordByteLimit(), pipe.review('b.test', 'blocked')]
    write({ kind: 'verdict', number: 1, isAllowed: true })
    write({ kind: 'verdict', number: 2, isAllowed: false })
    write({ kind: 'verdict', number: 3, isAllowed: false })
    t.same(await Promise.all(verdicts), [true, false, false])
    t.same(reasons, [])
  },
)

const withShot = (over: object) => ({ ...completed, outcome: { ...completed.outcome, shot: { ...shot, ...over } } })
const withFiles = (file: object) => withShot({ files: [{ sha256: '0'.repeat(64), ...file }] })
const withTimings = (timings: object) => ({ ...ended, outcome: { ...failed, timings } })
const og = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`x${at}`, 'x'.repeat(500)]))

/** Messages that a compromised host may write during an order. */
const breaches: readonly { what: string; messages: readonly unknown[]; bytes?: Uint8Array }[] = [
  { what: 'null', messages: [null] },
  { what: 'an array', messages: [[ended]] },
  { what: 'a text', messages: ['ended'] },
  { what: 'an empty object', messages: [{}] },
  { what: 'an unknown kind', messages: [{ kind: 'up' }] },
  { what: 'a field too many', messages: [{ ...ended, more: 1 }] },
  { what: 'an outcome that is null', messages: [{ ...ended, outcome: null }] },
  { what: 'an unknown code of an error', messages: [{ ...ended, outcome: { ...failed, code: 'SERVER_ERROR' } }] },
  { what: 'an empty message', messages: [{ ...ended, outcome: { ...failed, message: '' } }] },
  {
    what: 'a message of a million characters',
    messages: [{ ...ended, outcome: { ...failed, message: 'x'.repeat(1e6) } }],
  },
  { what: 'a text beyond its bound', messages: [{ ...ended, outcome: { ...failed, message: 'x'.repeat(2e6) } }] },
  { what: 'an unknown stage', messages: [withTimings({ nonsense: 1 })] },
  { what: 'a time that is not a number', messages: [withTimings({ open: 'soon' })] },
  { what: 'an image without bytes', messages: [completed] },
  { what: 'bytes without an image', messages: [ended], bytes: image },
  { what: 'an image beyond its bound', messages: [completed], bytes: Buffer.alloc(101) },
  { what: 'an image of no size', messages: [withShot({ width: Number.NaN })], bytes: image },
  { what: 'an unknown media type', messages: [withShot({ mimeType: 'text/html' })], bytes: image },
  { what: 'metadata beyond its bound', messages: [withShot({ metadata: { og } })], bytes: image },
  { what: 'files as large as all bytes', messages: [withFiles({ name: 'html', bytes: 5 })], bytes: image },
  { what: 'a file of an unknown name', messages: [withFiles({ name: 'x', bytes: 1 })], bytes: image },
  { what: 'an output with a format', messages: [withFiles({ name: 'html', bytes: 1, format: 'png' })], bytes: image },
  { what: 'a rendition without a format', messages: [withFiles({ name: 'rendition-1', bytes: 1 })], bytes: image },
  { what: 'the result of another capture', messages: [{ ...ended, id: 'other' }] },
  { what: 'a second result', messages: [ended, ended] },
  {
    what: 'a page that opens twice',
    messages: [
      { kind: 'opened', id: 'this' },
      { kind: 'opened', id: 'this' },
    ],
  },
  { what: 'a page that has loaded before it is open', messages: [{ kind: 'loaded', id: 'this' }] },
  { what: 'a page of another capture', messages: [{ kind: 'opened', id: 'other' }] },
  { what: 'an unrequested verdict', messages: [{ kind: 'verdict', number: 1, isAllowed: true }] },
]

for (const { what, messages, bytes } of breaches) {
  t.test(`host pipe: breaks at ${what}`, async (t) => {
    const { begin, write, reasons, isBroken } = openTestPipe()
    void begin()
    for (const message of messages) write(message, bytes)
    await eventually(isBroken)
    t.equal(reasons.length, 1, reasons.join())
  })
}

t.test('host pipe: breaks at invalid JSON, at a too large frame length, and at reports without an order', async (t) => {
  const huge = Buffer.alloc(8)
  huge.writeUInt32BE(2 ** 32 - 1, 0)
  for (const bytes of [Buffer.from('\0\0\0\x01\0\0\0\0{'), huge]) {
    const { far, reasons, isBroken } = openTestPipe()
    far.write(bytes)
    await eventually(isBroken)
    t.equal(reasons.length, 1)
  }
  const { write, isBroken } = openTestPipe()
  write(ended)
  await eventually(isBroken)
})

t.test('host pipe: breaks at a verdict out of order, and at one still missing at the next order', async () => {
  const turned = openTestPipe()
  void turned.pipe.review('a.test')
  void turned.pipe.review('b.test')
  turned.write({ kind: 'verdict', number: 2, isAllowed: true })
  await eventually(turned.isBroken)
  const missing = openTestPipe()
  void missing.pipe.review('a.test')
  void missing.begin()
  missing.write({ kind: 'opened', id: 'this' })
  await eventually(missing.isBroken)
})

t.test('host pipe: ignores everything after the first unexpected report', async (t) => {
  const { begin, write, stages, reasons, isBroken } = openTestPipe()
  void begin()
  for (let count = 0; count < 10_000; count += 1) write({ kind: 'opened', id: 'this' })
  await eventually(isBroken)
  t.same(stages, ['opened'])
  t.equal(reasons.length, 1)
})

t.test('host pipe: joins frames from chunks of any size', async (t) => {
  const [near, far] = duplexPair()
  const pipe = openHostPipe(near, { imageBytesMax: 100, loadBytesMax: 1000 }, (reason) => t.fail(reason))
  const parts = new PassThrough()
  await Promise.all([writeFrame(parts, { kind: 'opened', id: 'this' }), writeFrame(parts, completed, image)])
  const outcome = pipe.order(order, { opened: () => {}, loaded: () => {} })
  for (const byte of parts.read() as Buffer) far.write(Buffer.of(byte))
  t.match(await outcome, { outcome: 'completed', shot: { bytes: image } })
})
