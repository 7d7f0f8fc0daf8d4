import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { parseAddresses, readAddresses } from '#cli/capture/read-addresses.ts'

t.test('read addresses: one per line, without comments and empty lines', async (t) => {
  t.strictSame(parseAddresses('# pages\n\nhttps://a.example/\r\n  http://b.example/x?y#z  \n'), [
    { line: 3, url: 'https://a.example/' },
    { line: 4, url: 'http://b.example/x?y#z' },
  ])
})

t.test('read addresses: a list that cannot be captured is refused with its line or bound', async (t) => {
  for (const [text, message] of [
    ['https://a.example\nb.example', /^--from, line 2: b\.example: must be an http or https URL of at most 2048/],
    ['ftp://a.example', /^--from, line 1: ftp:/],
    [`https://a.example/${'x'.repeat(2048)}`, /^--from, line 1: .{100}: must be/],
    ['# nothing\n', /^--from: the list has no addresses/],
    ['https://a.example\n'.repeat(10_001), /^--from: the list has 10001 addresses; at most 10000/],
  ] as const) {
    t.throws(() => parseAddresses(text), { message })
  }
  t.equal(parseAddresses('https://a.example\n'.repeat(10_000)).length, 10_000)
})

t.test('read addresses: reads a file, and for - the standard input', async (t) => {
  const folder = t.testdir({ 'list.txt': 'https://file.example' })
  const input = Readable.from([Buffer.from('https://in'), Buffer.from('put.example')])
  t.match(await readAddresses(join(folder, 'list.txt'), input), [{ url: 'https://file.example' }])
  t.match(await readAddresses('-', input), [{ url: 'https://input.example' }])
  for (const [file, code] of [
    [join(folder, 'missing'), 'ENOENT'],
    [folder, 'EISDIR'],
  ] as const) {
    await t.rejects(readAddresses(file, input), { message: `--from ${file}: cannot be read (${code})` })
  }
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(1024 * 1024, 'x')
    })(),
  )
  await t.rejects(readAddresses('-', endless), { message: '--from: the list has more than 8388608 bytes' })
})
