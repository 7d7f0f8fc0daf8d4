import t from 'tap'
import { describeUnknown } from '#shared/capture/describe-bound.ts'
import { findForeign, foreignNames } from '#shared/capture/foreign-names.ts'
import { captureParameters } from '#shared/capture/options.ts'

const names = Object.keys(captureParameters.properties)

t.test('foreign names: each option of another service means one parameter', async (t) => {
  for (const [service, options] of Object.entries(foreignNames))
    for (const [theirs, ours] of Object.entries(options)) {
      t.notOk(names.includes(theirs), `${service}: ${theirs} is no parameter of ours`)
      t.equal(findForeign(names, theirs), ours, `${service}: ${theirs}`)
    }
})

t.test('foreign names: an unknown name is explained by what it means elsewhere, however it is written', async (t) => {
  for (const [typed, ours] of [
    ['viewport_width', 'width'],
    ['deviceScaleFactor', 'scale'],
    ['block-cookie-banners', 'block_cookies'],
    ['fullPage', 'full_page'],
    ['waitUntil', 'wait_until'],
    ['waitForTimeout', 'delay_ms'],
    ['wdith', 'width'],
  ] as const)
    t.equal(describeUnknown(typed, names), `is not a parameter; did you mean ${ours}?`, typed)
  t.equal(describeUnknown('viewport_width', ['page', 'limit']), 'is not a parameter', 'where it means nothing')
})
