import t from 'tap'
import { createProgress, progressLine } from '#cli/command/progress.ts'

t.test('progress: a bar with the counts, never wider than the terminal', async (t) => {
  t.equal(progressLine({ done: 1, failed: 0, total: 4 }, 24), '[###...........] 1 of 4')
  t.match(progressLine({ done: 4, failed: 1, total: 4 }, 200), /^\[#{40}\] 4 of 4, 1 failed$/)
  for (let columns = 1; columns < 60; columns += 1) {
    t.ok(progressLine({ done: 9999, failed: 123, total: 10_000 }, columns).length < columns || columns === 1)
  }
})

t.test('progress: is drawn on one line, which is cleared at the end; without a terminal nothing is', async (t) => {
  const written: string[] = []
  const screen = { write: (text: string) => void written.push(text), size: () => ({ columns: 30, rows: 9 }) }
  const progress = createProgress({ env: {}, progress: screen })
  progress.show({ done: 1, failed: 0, total: 2 })
  progress[Symbol.dispose]()
  t.strictSame(written, ['\r[##########..........] 1 of 2\u001B[K', '\r\u001B[K'])
  t.ok(written.every((text) => !text.includes('\n')))
  createProgress({ env: {}, progress: undefined }).show({ done: 1, failed: 0, total: 2 })
})

t.test('progress: is words cut to the terminal if there is no total; a dumb terminal shows none', async (t) => {
  const written: string[] = []
  const screen = { write: (text: string) => void written.push(text), size: () => ({ columns: 10, rows: 9 }) }
  createProgress({ env: { TERM: 'dumb' }, progress: screen }).showText('copied 7 objects')
  createProgress({ env: { TERM: 'xterm' }, progress: screen }).showText('copied 7 objects')
  t.strictSame(written, ['\rcopied 7 \u001B[K'])
})
