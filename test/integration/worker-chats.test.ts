import t from 'tap'
import type { Route } from '#test/fixtures/pages/pages.ts'
import { startManyHosts } from '#test/helpers/many-hosts.ts'
import { blue, pixel, red, redPage } from '#test/helpers/shots.ts'

/** The host of a widget's script, and the attributes of the element that it adds to the page. */
const vendors = {
  Intercom: ['widget.intercom.io', 'id="intercom-container"'],
  Drift: ['js.driftt.com', 'id="drift-widget"'],
  Zendesk: ['static.zdassets.com', 'id="webWidget"'],
  'Tawk.to': ['embed.tawk.to', 'class="tawk-min-container"'],
  Crisp: ['client.crisp.chat', 'class="crisp-client"'],
  HubSpot: ['js.usemessages.com', 'id="hubspot-messages-iframe-container"'],
  LiveChat: ['cdn.livechatinc.com', 'id="chat-widget-container"'],
  Tidio: ['code.tidio.co', 'id="tidio-chat"'],
  Olark: ['static.olark.com', 'id="olark-wrapper"'],
  Freshchat: ['wchat.freshchat.com', 'id="fc_frame"'],
  Smartsupp: ['www.smartsuppchat.com', 'id="smartsupp-widget-container"'],
  JivoSite: ['code.jivosite.com', 'id="jivo-iframe-container"'],
  Userlike: ['userlike-cdn-widgets.s3-eu-west-1.amazonaws.com', 'id="userlike"'],
  Gorgias: ['config.gorgias.chat', 'id="gorgias-chat-container"'],
  'Help Scout': ['beacon-v2.helpscout.net', 'id="beacon-container"'],
  Chatwoot: ['app.chatwoot.com', 'class="woot-widget-holder"'],
  'Zoho SalesIQ': ['salesiq.zoho.com', 'id="zsiq_float"'],
  Facebook: ['cdn.test', 'class="fb_dialog"'],
  n8n: ['cdn.test', 'id="n8n-chat"'],
  Elfsight: ['cdn.test', 'class="eapps-all-in-one-chat-root"'],
} as const

const page = 'site.test'
const entries = Object.entries(vendors)
const { requests, shoot, urlOf } = await startManyHosts(t, [page, ...new Set(entries.map(([, [host]]) => host))], {
  routes: Object.fromEntries(
    entries.map(([name, [host, attributes]]) => {
      const widget = `<div ${attributes} style="position:fixed;left:0;top:0;width:200px;height:200px;background:rgb(0,0,255)"></div>`
      const route: Route = ({ headers }, response) => {
        const source = `http://${host}:${headers.host?.split(':')[1]}/widget.js`
        response.end(redPage(`${widget}<script src="${source}"></script>`))
      }
      return [`/${encodeURIComponent(name)}`, route]
    }),
  ),
})

t.test('worker chats: block_chats neither loads nor shows chat widgets', async (t) => {
  t.ok(entries.length >= 15)
  for (const [name, [host]] of entries) {
    const url = urlOf(page, `/${encodeURIComponent(name)}`)
    requests.length = 0
    t.strictSame(await pixel(await shoot({ url, block_chats: true }), 100, 100), red, name)
    if (host !== 'cdn.test') t.notOk(requests.includes(`${host}/widget.js`), `${name} is not requested`)
  }
  const [name, [host]] = ['JivoSite', vendors.JivoSite]
  requests.length = 0
  t.strictSame(await pixel(await shoot({ url: urlOf(page, `/${name}`) }), 100, 100), blue, 'without')
  t.ok(requests.includes(`${host}/widget.js`))
})
