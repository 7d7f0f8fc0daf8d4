import t from 'tap'
import { collectErrors } from '#shared/capture/validation-errors.ts'
import { readTargetLists, type TargetTexts } from '#shared/policy/target-lists.ts'
import { bucketUrl, checkDestination } from '#gateway/operations/uploads/destination-fields.ts'

const valid = {
  name: 'archive',
  endpoint: 'https://s3.example.com',
  region: 'us-east-1',
  bucket: 'shots',
  path_style: true,
  prefix: 'a/{date}/',
  access_key_id: 'AKIA',
  secret_access_key: 'se/cr+et=',
}

const errorsOf = (more: Partial<typeof valid>, lists: TargetTexts = { allow: [], deny: [] }) => {
  const errors = collectErrors({})
  checkDestination({ ...valid, ...more }, errors, { allowTargets: [], targetLists: readTargetLists(lists) })
  return errors.all()
}

t.test('upload destination: the bucket is in the path of the URL, or in its host', async (t) => {
  t.equal(bucketUrl({ ...valid, endpoint: 'https://S3.example.com:9000/' }), 'https://s3.example.com:9000/shots')
  t.equal(bucketUrl({ ...valid, path_style: false }), 'https://shots.s3.example.com')
})

t.test('upload destination: accepts public https endpoints', async (t) => {
  for (const endpoint of [valid.endpoint, 'https://s3.example.com/', 'https://s3.example.com:9000']) {
    t.equal(errorsOf({ endpoint }), undefined, endpoint)
  }
})

t.test(
  'upload destination: rejects endpoints that are not public, not https, or more than host and port',
  async (t) => {
    const internal = ['https://10.0.0.1', 'https://localhost', 'https://169.254.169.254', 'https://[::1]']
    for (const endpoint of internal) t.match(errorsOf({ endpoint }), { endpoint: [/public https address/] }, endpoint)
    t.match(errorsOf({ endpoint: 'http://s3.example.com' }), { endpoint: [/https address/] })
    for (const rest of ['/bucket', '/?a=b', '/#a']) {
      t.match(errorsOf({ endpoint: valid.endpoint + rest }), { endpoint: [/no path, query or credentials/] }, rest)
    }
    t.match(errorsOf({ endpoint: 'https://u:p@s3.example.com' }), { endpoint: [/no path, query or credentials/] })
  },
)

t.test('upload destination: rejects a bucket that makes no valid host with the endpoint', async (t) => {
  for (const endpoint of ['https://8.8.8.8', 'https://[2606:4700::1111]:9000']) {
    t.match(errorsOf({ endpoint, path_style: false }), { path_style: [/must be true .* IP address/] }, endpoint)
    t.equal(errorsOf({ endpoint }), undefined, endpoint)
  }
  const bucket = 'a..b'
  t.match(errorsOf({ bucket, path_style: false }), { bucket: [/path_style false .*a\.\.b.* https address/] })
  t.equal(errorsOf({ bucket }), undefined)
})

t.test('upload destination: rejects a bucket whose URL the lists of the installation refuse', async (t) => {
  const deny = { allow: [], deny: ['*.example.com'] }
  t.match(errorsOf({}, deny), { endpoint: [/is denied by the entry \*\.example\.com .* this installation/] })
  t.match(errorsOf({ path_style: false }, deny), { bucket: [/shots\.s3\.example\.com, which is denied/] })
  const only = { allow: ['shots.s3.example.com'], deny: [] }
  t.equal(errorsOf({ path_style: false }, only), undefined)
  t.match(errorsOf({}, only), { endpoint: [/is not among the allowed targets/] })
})

t.test('upload destination: rejects a prefix that is no template, and keys that no header can carry', async (t) => {
  t.match(errorsOf({ prefix: '../' }), { prefix: [/must not contain/] })
  t.match(errorsOf({ access_key_id: 'a\r\nb' }), { access_key_id: [/visible ASCII/] })
  t.match(errorsOf({ secret_access_key: 'ä' }), { secret_access_key: [/visible ASCII/] })
})
