import t from 'tap'
import { genuineOverlays, popups } from '#test/fixtures/popups.ts'
import { blue, pixel, startCaptureEnvironment } from '#test/helpers/shots.ts'

const { shoot } = await startCaptureEnvironment(t)

const isThere = async (html: string, block: boolean) => {
  const colour = await pixel(await shoot({ html, block_popups: block }), 640, 500)
  return colour.join() === blue.join()
}

t.test(
  'worker popups: what asks visitors for something is hidden with its backdrop, if that is requested',
  async (t) => {
    const missed: string[] = []
    for (const { name, html } of popups) if (await isThere(html, true)) missed.push(name)
    t.comment(`${missed.length} of ${popups.length} are missed`)
    t.strictSame(missed, [])
    const [first] = popups
    const shot = await shoot({ html: first?.html ?? '', block_popups: true })
    t.strictSame(await pixel(shot, 1275, 795), [255, 0, 0], 'no backdrop')
    t.ok(await isThere(first?.html ?? '', false), 'not without the parameter')
  },
)

t.test('worker popups: what a page is about stays', async (t) => {
  const removed: string[] = []
  for (const { name, html } of genuineOverlays) if (!(await isThere(html, true))) removed.push(name)
  t.strictSame(removed, [])
})
