import vm from 'node:vm'
import t from 'tap'
import { readConsentScript } from '#worker/browser-host/blocking/consent-script.ts'

const script = readConsentScript()

t.test('snippet: returns functions of autoconsent only, by their own names', async (t) => {
  t.match(script.snippet('EVAL_COOKIEBOT_1'), /Cookiebot/)
  for (const name of ['constructor', 'toString', '__proto__', '', 'alert(1)'])
    t.equal(script.snippet(name), undefined, name)
})

t.test('scriptFor: returns a valid script for any address, with the rules of its site', async (t) => {
  const main = { isMain: true }
  const plain = script.scriptFor('https://page.test/', main)
  t.doesNotThrow(() => new vm.Script(plain))
  t.doesNotThrow(() => new vm.Script(script.scriptFor(`javascript:</script>${'`'.repeat(1e5)}`, main)))
  t.ok(script.scriptFor('https://www.amazon.com/', main).length >= plain.length)
})

t.test('scriptFor: returns only the frame rules in a frame', async (t) => {
  const [inPage, inFrame] = [true, false].map((isMain) => script.scriptFor('https://page.test/', { isMain }))
  t.match(inFrame, /piano-cookie_banner/)
  t.match(inPage, /moove-gdpr/)
  t.notMatch(inFrame, /moove-gdpr/)
})
