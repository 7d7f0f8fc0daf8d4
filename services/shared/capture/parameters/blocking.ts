import { Type } from 'typebox'
import { byDefault, enumSchema, flag, line } from '#shared/schema/fields.ts'
import { withDoc } from './kinds.ts'

/** What is neither loaded nor shown. */
export const blocking = {
  block_cookies: withDoc(byDefault(flag(), true), {
    description:
      'Removes cookie-consent banners: opts out if the consent platform is known, and hides banners that remain.',
    example: false,
  }),
  block_ads: withDoc(byDefault(flag(), false), {
    description: 'Blocks requests to hosts of ads and trackers, and hides ad slots.',
    example: true,
  }),
  block_chats: withDoc(byDefault(flag(), false), {
    description: 'Blocks requests to hosts of chat widgets, and hides the widgets.',
    example: true,
  }),
  block_trackers: withDoc(byDefault(flag(), false), {
    description: 'Blocks requests to hosts that measure or follow visitors, but not ads; `block_ads` includes it.',
    example: true,
  }),
  block_popups: withDoc(byDefault(flag(), false), {
    description:
      'Hides overlays that ask visitors for something: newsletter sign-ups, app banners, notification prompts, age gates, and log-in or subscription walls.',
    example: true,
    more: 'Dialogs that belong to the page, such as a cart, stay.',
  }),
  block_requests: withDoc(Type.Array(line(1, 500), { maxItems: 20 }), {
    description: 'Blocks requests of the page whose URL matches one of these patterns, ignoring upper and lower case.',
    example: ['*/analytics.js', 'https://cdn.example.com/*.mp4'],
    more: '`*` stands for any characters; a pattern without `*` may match anywhere in the URL. The page itself is never blocked, nor are WebSockets.',
  }),
  block_resources: withDoc(
    Type.Array(enumSchema(['image', 'media', 'font', 'stylesheet', 'script']), { maxItems: 5 }),
    {
      description: 'Blocks requests of the page for these kinds of resources.',
      example: ['media', 'font'],
    },
  ),
}
