import t from 'tap'
import { genuineOverlays, popups } from '#test/fixtures/popups.ts'
import { blue, pixel, startCaptureEnvironment } from '#test/helpers/shots.ts'

const { shoot } = await startCaptureEnvironment(t)

const isPopupShown = async (html: string, block: boolean) => {
  const colour = await pixel(await shoot({ html, block_popups: block }), 640, 500)
  return colour.join() === blue.join()
}

t.test(
  'worker popups: `block_popups` hides overlays that ask visitors for something, with their backdrop',
  async (t) => {
    const missed: string[] = []
    for (const { name, html } of popups) if (await isPopupShown(html, true)) missed.push(name)
    t.comment(`${missed.length} of ${popups.length} are missed`)
    t.strictSame(missed, [])
    const [first] = popups
    const shot = await shoot({ html: first?.html ?? '', block_popups: true })
    t.strictSame(await pixel(shot, 1275, 795), [255, 0, 0], 'no backdrop')
    t.ok(await isPopupShown(first?.html ?? '', false), 'not without the parameter')
  },
)

t.test('worker popups: dialogs that belong to the page stay', async (t) => {
  const removed: string[] = []
  for (const { name, html } of genuineOverlays) if (!(await isPopupShown(html, true))) removed.push(name)
  t.strictSame(removed, [])
})
