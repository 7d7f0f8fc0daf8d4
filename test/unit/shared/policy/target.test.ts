import t from 'tap'
import { parseAllowList } from '#shared/policy/allow-list.ts'
import { checkTarget } from '#shared/policy/target.ts'
import { ssrfCases, type SsrfCase } from '#test/fixtures/ssrf-cases.ts'

const pages = { schemes: ['http:', 'https:'], allow: [] }
const webhooks = { schemes: ['https:'], allow: [] }
const proxies = { schemes: ['http:', 'socks5:', 'socks5h:'], allow: [] }

const verdict = (text: string, rules: typeof pages) => (checkTarget(text, rules).ok ? 'allowed' : 'blocked')

const pageUrl = ({ input }: SsrfCase): string => (typeof input === 'string' ? input : (input.url ?? ''))

t.test('target policy: checks the text of page targets as the cases expect', async (t) => {
  const html = (row: SsrfCase) => pageUrl(row).startsWith('<')
  const rows = ssrfCases('literal', 'parser', 'scheme', 'port', 'public').filter((row) => !html(row))
  t.ok(rows.length > 100, `${rows.length} cases`)
  for (const row of rows) t.equal(verdict(pageUrl(row), pages), row.expect, `${row.id} ${row.note}`)
})

t.test('target policy: passes names that only DNS can decide', async (t) => {
  for (const row of ssrfCases('dns', 'rebind')) {
    const url = new URL(pageUrl(row))
    t.equal(verdict(url.href, pages), 'allowed', row.id)
  }
})

t.test('target policy: checks the text of webhook addresses as the cases expect', async (t) => {
  for (const row of ssrfCases('webhook')) {
    if (typeof row.input === 'string') continue
    const url = row.input.webhook_url ?? ''
    const leftToOthers = row.expect === 'blocked' && (row.input.dns !== undefined || url.length > 2048)
    t.equal(verdict(url, webhooks), leftToOthers ? 'allowed' : row.expect, `${row.id} ${row.note}`)
  }
})

t.test('target policy: checks the text of proxy addresses as the cases expect', async (t) => {
  for (const row of ssrfCases('proxy')) {
    if (typeof row.input === 'string' || row.id === 'proxy-019') continue // 019: a path, rejected by the parameter's own rule
    const { proxy = '', url = 'https://example.com/' } = row.input
    const both = verdict(proxy, proxies) === 'allowed' && verdict(url, pages) === 'allowed'
    t.equal(both ? 'allowed' : 'blocked', row.expect, `${row.id} ${row.note}`)
  }
})

t.test('target policy: normalises the host of schemes that the URL parser leaves unchanged', async (t) => {
  for (const proxy of [
    'socks5://0x7f.1:1080',
    'socks5://LOCALHOST:1080',
    'socks5h://%31%30.0.0.1:1080',
    'socks5://[::1]',
  ]) {
    t.equal(verdict(proxy, proxies), 'blocked', proxy)
  }
  t.equal(verdict('socks5://8.8.4.4', proxies), 'allowed')
})

t.test('target policy: names the rule that a target breaks', async (t) => {
  const problem = (text: string, rules = pages) => {
    const checked = checkTarget(text, rules)
    return checked.ok ? undefined : checked.problem
  }
  t.equal(
    problem('example.com:8080/a?key=secret'),
    'must be an absolute http or https address; did you mean https://example.com:8080/a?',
  )
  t.equal(problem('//example.com/'), 'must be an absolute http or https address; did you mean https://example.com/?')
  t.equal(problem('user:word@example.com'), 'must be an absolute http or https address')
  t.equal(problem('ftp://example.com/'), 'must be an absolute http or https address')
  t.equal(problem('http://example.com:22/'), 'port 22 is not allowed')
  t.equal(
    problem('http://10.0.0.1/'),
    'must be a public http or https address; the operator can allow it with --allow-target 10.0.0.1:80',
  )
  t.match(problem('http://[::1]:8000/'), /--allow-target \[::1\]:8000$/)
  t.match(problem('http://localhost./'), /^must be a public http or https address; .*--allow-target localhost/)
  t.equal(problem('http://localhost../'), 'must be a public http or https address')
  t.equal(problem('http://example.com/', webhooks), 'must be an absolute https address')
})

// Contract: Ports
t.test('target policy: allows targets on the allow list, but never a blocked port', async (t) => {
  const parsed = parseAllowList('127.0.0.1:8000, localhost, [::1], grafana:3000')
  if (!parsed.ok) throw new Error(parsed.problem)
  const allowing = { ...pages, allow: parsed.value }
  for (const url of [
    'http://127.0.0.1:8000/x',
    'http://2130706433:8000/',
    'https://LOCALHOST/',
    'http://[::1]:81/',
    'http://grafana:3000',
  ]) {
    t.ok(checkTarget(url, allowing).ok, url)
  }
  for (const url of [
    'http://127.0.0.1/',
    'http://127.0.0.2:8000/',
    'http://localhost:6000/',
    'http://grafana/',
    'http://a.localhost/',
  ]) {
    t.notOk(checkTarget(url, allowing).ok, url)
  }
})
