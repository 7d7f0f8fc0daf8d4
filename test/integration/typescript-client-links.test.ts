import t from 'tap'
import { renderLink } from '#client/shutterfleet.js'
import vectors from '#test/fixtures/link-vectors.json' with { type: 'json' }

const { secret } = vectors

t.test('typescript client links: a link is signed without a request, as the service verifies it', async (t) => {
  for (const { parameters, query } of vectors.links) {
    const { key_id: keyId, expires, placeholder, ...capture } = parameters as Record<string, string>
    const options = {
      ...{ baseUrl: 'https://shots.example/', keyId: keyId ?? '', secret },
      ...(expires !== undefined && { expires: new Date(Number(expires) * 1000) }),
      placeholder: placeholder === 'true',
    }
    t.equal(await renderLink(options, capture), `https://shots.example/v1/render?${query}`)
  }
})

t.test('typescript client links: numbers, flags, lists and objects are those of a capture', async (t) => {
  const options = { baseUrl: 'https://shots.example', keyId: '1', secret }
  const link = await renderLink(options, {
    ...{ url: 'https://example.com/', width: 800, full_page: true },
    ...{ hide_selectors: ['.a', '.b'], geolocation: { latitude: 1, longitude: 2 } },
  })
  t.match(Object.fromEntries(new URL(link).searchParams), {
    ...{ width: '800', full_page: 'true', hide_selectors: '[".a",".b"]' },
    geolocation: '{"latitude":1,"longitude":2}',
  })
  await t.rejects(renderLink({ ...options, secret: 'sk_live_x' }, { url: 'https://example.com/' }), /lsk_/)
})
