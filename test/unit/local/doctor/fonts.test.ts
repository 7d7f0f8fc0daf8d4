import t from 'tap'
import { checkFonts } from '#local/doctor/fonts.ts'

/** Counts one file for each script except those with the given patterns. */
const without =
  (...patterns: string[]) =>
  async ({ pattern }: { pattern: string }) =>
    patterns.includes(pattern) ? 0 : 1

t.test('fonts: lists scripts without a font, and fails without Latin, CJK or emoji', async (t) => {
  t.match(await checkFonts(without()), /^for (\d+) of \1 scripts$/)
  t.match(
    await checkFonts(without(':charset=e01', ':charset=905')),
    /; boxes for Devanagari, Thai: install fonts-noto-core/,
  )
  await t.rejects(checkFonts(without(':lang=ja', ':charset=e01')), { message: /none for CJK; boxes for Thai/ })
})

t.test('fonts: the files of every script are those of its own font', async (t) => {
  const patterns: (readonly string[])[] = []
  await checkFonts(async ({ files }) => patterns.push(files))
  t.equal(patterns.filter((files) => files.includes('NotoSansThai-Regular.ttf')).length, 1)
  t.equal(patterns.filter((files) => files.includes('NotoSerifTibetan-Regular.ttf')).length, 1)
  t.notOk(patterns.some((files) => files.includes('NotoSans-Regular.ttf')))
})
