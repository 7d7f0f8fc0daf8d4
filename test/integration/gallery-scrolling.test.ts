import t from 'tap'
import { scrolling } from '#test/fixtures/gallery/scrolling.ts'
import { testGallery } from '#test/helpers/gallery.ts'

await testGallery(t, scrolling)
