import t from 'tap'
import { isDiskFull, systemReason } from '#local/system-error.ts'

t.test('system error: names what people can do something about', async (t) => {
  t.equal(systemReason('ENOSPC'), 'the disk is full, ENOSPC')
  t.equal(systemReason('EACCES'), 'it belongs to another user or is protected, EACCES')
  t.equal(systemReason('ENOENT'), 'its folder does not exist, ENOENT')
  t.strictSame([systemReason('EIO'), systemReason(undefined)], ['EIO', 'unknown'])
})

t.test('system error: a full disk and a used up quota are the same', async (t) => {
  const error = (code: string) => Object.assign(new Error(code), { code })
  t.strictSame([error('ENOSPC'), error('EDQUOT'), error('EACCES'), undefined].map(isDiskFull), [
    true,
    true,
    false,
    false,
  ])
})
