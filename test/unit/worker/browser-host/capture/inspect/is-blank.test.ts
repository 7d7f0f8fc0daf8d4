import sharp from 'sharp'
import t from 'tap'
import { isBlank } from '#worker/browser-host/capture/inspect/is-blank.ts'

const size = { width: 1280, height: 800 }
const plain = () => sharp({ create: { ...size, channels: 3, background: '#336699' } })
const dot = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle cx="4" cy="4" r="4"/></svg>',
)

for (const format of ['png', 'jpeg', 'webp'] as const) {
  t.test(`is blank: a ${format} of one colour is blank, one with a dot is not`, async (t) => {
    t.equal(await isBlank(await plain().toFormat(format).toBuffer()), true)
    const dotted = plain().composite([{ input: dot, left: 600, top: 400 }])
    t.equal(await isBlank(await dotted.toFormat(format).toBuffer()), false)
  })
}
