import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { accountMove } from '#cli/account-move.ts'

t.test('account move: images of both cells in one place are refused, however its address is written', async (t) => {
  const folder = t.testdir({ database: 'postgres://nobody@127.0.0.1:9/none' })
  const [objects, same] = [join(folder, 'objects'), join(folder, 'place')]
  await mkdir(objects)
  await writeFile(same, `file://${objects}/`)
  const flags = { to: `@${join(folder, 'database')}`, 'objects-from': objects, 'objects-to': `@${same}` }
  const context = {
    env: { SHUTTERFLEET_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' },
    root: folder,
    stop: new AbortController().signal,
    write: () => {},
    print: () => {},
    printEach: () => {},
    note: () => {},
  }
  await t.rejects(async () => accountMove.run(context, { operands: ['id'], flags }), {
    message: /the images of both cells are in one place/,
  })
  const left = await readdir(objects, { recursive: true, withFileTypes: true })
  t.same(
    left.filter((entry) => entry.isFile()),
    [],
    'nothing is left there',
  )
})
