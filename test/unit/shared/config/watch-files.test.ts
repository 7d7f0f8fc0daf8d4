import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { watchFiles } from '#shared/config/watch-files.ts'
import { eventually } from '#test/helpers/eventually.ts'
import { replaceFile } from '#test/helpers/replace-file.ts'

t.test('watched files: are applied whenever one changes, and not after disposal', async (t) => {
  const folder = t.testdir({ a: '1', b: '1' })
  const paths = [join(folder, 'a'), join(folder, 'b')] as const
  const applied: string[] = []
  const apply = (texts: readonly string[]) => void applied.push(texts.join(''))
  const watch = await watchFiles(paths, { apply, failed: (cause: unknown) => void t.fail(String(cause)), everyMs: 5 })
  t.same(applied, ['11'])
  await replaceFile(paths[1], '2')
  await eventually(() => applied.at(-1) === '12')
  rmSync(paths[1])
  watch[Symbol.dispose]()
  await delay(50)
  t.same(applied, ['11', '12'])
})

t.test(
  'watched files: what cannot be used fails at first; later it is reported once, until it can be used',
  async (t) => {
    const folder = t.testdir({ a: 'bad' })
    const path = join(folder, 'a')
    const [applied, failures]: [string[], string[]] = [[], []]
    const watcher = {
      apply: ([text = '']: readonly string[]) => {
        if (text === 'bad') throw new Error('bad')
        applied.push(text)
      },
      failed: (cause: unknown) => void failures.push(String(cause)),
      everyMs: 5,
    }
    await t.rejects(watchFiles([path], watcher), { message: 'bad' })
    await t.rejects(watchFiles([join(folder, 'none')], watcher), { code: 'ENOENT' })
    await replaceFile(path, 'good')
    using _watch = await watchFiles([path], watcher)
    await replaceFile(path, 'bad')
    await eventually(() => failures.length === 1)
    await replaceFile(path, 'better')
    await eventually(() => applied.at(-1) === 'better')
    await rm(path)
    await eventually(() => failures.length === 2)
    t.match(failures, ['Error: bad', /ENOENT/])
    t.same(applied, ['good', 'better'])
  },
)
