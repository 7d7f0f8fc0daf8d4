import t from 'tap'
import { refresh } from '#cli/top/refresh.ts'

const run = async (frames: number, fail = false) => {
  const stopping = new AbortController()
  const written: string[] = []
  const screen = { write: (text: string) => void written.push(text), size: () => ({ columns: 80, rows: 24 }) }
  let drawn = 0
  const frame = async () => {
    drawn += 1
    if (fail) throw new Error('broken')
    if (drawn > frames) stopping.abort()
    return [`frame ${drawn}`, 'second line']
  }
  const ended = refresh(screen, frame, { everyMs: 1, stop: stopping.signal }).catch((error: Error) => error)
  return { error: await ended, written }
}

t.test('screen: each frame overwrites the last in one write, without clearing first', async (t) => {
  const { written } = await run(2)
  t.equal(written.length, 4, 'one to enter, two frames, one to leave')
  t.equal(written[1], '\u001B[Hframe 1\u001B[K\nsecond line\u001B[K\u001B[J')
  t.notOk(written.join('').includes('\u001B[2J'))
})

t.test('screen: is restored at the end, also after an error', async (t) => {
  for (const failing of [false, true]) {
    const { written, error } = await run(1, failing)
    t.equal(error instanceof Error, failing)
    t.equal(written[0], '\u001B[?1049h\u001B[?25l')
    t.equal(written.at(-1), '\u001B[?25h\u001B[?1049l')
  }
})
