import t from 'tap'
import { addressesInHosts } from '#egress/target/hosts-file.ts'

const file = `
# 10.0.0.9 commented.test
127.0.0.1\tlocalhost loopback
10.0.0.1  A.test alias.test # 10.0.0.2 after.test
10.0.0.3 a.test
fd00::1 a.test
fe80::1%eth0 zoned.test
not-an-address broken.test`

t.test('hosts file: gives every address of a name and of its aliases, in the order of the file', async (t) => {
  t.same(addressesInHosts(file, 'a.test'), ['10.0.0.1', '10.0.0.3', 'fd00::1'])
  t.same(addressesInHosts(file, 'alias.test'), ['10.0.0.1'])
})

t.test('hosts file: takes no name from comments, partial names or lines without a plain address', async (t) => {
  for (const name of ['commented.test', 'after.test', 'test', 'a.tes', 'zoned.test', 'broken.test', '']) {
    t.same(addressesInHosts(file, name), [], name)
  }
})

t.test('hosts file: localhost is loopback even where the file does not have it', async (t) => {
  t.same(addressesInHosts(file, 'localhost'), ['127.0.0.1'])
  t.same(addressesInHosts('', 'localhost'), ['127.0.0.1', '::1'])
})
