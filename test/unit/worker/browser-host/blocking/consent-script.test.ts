import vm from 'node:vm'
import t from 'tap'
import { readConsentScript } from '#worker/browser-host/blocking/consent-script.ts'

const script = readConsentScript()

t.test('snippet: functions of autoconsent alone, by their own names', async (t) => {
  t.match(script.snippet('EVAL_COOKIEBOT_1'), /Cookiebot/)
  for (const name of ['constructor', 'toString', '__proto__', '', 'alert(1)'])
    t.equal(script.snippet(name), undefined, name)
})

t.test('scriptFor: a script whatever the address, with the rules of its site', async (t) => {
  const plain = script.scriptFor('https://page.test/')
  t.doesNotThrow(() => new vm.Script(plain))
  t.doesNotThrow(() => new vm.Script(script.scriptFor(`javascript:</script>${'`'.repeat(1e5)}`)))
  t.ok(script.scriptFor('https://www.amazon.com/').length >= plain.length)
})
