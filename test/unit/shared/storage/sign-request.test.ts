import { createHash } from 'node:crypto'
import t from 'tap'
import { objectUrl, signRequest } from '#shared/storage/sign-request.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

// Of "Authenticating Requests: Using the Authorization Header" in the API reference of Amazon S3, "PUT Object".
const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}

t.test('sign request: signs the published example of S3 as published', async (t) => {
  const digest = sha256('Welcome to Amazon S3.')
  const signed = signRequest(credentials, {
    method: 'PUT',
    url: objectUrl('https://examplebucket.s3.amazonaws.com', 'test$file.text'),
    headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    sha256: digest,
    at: new Date('2013-05-24T00:00:00Z'),
  })
  t.strictSame(signed, {
    'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    'x-amz-date': '20130524T000000Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,' +
      'SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,' +
      'Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  })
})

t.test('sign request: escapes a key as signatures require, and keeps its slashes', async (t) => {
  t.equal(
    objectUrl('https://s3.example/bucket', "a/b=c+d (e)'f!g@h,ä.png"),
    'https://s3.example/bucket/a/b%3Dc%2Bd%20%28e%29%27f%21g%40h%2C%C3%A4.png',
  )
})
